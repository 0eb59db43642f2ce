"""The container's side of speech protocol 1 against the shared corpus, and the batch body."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_server import messages
from kokoro_server.messages import ProtocolError, decode, decode_batch, resolve_voice
from kokoro_voice.timing import WordTime
from kokoro_voice.voices import Voices

PROTOCOL = Path(__file__).parents[2] / "protocol"


def corpus(name: str) -> list[Any]:
    cases = json.loads((PROTOCOL / name).read_text("utf-8"))["cases"]
    return [pytest.param(case, id=case["name"]) for case in cases]


def frame_of(case: dict[str, Any]) -> str | bytes:
    data: str = case["data"]
    return data.encode() if case["frame"] == "binary" else data


@pytest.mark.parametrize("case", corpus("client_messages.json"))
def test_client_messages_are_understood_as_the_corpus_says(case: dict[str, Any]) -> None:
    """Guards the contract with every client. The session, not `decode`, knows the voices."""
    if "accepted" in case or case["error"] == "unknown_voice":
        message = decode(frame_of(case))
        for name, value in case.get("accepted", {}).items():
            assert getattr(message, name) == value
        return
    with pytest.raises(ProtocolError) as caught:
        decode(frame_of(case))
    assert caught.value.code == case["error"]
    assert caught.value.request_id == case.get("request_id")
    for word in case["mentions"]:
        assert word in caught.value.message


@pytest.mark.parametrize("case", corpus("server_messages.json"))
def test_server_messages_are_built_byte_for_byte(case: dict[str, Any]) -> None:
    """Guards against a renamed, reordered or re-typed field of an event."""
    models = [
        messages.SynthesisStart,
        messages.Timing,
        messages.SynthesisComplete,
        messages.Cancelled,
        messages.Error,
        messages.GoingAway,
    ]
    by_type = {model.model_fields["type"].default: model for model in models}
    event = case["event"]
    assert by_type[event["type"]].model_validate(event).encode() == case["data"]


@pytest.mark.parametrize(
    "data",
    [
        "[" * 100_000,
        '{"text": "\\ud800"}',
        b'{"text": "\xff"}',
        '{"text": "a"} trailing',
        '{"text": "a", "speed": 1e999}',
        '{"type": ["speak"]}',
        '{"text": "a", "request_id": ""}',
        '{"text": "a", "sample_rate": 24000.5}',
        '{"text": "a", "timestamps": 1}',
    ],
)
def test_hostile_frames_are_invalid_and_nothing_worse(data: str | bytes) -> None:
    """Guards against an exception other than ProtocolError, which would end the session."""
    with pytest.raises(ProtocolError) as caught:
        decode(data)
    assert caught.value.code == "invalid"


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), st.binary()))
def test_any_frame_is_a_message_or_a_protocol_error(frame: str | bytes) -> None:
    """Guards against unforeseen inputs."""
    with suppress(ProtocolError):
        decode(frame)


def test_error_messages_stay_short_for_huge_values() -> None:
    """Guards against echoing a megabyte back in an error."""
    with pytest.raises(ProtocolError) as caught:
        decode(json.dumps({"text": "a", "format": "x" * 1_000_000}))
    assert len(caught.value.message) < 200


def test_the_batch_body_takes_openai_names() -> None:
    """Guards against refusing OpenAI's clients, which send input, response_format and model."""
    wanted = decode_batch(b'{"model": "tts-1", "input": "Hi.", "response_format": "pcm"}')
    assert (wanted.text, wanted.format) == ("Hi.", "pcm")
    assert decode_batch(b'{"text": "Hi."}').format == "wav"


def test_the_batch_body_takes_a_granularity() -> None:
    """Guards against a batch route that cannot switch windows off."""
    wanted = decode_batch(b'{"text": "Hi.", "granularity": "sentence", "timestamps": false}')
    assert wanted.granularity == "sentence"


@pytest.mark.parametrize(
    ("body", "mentions"),
    [
        ({"input": "Hi.", "text": "Hi."}, ["input", "text"]),
        ({"text": "Hi.", "response_format": "mp3"}, ["format", "mp3", "wav", "pcm"]),
        ({"text": "Hi.", "transport": "sse"}, ["transport", "sse", "http"]),
        ({"text": "  "}, ["text"]),
        ({"voice": "af_heart"}, ["text"]),
        ({"text": "Hi.", "tempo": 2}, ["tempo"]),
        ({"text": "Hi.", "timestamps": True}, ["timestamps", "True", "false"]),
        ({"text": "Hi.", "granularity": "word"}, ["granularity", "word", "window", "sentence"]),
    ],
)
def test_batch_errors_name_the_field_and_what_is_served(
    body: dict[str, Any], mentions: list[str]
) -> None:
    """Guards against silently using a default instead of the value that the client asked for."""
    with pytest.raises(ProtocolError) as caught:
        decode_batch(json.dumps(body).encode())
    assert all(word in caught.value.message for word in mentions)


VOICES = Voices(["af_bella", "af_sky", "bf_emma"], "af_sky")


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("nobody", "unknown_voice", "voice: unknown voice 'nobody'; use one of af_bella, af_sky,"),
        (
            "af_sky+bf_emma",
            "invalid",
            "voice: 'af_sky+bf_emma' mixes the languages en-us",
        ),
    ],
)
def test_a_voice_that_cannot_be_had_is_refused_by_its_field(
    name: str, code: str, message: str
) -> None:
    """Guards against an internal error, or a message that does not say which field is wrong."""
    with pytest.raises(ProtocolError) as caught:
        resolve_voice(VOICES, name)
    assert caught.value.code == code
    assert caught.value.message.startswith(message)
    assert resolve_voice(VOICES, None).name == "af_sky"


def test_word_times_are_those_of_the_audio_of_the_request() -> None:
    """Guards against times that start at zero in every sentence."""
    word = messages.word_in_request(WordTime("Oh.", 0.1, 0.17500000000000002), begin_s=2.5)
    assert word == WordTime(text="Oh.", start_s=2.6, end_s=2.675)


@pytest.mark.parametrize("lexicon", [["a"], {"a": 1}, {f"word{n}": "a" for n in range(201)}])
def test_a_lexicon_is_an_object_of_limited_size(lexicon: object) -> None:
    """Guards against a lexicon that takes longer than the speech."""
    with pytest.raises(ProtocolError, match=r"lexicon: .* is not accepted; give .* 200 words"):
        decode(json.dumps({"text": "a", "lexicon": lexicon}))
