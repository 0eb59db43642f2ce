"""The session's state machine: what it answers, in which order, and when it ends."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
)

from kokoro_server.admission import Admission
from kokoro_server.codecs import MAX_FRAME_BYTES
from kokoro_server.counters import Counters
from kokoro_server.messages import ProtocolError
from kokoro_server.session import QUIET_S, Session
from kokoro_server.settings import Settings
from kokoro_server.utterance import SpeechChunk, Utterance, UtteranceState
from kokoro_voice.timing import WordTime
from kokoro_voice.voices import Voices

CLIENT_MESSAGES = Path(__file__).parents[2] / "protocol" / "client_messages.json"
FAULT = ProtocolError("internal", "why")
VOICES = Voices(["af_heart", "am_michael", "bf_emma", "jf_alpha"], "af_heart")


def new_session(
    counters: Counters | None = None, admission: Admission | None = None, **limits: Any
) -> Session:
    settings = Settings(model_dir=Path("unused"), **limits)
    return Session(settings, VOICES, counters or Counters(), admission or Admission(1.0), now_s=0.0)


def tell(session: Session, now_s: float = 0.0, **message: Any) -> None:
    session.take(session.read(json.dumps(message), unix_s=1e9), now_s)


def speak(session: Session, now_s: float, pcm: bytes = bytes(100)) -> Utterance:
    """Do the next request's work at once."""
    utterance = session.next_utterance(now_s)
    assert utterance is not None
    session.add_chunk(utterance, SpeechChunk(pcm))
    session.complete(utterance)
    return utterance


def drain(session: Session, now_s: float = 0.0) -> list[Any]:
    """All frames that can be written now: events as objects, audio as bytes."""
    written: list[Any] = []
    while (frame := session.next_frame(now_s)) is not None:
        written.append(json.loads(frame) if isinstance(frame, str) else frame)
    return written


def brief(written: list[Any]) -> list[str]:
    return [
        "audio" if isinstance(frame, bytes) else f"{frame['type']} {frame.get('request_id')}"
        for frame in written
    ]


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case["name"])
        for case in json.loads(CLIENT_MESSAGES.read_text("utf-8"))["cases"]
        if "error" in case
    ],
)
def test_every_refused_message_of_the_corpus_leaves_the_session_alive(case: Any) -> None:
    """Guards against an error that ends the session or blames the wrong field."""
    session = new_session()
    data = case["data"].encode() if case["frame"] == "binary" else case["data"]
    session.take(session.read(data, 0.0), 0.0)
    (error,) = drain(session)
    assert (error["type"], error["code"]) == ("error", case["error"])
    assert error["request_id"] == case.get("request_id")
    assert all(word in error["message"] for word in case["mentions"])
    tell(session, text="Still here.")
    assert speak(session, 0.0).request.text == "Still here."


def test_requests_are_answered_in_order_and_do_not_interleave() -> None:
    """Guards against audio of a later request between the frames of an earlier one."""
    session = new_session()
    tell(session, text="One.", request_id="a")
    tell(session, text="Two.", request_id="b", voice="am_michael")
    first = session.next_utterance(0.0)
    assert first is not None
    session.add_chunk(first, SpeechChunk(bytes(2)))
    assert brief(drain(session)) == ["synthesis_start a", "audio"]
    session.complete(first)
    speak(session, 0.0)
    assert brief(drain(session)) == [
        "synthesis_complete a",
        "synthesis_start b",
        "audio",
        "synthesis_complete b",
    ]


