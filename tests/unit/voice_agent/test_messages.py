"""The agent protocol's messages, and the errors for messages that are refused."""

import base64
import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice_agent.messages import (
    AudioChunk,
    Close,
    ErrorEvent,
    Interrupt,
    MessageError,
    Prompt,
    parse_frame,
    parse_invocation,
    to_json,
)

LIMIT = 100


def parse(data: object):
    return parse_frame(json.dumps(data), max_prompt_chars=LIMIT)


def test_every_message_is_understood() -> None:
    """The messages of the browser, with and without optional fields."""
    assert parse({"type": "prompt", "prompt": "Hi"}) == Prompt(type="prompt", prompt="Hi")
    full = {"type": "prompt", "prompt": "Hi", "mode": "batch", "voice": "am_adam", "speed": 1}
    assert parse(full | {"format": "pcm16", "request_id": "r"}) == Prompt(
        type="prompt", prompt="Hi", mode="batch", voice="am_adam", speed=1.0, request_id="r"
    )
    assert parse({"type": "interrupt", "played_s": 1.5}) == Interrupt(
        type="interrupt", played_s=1.5
    )
    assert parse({"type": "close"}) == Close(type="close")
    assert parse_invocation({"prompt": "Hi"}, max_prompt_chars=LIMIT).mode == "bidi"


PROMPT = {"type": "prompt", "prompt": "Hi"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"prompt": "Hi"}, ["type", "prompt", "interrupt", "close"]),
        ({"type": "sing"}, ["type", "sing"]),
        ({"type": 7}, ["type"]),
        ({"type": None}, ["type", "not null"]),
        ({"type": "prompt"}, ["prompt:"]),
        ({"type": "close", "now": True}, ["now"]),
        (PROMPT | {"interrupt": 1}, ["interrupt: unknown key"]),
        (PROMPT | {"k" * 1000: 1}, ["kkk", "unknown key"]),
        (PROMPT | {"prompt": "\ud800"}, ["JSON"]),
        (PROMPT | {"mode": "fast"}, ["mode", "bidi", "batch", "fast"]),
        (PROMPT | {"prompt": 7}, ["prompt", "string", "7"]),
        (PROMPT | {"speed": 2.5}, ["speed", "0.5", "2", "2.5"]),
        (PROMPT | {"speed": True}, ["speed", "true"]),
        (PROMPT | {"voice": ""}, ["voice"]),
        (PROMPT | {"timestamps": "word"}, ["timestamps", "true or false", "word"]),
        (PROMPT | {"request_id": "x" * 129}, ["request_id", "128"]),
        ({"type": "interrupt"}, ["played_s"]),
        ({"type": "interrupt", "played_s": "1"}, ["played_s", "number"]),
    ],
)
def test_what_is_wrong_is_named_with_what_would_be_right(data, words) -> None:
    """After 'bad request', a client's developer would have to read the source code."""
    with pytest.raises(MessageError) as caught:
        parse(data)
    assert caught.value.code == "invalid"
    assert [word for word in words if word not in str(caught.value)] == []
    assert len(str(caught.value)) < 200


def test_errors_belong_to_the_request_where_it_can_be_read() -> None:
    """A client that has sent several prompts must know which one was refused."""
    with pytest.raises(MessageError) as caught:
        parse(PROMPT | {"request_id": "r", "tempo": 1})
    assert caught.value.request_id == "r"


def test_a_prompt_that_is_too_long_or_a_format_not_served_has_its_own_code() -> None:
    """Clients react to these codes by shortening the prompt or changing the format."""
    with pytest.raises(MessageError, match=str(LIMIT)) as caught:
        parse(PROMPT | {"prompt": "x" * (LIMIT + 1)})
    assert caught.value.code == "too_long"
    with pytest.raises(MessageError, match="pcm16") as caught:
        parse_invocation({"prompt": "Hi", "format": "mp3"}, max_prompt_chars=LIMIT)
    assert caught.value.code == "unsupported"


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "prompt", "speed", "played_s", "request_id", "x"]),
                inner | st.sampled_from(["prompt", "interrupt", "close"]),
                max_size=4,
            )
        ),
        max_leaves=6,
    )
)
@settings(max_examples=200, deadline=None)
def test_no_json_raises_anything_else(data) -> None:
    """The connection answers every message and stays open."""
    with contextlib.suppress(MessageError):
        parse(data)


def test_half_a_surrogate_pair_is_refused() -> None:
    """`json` accepts the escape, but an answer that repeats the id could not be sent."""
    with pytest.raises(MessageError) as caught:
        parse(PROMPT | {"request_id": "\ud800"})
    assert caught.value.request_id is None
    str(caught.value).encode()


@given(st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_no_text_raises_anything_else(text) -> None:
    with contextlib.suppress(MessageError):
        parse_frame(text, max_prompt_chars=LIMIT)


def test_deeply_nested_json_is_an_error_not_a_crash() -> None:
    """A frame of a few kilobytes reaches a parser's recursion limit."""
    with pytest.raises(MessageError):
        parse_frame("[" * 100_000, max_prompt_chars=LIMIT)


def test_audio_is_base64_in_json_and_everything_else_is_as_it_is() -> None:
    """The SSE client decodes only `data`."""
    event = to_json(AudioChunk(request_id="r", seq=3, data=b"\x00\xff"))
    assert event == {
        "type": "audio_chunk",
        "request_id": "r",
        "seq": 3,
        "data": base64.b64encode(b"\x00\xff").decode(),
    }
    error = ErrorEvent(request_id=None, code="busy", message="wait")
    assert to_json(error) == {
        "type": "error",
        "request_id": None,
        "code": "busy",
        "message": "wait",
    }
