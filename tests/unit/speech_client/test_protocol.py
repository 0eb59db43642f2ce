"""The client's side of speech protocol 1, with the messages both sides test and random ones."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from speech_client.protocol import (
    MAX_FRAME_BYTES,
    Audio,
    Cancelled,
    GoingAway,
    RequestError,
    SpeechProtocol,
    SynthesisComplete,
    SynthesisStart,
    Timing,
    Unrecognized,
)

CORPUS = Path(__file__).parents[2] / "protocol"
BUILT = [
    case
    for case in json.loads((CORPUS / "client_messages.json").read_text())["cases"]
    if case.get("built")
]
SERVER = json.loads((CORPUS / "server_messages.json").read_text())["cases"]


@pytest.mark.parametrize("case", BUILT, ids=lambda case: case["name"])
def test_messages_are_built_byte_for_byte(case) -> None:
    """A container that follows these messages would refuse a client that deviates from them."""
    wanted = case["accepted"]
    protocol = SpeechProtocol()
    match wanted["type"]:
        case "speak":
            built = protocol.speak(
                wanted["text"],
                wanted["request_id"],
                voice=wanted["voice"],
                speed=wanted.get("speed"),
                granularity=wanted.get("granularity"),
                timestamps=wanted.get("timestamps", False),
                sentence=wanted.get("sentence", False),
            )
        case "cancel":
            built = protocol.cancel(wanted["request_id"])
        case _:
            built = protocol.close()
    assert built == case["data"]


@pytest.mark.parametrize("data_type", ["UTF8", None])
@pytest.mark.parametrize("case", SERVER, ids=lambda case: case["name"])
def test_events_are_parsed(case, data_type) -> None:
    """SageMaker may omit `DataType`, so the client must tell control from audio without it."""
    protocol = SpeechProtocol()
    if request_id := case["event"].get("request_id"):
        protocol.speak("Hello.", request_id)
    if case["event"]["type"] == "timing":
        protocol.receive(start(request_id), "UTF8")
    event = protocol.receive(case["data"].encode(), data_type)
    assert event.model_dump() == case["event"]


def test_a_newer_containers_unknown_key_is_passed_over() -> None:
    """Containers are deployed before agents, so a new key must not break an old client."""
    protocol = SpeechProtocol()
    message = {"type": "going_away", "reason": "shutdown", "deadline_s": 1.0, "successor": "b"}
    event = protocol.receive(json.dumps(message).encode(), "UTF8")
    assert event == GoingAway(type="going_away", reason="shutdown", deadline_s=1.0)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b'{"type": "sing"}', "sing"),
        (b'{"type": "synthesis_start", "request_id": "r"}', "voice"),
        (b"", "JSON"),
        (b"[]", "object"),
        (b"\xff\xfe", "JSON"),
    ],
)
def test_control_that_says_nothing_is_reported_and_passed_over(data, word) -> None:
    """An unknown frame must not end a conversation, but it must be logged."""
    event = SpeechProtocol().receive(data, "UTF8")
    assert isinstance(event, Unrecognized)
    assert word in event.reason


START = {"type": "synthesis_start", "voice": "v", "format": "pcm", "channels": 1}


def start(request_id: str) -> bytes:
    return json.dumps(START | {"request_id": request_id, "sample_rate": 24000}).encode()


def test_audio_that_looks_like_control_stays_audio() -> None:
    """Samples may look like JSON. With a `DataType`, the client does not parse them."""
    protocol = SpeechProtocol()
    protocol.speak("Hello.", "r")
    protocol.receive(start("r"), "UTF8")
    looks_like_control = b'{"type":"going_away","reason":"x","deadline_s":1.0}'
    assert protocol.receive(looks_like_control, "BINARY") == Audio("r", looks_like_control)
    assert isinstance(protocol.receive(looks_like_control, None), GoingAway)
    for audio in (
        b'{"a": 1}',
        b"{",
        b'{"type": []}',
        b'{"type": "hello"}',
        b'{"a":' * 5000,
        b"\x00{",
    ):
        assert protocol.receive(audio, None) == Audio("r", audio)


def test_audio_without_a_start_is_not_given_to_anybody() -> None:
    """Audio without a request would be played as part of the wrong sentence."""
    protocol = SpeechProtocol()
    protocol.speak("Hello.", "r")
    assert isinstance(protocol.receive(b"\x00\x00", "BINARY"), Unrecognized)


def test_fragments_are_put_together() -> None:
    """A frame may arrive in several payload parts, and only the first one may have a type."""
    protocol = SpeechProtocol()
    protocol.speak("Hello.", "r")
    data = start("r")
    assert protocol.receive(data[:10], "UTF8", "PARTIAL") is None
    assert protocol.receive(data[10:20], None, "PARTIAL") is None
    assert isinstance(protocol.receive(data[20:], None, "COMPLETE"), SynthesisStart)
    assert protocol.receive(b"ab", "BINARY", "PARTIAL") is None
    assert protocol.receive(b"cd", "BINARY", "COMPLETE") == Audio("r", b"abcd")


def test_fragments_without_end_do_not_fill_the_memory() -> None:
    """A peer that never completes a frame must not exhaust the memory."""
    protocol = SpeechProtocol()
    part = bytes(1 << 18)
    events = [protocol.receive(part, "BINARY", "PARTIAL") for _ in range(5)]
    assert events[:4] == [None] * 4
    assert isinstance(events[4], Unrecognized)
    assert len(part) * 5 > MAX_FRAME_BYTES


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_nothing_to_say_is_refused_before_it_is_sent(text) -> None:
    """A request that cannot be answered would wait for its time-out."""
    with pytest.raises(ValueError, match="text"):
        SpeechProtocol().speak(text, "r")


def test_an_id_in_flight_is_refused() -> None:
    """With two requests of the same id, the audio of one could be taken for that of the other."""
    protocol = SpeechProtocol()
    protocol.speak("Hello.", "r")
    with pytest.raises(ValueError, match="request_id"):
        protocol.speak("Hello.", "r")


@given(st.lists(st.tuples(st.binary(max_size=80), st.sampled_from(["UTF8", "BINARY", None, "?"]))))
@settings(max_examples=200, deadline=None)
def test_no_bytes_raise(parts) -> None:
    """The reader continues after any data."""
    protocol = SpeechProtocol()
    protocol.speak("Hello.", "r")
    for data, data_type in parts:
        protocol.receive(data, data_type)


class Session(RuleBasedStateMachine):
    """A container that follows the protocol in any permitted order. Nothing is lost or mixed up."""

    def __init__(self) -> None:
        super().__init__()
        self.protocol = SpeechProtocol()
        self.waiting: list[str] = []
        self.speaking: str | None = None
        self.count = 0

    def control(self, type_: str, **fields: object):
        return self.protocol.receive(json.dumps({"type": type_, **fields}).encode(), "UTF8")

    @rule(text=st.text(min_size=1).filter(str.strip))
    def speak(self, text: str) -> None:
        self.count += 1
        request_id = f"r{self.count}"
        sent = json.loads(self.protocol.speak(text, request_id))
        assert sent == {"type": "speak", "text": text, "request_id": request_id}
        self.waiting.append(request_id)

    @rule()
    def start_next(self) -> None:
        if self.speaking is None and self.waiting:
            self.speaking = self.waiting.pop(0)
            event = self.protocol.receive(start(self.speaking), "UTF8")
            assert isinstance(event, SynthesisStart)

    @rule(audio=st.binary(max_size=20), typed=st.booleans())
    def send_audio(self, audio: bytes, typed: bool) -> None:
        event = self.protocol.receive(audio, "BINARY" if typed else None)
        if self.speaking is None:
            assert isinstance(event, Unrecognized)
        else:
            assert event == Audio(self.speaking, audio)

    @rule()
    def tell_timing(self) -> None:
        word = {"text": "Hello.", "start_s": 0.0, "end_s": 0.5}
        event = self.control("timing", request_id=self.speaking or "r1", words=[word])
        assert isinstance(event, Timing if self.speaking else Unrecognized)

    @rule()
    def finish(self) -> None:
        if self.speaking is not None:
            times = dict.fromkeys(("total_duration_s", "elapsed_s", "queued_s"), 0.1)
            event = self.control(
                "synthesis_complete", request_id=self.speaking, first_audio_s=0.1, **times
            )
            assert isinstance(event, SynthesisComplete)
            self.speaking = None

    @rule()
    def cancel_all(self) -> None:
        for request_id in [*([self.speaking] if self.speaking else []), *self.waiting]:
            event = self.control("cancelled", request_id=request_id, sent_duration_s=0.0)
            assert isinstance(event, Cancelled)
        self.speaking, self.waiting = None, []

    @rule()
    def refuse_last(self) -> None:
        if self.waiting:
            event = self.control(
                "error", request_id=self.waiting.pop(), code="invalid", message="no"
            )
            assert isinstance(event, RequestError)

    @invariant()
    def in_flight_is_what_was_not_answered(self) -> None:
        speaking = [self.speaking] if self.speaking else []
        assert sorted(self.protocol.in_flight) == sorted(speaking + self.waiting)


TestSession = Session.TestCase
TestSession.settings = settings(max_examples=50, deadline=None)


def test_an_unknown_setting_is_refused_here() -> None:
    """The container would refuse it later, and `type` would change the kind of message."""
    protocol = SpeechProtocol()
    for name in ("voic", "type", "text"):
        with pytest.raises(TypeError):
            protocol.speak("Hi.", "1", **{name: "cancel"})
    assert not protocol.in_flight