def test_word_times_stay_in_front_of_their_audio() -> None:
    """Guards against word times that overtake a slow reader's audio, or follow a cancel."""
    session = new_session(max_buffered_audio_s=1)
    tell(session, text="One. Two.", request_id="a", timestamps=True)
    utterance = session.next_utterance(0.0)
    assert utterance is not None
    for start_s, text in enumerate(["One.", "Two."]):
        word = WordTime(text=text, start_s=start_s, end_s=start_s + 0.5)
        session.add_chunk(utterance, SpeechChunk(bytes(20_000), [word]))
    start, first, *audio = (session.next_frame(0.0) for _ in range(4))
    assert isinstance(start, str)
    assert "synthesis_start" in start
    assert isinstance(first, str)
    assert json.loads(first) == {
        "type": "timing",
        "request_id": "a",
        "words": [{"text": "One.", "start_s": 0.0, "end_s": 0.5}],
    }
    assert [type(frame) for frame in audio] == [bytes, bytes]
    tell(session, type="cancel")
    assert brief(drain(session)) == ["cancelled a"]


def test_the_deployments_granularity_is_that_of_requests_that_name_none() -> None:
    """Guards against ignoring the configured granularity, or the requested one."""
    session = new_session(granularity="sentence")
    tell(session, text="One.")
    tell(session, text="Two.", granularity="window")
    assert [speak(session, 0.0).request.granularity for _ in range(2)] == ["sentence", "window"]


def test_audio_frames_are_whole_samples_of_at_most_16_kib() -> None:
    """Guards against frames that SageMaker's router refuses, and against a split sample."""
    session = new_session()
    tell(session, text="Long.")
    pcm = bytes(range(250)) * 200
    speak(session, 0.0, pcm)
    frames = [frame for frame in drain(session) if isinstance(frame, bytes)]
    assert b"".join(frames) == pcm
    assert all(len(frame) <= MAX_FRAME_BYTES and len(frame) % 2 == 0 for frame in frames)
    assert len(frames) > 1


def test_completion_has_the_times_from_arrival() -> None:
    """Guards against figures that mix up waiting, work and sound."""
    session = new_session()
    tell(session, 1.0, text="One.")
    utterance = session.next_utterance(1.5)
    assert utterance is not None
    session.add_chunk(utterance, SpeechChunk(bytes(48_000)))
    start = session.next_frame(2.25)
    session.complete(utterance)
    complete = drain(session, 3.0)[-1]
    assert isinstance(start, str)
    assert complete == {
        "type": "synthesis_complete",
        "request_id": "r1",
        "total_duration_s": 1.0,
        "elapsed_s": 2.0,
        "queued_s": 0.5,
        "first_audio_s": 1.25,
        "unspoken": [],
    }


def test_generated_ids_avoid_the_clients_own() -> None:
    """Guards against two requests with the same id in flight."""
    session = new_session()
    tell(session, text="Mine.", request_id="r1")
    tell(session, text="Yours.")
    speak(session, 0.0)
    speak(session, 0.0)
    assert [f["request_id"] for f in drain(session) if not isinstance(f, bytes)] == [
        "r1",
        "r1",
        "r2",
        "r2",
    ]


def test_a_second_request_of_the_same_name_is_invalid() -> None:
    """Guards against generated ids in use. The id of a finished request may be used again."""
    session = new_session()
    tell(session, text="One.", request_id="a")
    tell(session, text="Two.", request_id="a")
    (error,) = drain(session)
    assert (error["code"], error["request_id"]) == ("invalid", "a")
    speak(session, 0.0)
    drain(session)
    tell(session, text="Three.", request_id="a")
    assert speak(session, 0.0).request.text == "Three."


def test_cancel_stops_the_playing_one_between_frames_and_drops_its_late_audio() -> None:
    """Guards against sound after `cancelled`, from the buffer or from the engine."""
    session = new_session()
    tell(session, text="One.", request_id="a")
    utterance = session.next_utterance(0.0)
    assert utterance is not None
    session.add_chunk(utterance, SpeechChunk(bytes(3 * MAX_FRAME_BYTES)))
    session.next_frame(0.0)
    assert isinstance(session.next_frame(0.0), bytes)
    tell(session, type="cancel", request_id="a")
    assert utterance.state is UtteranceState.CANCELLED
    session.add_chunk(utterance, SpeechChunk(bytes(100)))
    session.complete(utterance)
    (event,) = drain(session)
    assert event == {
        "type": "cancelled",
        "request_id": "a",
        "sent_duration_s": round(MAX_FRAME_BYTES / 48_000, 4),
    }
    assert session.has_room


