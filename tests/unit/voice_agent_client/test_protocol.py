"""The agent's events as the client receives them, on both transports."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice_agent.messages import (
    AgentEnd,
    AgentStart,
    AudioChunk,
    AudioStreamEnd,
    AudioStreamStart,
    ErrorEvent,
    Interrupted,
    Metrics,
    Sentence,
    SentenceMetrics,
    TextDelta,
    Word,
    Words,
    to_json,
)
from voice_agent_client import AgentError, AgentProtocolError, Audio, UnknownEvent, protocol
from voice_agent_client.protocol import Reply, SseDecoder, parse_event

METRICS = Metrics(
    mode="bidi", ttft_s=0.1, first_sentence_s=0.2, ttfa_s=None, total_s=1.0, audio_s=0.5,
    streams_opened=1,
    sentences=[SentenceMetrics(seq=0, text="Hi.", sent_s=0.3, first_audio_s=None, audio_s=0.0)],
)  # fmt: skip
SENT = [
    AgentStart(request_id="1", mode="bidi"),
    TextDelta(request_id="1", seq=0, text="Hi."),
    Sentence(request_id="1", seq=0, text="Hi.", start_s=0.0),
    Words(request_id="1", seq=0, words=[Word(text="Hi.", start_s=0.0, end_s=0.2)]),
    AudioStreamStart(request_id="1", voice="af_heart"),
    AudioStreamEnd(request_id="1", total_chunks=1, duration_s=0.5),
    Interrupted(request_id="1", heard_text=""),
    AgentEnd(request_id="1", stop_reason="max_tokens", unspoken=["ꙮ"], metrics=METRICS),
    ErrorEvent(request_id=None, code="invalid", message="not JSON"),
]


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


@pytest.mark.parametrize("event", SENT, ids=lambda event: event.type)
def test_every_event_of_the_agent_arrives_with_all_its_fields(event: Any) -> None:
    """Agent and client have separate models. A field that is renamed in one would be lost."""
    received = parse_event(event.model_dump_json())
    assert type(received).__name__ == type(event).__name__
    assert received.model_dump(mode="json") == event.model_dump(mode="json")


def test_audio_is_the_same_event_on_both_transports() -> None:
    """Code that plays audio should not depend on the transport."""
    chunk = AudioChunk(request_id="1", seq=3, data=b"\x00\x01\xff\xfe")
    assert parse_event(json.dumps(to_json(chunk))) == Audio(data=b"\x00\x01\xff\xfe")


def test_what_a_newer_agent_adds_is_no_failure() -> None:
    """Agents are updated before all of their clients are."""
    delta = parse_event('{"type": "text_delta", "seq": 0, "text": "Hi.", "language": "en"}')
    assert isinstance(delta, protocol.TextDelta)
    event = parse_event('{"type": "mood", "request_id": 4, "value": "calm"}')
    assert isinstance(event, UnknownEvent)
    assert (event.type, event.model_extra) == ("mood", {"request_id": 4, "value": "calm"})


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "JSON"),
        ("[1]", "object"),
        ('{"text": "Hi."}', "type"),
        ('{"type": 4}', "type"),
        ('{"type": "error", "code": "busy"}', "error.message"),
        ('{"type": "audio_chunk", "seq": 0}', "audio_chunk.data"),
    ],
)
def test_what_is_no_event_is_an_error_that_names_the_field(text: str, word: str) -> None:
    """The caller must not have to handle pydantic's `ValidationError`."""
    with pytest.raises(AgentProtocolError, match=word):
        parse_event(text)


@given(st.binary() | st.text())
def test_no_bytes_raise_anything_else(data: bytes | str) -> None:
    try:
        parse_event(data)
    except AgentError:
        return


@given(st.lists(st.integers(1, 40)))
def test_a_stream_may_be_cut_anywhere(sizes: list[int]) -> None:
    """TCP splits characters. U+2028 and U+0085 are line ends in Python, but not in SSE."""
    text = "Zürich\u2028Genève\u0085 港"
    delta = {"type": "text_delta", "seq": 0, "text": text}
    chunk = {"type": "audio_chunk", "seq": 0, "data": base64.b64encode(b"\x01\x02").decode()}
    body = f": comment\n\ndata: {json.dumps(delta, ensure_ascii=False)}\n\n".encode() + sse(chunk)
    decoder = SseDecoder()
    events, start = [], 0
    for size in [*sizes, len(body)]:
        events += decoder.feed(body[start : start + size])
        start += size
    assert events == [protocol.TextDelta(seq=0, text=text), Audio(data=b"\x01\x02")]


def test_a_reply_ends_with_agent_end_and_not_with_an_error_in_it() -> None:
    reply = Reply()
    start = protocol.AgentStart(mode="bidi")
    error = protocol.ErrorEvent(code="bedrock", message="gone")
    assert [(reply.takes(event), reply.ended) for event in (start, error)] == [(True, False)] * 2
    assert reply.takes(protocol.AgentEnd(metrics=protocol.Metrics()))
    assert reply.ended


def test_a_refused_prompt_has_no_reply_to_wait_for() -> None:
    """A client that waits for `agent_end` after a refusal waits for ever."""
    reply = Reply()
    assert reply.takes(protocol.ErrorEvent(code="invalid", message="prompt: is blank"))
    assert reply.ended