def test_cancel_names_one_all_or_nobody() -> None:
    """Guards against cancelling too much or too little, and against answering an unknown id."""
    session = new_session()
    for request_id in "abc":
        tell(session, text="Words.", request_id=request_id)
    tell(session, type="cancel", request_id="nobody")
    assert drain(session) == []
    tell(session, type="cancel", request_id="b")
    assert brief(drain(session)) == ["cancelled b"]
    tell(session, type="cancel")
    assert brief(drain(session)) == ["cancelled a", "cancelled c"]
    assert session.next_utterance(0.0) is None


def test_close_answers_what_is_left_then_ends_with_1000() -> None:
    """Guards against requests without an answer, and work after the end."""
    session = new_session()
    tell(session, text="One.", request_id="a")
    tell(session, text="Two.", request_id="b")
    tell(session, type="close")
    tell(session, text="Too late.")
    assert brief(drain(session)) == ["cancelled a", "cancelled b"]
    assert session.close_code == 1000
    assert session.next_utterance(0.0) is None


def test_a_failure_comes_after_the_audio_that_was_made() -> None:
    """Guards against losing audio before an error, and against an error with a completion."""
    session = new_session()
    tell(session, text="One.", request_id="a")
    utterance = session.next_utterance(0.0)
    assert utterance is not None
    session.add_chunk(utterance, SpeechChunk(bytes(2)))
    session.fail(utterance, FAULT)
    assert brief(drain(session)) == ["synthesis_start a", "audio", "error a"]


def test_too_many_requests_are_busy_and_nothing_is_lost() -> None:
    """Guards against an unbounded queue."""
    session = new_session(max_queued_requests=2)
    for request_id in "abc":
        tell(session, text="Words.", request_id=request_id)
    (error,) = drain(session)
    assert (error["code"], error["request_id"]) == ("busy", "c")
    assert [speak(session, 0.0).request.request_id for _ in range(2)] == ["a", "b"]


def test_a_turn_is_busy_while_another_session_has_the_engine() -> None:
    """Guards against an underrun caused by a newcomer, and against capacity not released.

    Whether its words were spoken, failed, were cancelled or their session went.
    """

    def spoken(session: Session, utterance: Utterance) -> None:
        session.complete(utterance)

    def failed(session: Session, utterance: Utterance) -> None:
        session.fail(utterance, FAULT)

    def cancelled(session: Session, utterance: Utterance) -> None:
        tell(session, type="cancel", request_id=utterance.request.request_id)

    def gone(session: Session, utterance: Utterance) -> None:
        session.connection_lost()

    for end in (spoken, failed, cancelled, gone):
        counters, admission = Counters(), Admission(1.0)
        first, second = (new_session(counters, admission) for _ in range(2))
        tell(first, text="Measured.")
        measured = first.next_utterance(0.0)
        assert measured is not None
        measured.tally.engine_s = 0.9
        measured.add_audio(1.0, 0.0)
        first.complete(measured)
        tell(first, now_s=5.0, text="Words. " * 9)
        utterance = first.next_utterance(5.0)
        assert utterance is not None
        tell(second, now_s=5.0, text="Words. " * 9, request_id="b")
        (error,) = drain(second, 5.0)
        assert (error["code"], error["request_id"]) == ("busy", "b")
        assert (counters.requests, counters.refused) == (2, 1)
        end(first, utterance)
        tell(second, now_s=5.0, text="Words. " * 9, request_id="b")
        assert second.next_utterance(5.0) is not None, end.__name__


def test_a_cancel_says_that_nothing_is_played_any_more() -> None:
    """Guards against a reply after a barge-in that waits for the cancelled reply's end.

    The cancel of a request that waits stops no playback, and an unknown id nothing at all; one
    without an id also stops what has been sent completely and is still heard.
    """
    for cancel, plays in (
        ({}, False),
        ({"request_id": "a"}, False),
        ({"request_id": "b"}, True),
        ({"request_id": "c"}, True),
    ):
        session = new_session()
        tell(session, text="One.", request_id="a")
        tell(session, text="Two.", request_id="b")
        utterance = session.next_utterance(0.0)
        assert utterance is not None
        utterance.add_audio(9.0, 0.0)
        tell(session, now_s=1.0, type="cancel", **cancel)
        assert utterance.listener.plays is plays, cancel
    session = new_session()
    tell(session, text="One.")
    utterance = speak(session, 0.0)
    utterance.add_audio(9.0, 0.0)
    drain(session)
    tell(session, now_s=1.0, type="cancel")
    assert not utterance.listener.plays


def test_too_long_a_text_names_the_limit() -> None:
    """Guards against texts that take hours to speak."""
    session = new_session(max_text_chars=10)
    tell(session, text="x" * 11, request_id="a")
    (error,) = drain(session)
    assert error["code"] == "too_long"
    assert error["request_id"] == "a"
    assert "11" in error["message"]
    assert "10" in error["message"]
    tell(session, text="x" * 10)
    assert session.next_utterance(0.0) is not None


def test_an_old_request_is_stale_and_a_new_one_is_not() -> None:
    """Guards against speaking outdated requests."""
    session = new_session(max_request_age_s=30)
    session.take(session.read('{"text": "Old.", "request_timestamp": 900}', unix_s=931), 0.0)
    assert drain(session)[0]["code"] == "stale"
    session.take(session.read('{"text": "New.", "request_timestamp": 902}', unix_s=931), 0.0)
    assert session.next_utterance(0.0) is not None


def test_a_slow_reader_stops_synthesis_and_reading_starts_it_again() -> None:
    """Guards against buffering minutes of audio for a peer that does not read."""
    session = new_session(max_buffered_audio_s=1)
    tell(session, text="Words.")
    utterance = session.next_utterance(0.0)
    assert utterance is not None
    session.add_chunk(utterance, SpeechChunk(bytes(48_000)))
    assert not session.has_room
    session.next_frame(0.0)
    session.next_frame(0.0)
    assert session.has_room


def test_unread_answers_stop_reading_until_they_are_read() -> None:
    """Guards against a peer whose unread error events fill the memory."""
    session = new_session()
    while session.can_receive:
        session.take(session.read("nonsense", 0.0), 0.0)
    assert len(drain(session)) < 1000
    assert session.can_receive


def test_an_idle_session_is_told_before_it_is_closed() -> None:
    """Guards against a close without notice, and against counting speech as idle time."""
    session = new_session(idle_timeout_s=100, notice_s=10)
    tell(session, 50.0, text="Words.")
    session.tick(149.0)
    assert drain(session, 149.0) == []
    speak(session, 149.0)
    drain(session, 150.0)
    session.tick(239.0)
    assert drain(session) == []
    session.tick(240.0)
    assert drain(session) == [{"type": "going_away", "reason": "idle", "deadline_s": 10.0}]
    session.tick(250.0)
    assert session.close_code == 1001


def test_a_message_takes_an_idle_notice_back() -> None:
    """Guards against closing a session that has become active again."""
    session = new_session(idle_timeout_s=100, notice_s=10)
    session.tick(90.0)
    tell(session, 95.0, text="Words.")
    session.tick(101.0)
    assert session.close_code is None
    assert speak(session, 101.0).request.text == "Words."


def test_the_session_limit_is_announced_while_speaking() -> None:
    """Guards against SageMaker ending a session in the middle of a sentence."""
    session = new_session(session_limit_s=1000, notice_s=30)
    tell(session, 969.0, text="Words.", request_id="a")
    session.tick(970.0)
    assert drain(session) == [{"type": "going_away", "reason": "session_limit", "deadline_s": 30.0}]
    session.tick(1000.0)
    assert brief(drain(session)) == ["cancelled a"]
    assert session.close_code == 1001


def test_shutdown_lets_a_request_finish_then_closes_a_quiet_session() -> None:
    """Guards against cutting speech off at SIGTERM, and against waiting for idle sessions."""
    session = new_session()
    tell(session, 0.0, text="Words.", request_id="a")
    session.shut_down(1.0, 25.0)
    assert drain(session) == [{"type": "going_away", "reason": "shutdown", "deadline_s": 25.0}]
    session.tick(5.0)
    assert session.close_code is None
    speak(session, 6.0)
    assert brief(drain(session, 6.0))[-1] == "synthesis_complete a"
    session.tick(6.0 + QUIET_S)
    assert session.close_code == 1001


def test_shutdown_ends_at_its_deadline_whatever_is_left() -> None:
    """Guards against SIGKILL in the middle of a sentence."""
    session = new_session()
    tell(session, 0.0, text="Words.", request_id="a")
    session.shut_down(1.0, 25.0)
    session.tick(26.0)
    assert brief(drain(session)) == ["going_away None", "cancelled a"]
    assert session.close_code == 1001


def test_words_have_no_times_unless_they_are_asked_for() -> None:
    """Guards against `timing` events for clients that did not ask for them."""
    session = new_session()
    tell(session, text="One.", request_id="a")
    utterance = session.next_utterance(0.0)
    assert utterance is not None
    word = WordTime(text="One.", start_s=0.0, end_s=0.5)
    session.add_chunk(utterance, SpeechChunk(bytes(2), [word]))
    assert brief(drain(session)) == ["synthesis_start a", "audio"]


def test_what_is_complete_may_still_be_cancelled_while_its_audio_waits() -> None:
    """Guards against a cancel that has no effect, or an utterance that ends twice."""
    counters = Counters()
    session = new_session(counters)
    tell(session, text="One.", request_id="a")
    utterance = speak(session, 0.0)
    tell(session, type="cancel")
    assert brief(drain(session)) == ["cancelled a"]
    assert utterance.state is UtteranceState.COMPLETE
    assert (counters.completed, counters.cancelled) == (0, 1)


def test_a_lost_connection_leaves_nothing_to_do() -> None:
    """Guards against synthesizing for a client that has disconnected."""
    counters = Counters()
    session = new_session(counters)
    tell(session, text="One.")
    working = session.next_utterance(0.0)
    assert working is not None
    session.connection_lost()
    assert working.state is UtteranceState.CANCELLED
    assert session.next_utterance(0.0) is None
    assert session.next_frame(0.0) is None
    assert (counters.requests, counters.cancelled) == (1, 1)


class AnySession(RuleBasedStateMachine):
    """Any order of arrivals, work, writing and time that a session may experience."""

    def __init__(self) -> None:
        super().__init__()
        self.counters = Counters()
        limits = {"idle_timeout_s": 50, "session_limit_s": 200, "notice_s": 10}
        self.session = new_session(self.counters, max_queued_requests=4, **limits)
        self.now_s = 0.0
        self.sent = 0
        self.working: Utterance | None = None
        self.accepted: list[str] = []
        self.refused: list[str] = []
        self.ended: dict[str, str] = {}
        self.playing: str | None = None
        self.started: list[str] = []

    def say(self, **message: Any) -> None:
        tell(self.session, self.now_s, **message)

    @rule()
    def request(self) -> None:
        before = self.counters.requests
        closed = self.session.close_code is not None
        name = f"q{self.sent}"
        self.sent += 1
        self.say(text="Words.", request_id=name, timestamps=self.sent % 2 == 0)
        if self.counters.requests > before:
            self.accepted.append(name)
        elif not closed:
            self.refused.append(name)

    @rule(which=st.integers(0, 40))
    def cancel(self, which: int) -> None:
        self.say(type="cancel", request_id=f"q{which}")

    @rule()
    def cancel_all(self) -> None:
        self.say(type="cancel")

    @rule(frame=st.sampled_from(["", "x", "[]", '{"text": ""}', b"\xff", '{"type": "x"}']))
    def nonsense(self, frame: str | bytes) -> None:
        self.session.take(self.session.read(frame, 0.0), self.now_s)

    @rule()
    def close(self) -> None:
        self.say(type="close")

    @rule()
    def server_stops(self) -> None:
        self.session.shut_down(self.now_s, 20.0)

    @rule(seconds=st.floats(0, 30))
    def time_passes(self, seconds: float) -> None:
        self.now_s += seconds
        self.session.tick(self.now_s)

    @precondition(lambda self: self.working is None)
    @rule()
    def begin_work(self) -> None:
        self.working = self.session.next_utterance(self.now_s)

    @precondition(lambda self: self.working is not None)
    @rule(samples=st.integers(1, 20_000), timed=st.booleans())
    def add_audio(self, samples: int, timed: bool) -> None:
        assert self.working is not None
        words = [WordTime(text="Words.", start_s=0.0, end_s=0.1)] if timed else []
        self.session.add_chunk(self.working, SpeechChunk(bytes(2 * samples), words))

    @precondition(lambda self: self.working is not None)
    @rule(good=st.booleans())
    def end_work(self, good: bool) -> None:
        assert self.working is not None
        if good:
            self.session.complete(self.working)
        else:
            self.session.fail(self.working, FAULT)
        self.working = None

    @rule()
    def write_one(self) -> None:
        frame = self.session.next_frame(self.now_s)
        if frame is not None:
            self.check(frame)

    def check(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            assert self.playing is not None, "audio outside start and end"
            return
        event = json.loads(frame)
        name = event.get("request_id")
        if event["type"] == "synthesis_start":
            assert self.playing is None, "interleaved"
            assert name not in self.ended
            self.playing = name
            self.started.append(name)
        elif event["type"] == "timing":
            assert self.playing == name, "word times outside start and end"
        elif name in self.accepted:
            assert name not in self.ended, "two answers to one request"
            assert event["type"] in {"synthesis_complete", "cancelled", "error"}
            assert event["type"] != "synthesis_complete" or self.playing == name
            self.ended[name] = event["type"]
            if self.playing == name:
                self.playing = None
        else:
            assert event["type"] in {"error", "going_away"}
            assert name is None or name in self.refused

    @invariant()
    def order_is_kept(self) -> None:
        assert self.started == sorted(self.started, key=self.accepted.index)

    @invariant()
    def counts_agree(self) -> None:
        assert self.counters.requests == len(self.accepted)

    def teardown(self) -> None:
        """Close and write the rest. Every accepted request must have had exactly one answer."""
        self.say(type="close")
        while (frame := self.session.next_frame(self.now_s)) is not None:
            self.check(frame)
        assert set(self.ended) == set(self.accepted)
        assert self.session.close_code is not None
        assert self.session.next_utterance(self.now_s) is None
        assert self.session.has_room
        counted = self.counters.completed + self.counters.cancelled + self.counters.failed
        assert counted == len(self.accepted)


TestAnySession = AnySession.TestCase
TestAnySession.settings = hypothesis_settings(
    max_examples=60, stateful_step_count=40, deadline=None
)


def test_a_text_in_another_language_starts_with_a_warning() -> None:
    """Guards against a client that hears babble and does not learn why."""
    session = new_session()
    tell(session, type="speak", text="Привет, как дела?")
    tell(session, type="speak", text="Hello.")
    for _ in range(2):
        speak(session, 0.0)
    starts = [e for e in drain(session) if not isinstance(e, bytes) and e["type"].endswith("start")]
    assert "Cyrillic" in starts[0]["warning"]
    assert "warning" not in starts[1]
