"""Who is let in, and whether those who are let in run dry."""

from dataclasses import dataclass

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kokoro_server.admission import Admission, Ratio
from kokoro_server.messages import ProtocolError
from kokoro_server.playback import Listener
from kokoro_server.scheduler import Scheduler
from kokoro_server.utterance import Tally, Utterance
from tests.utterances import new_utterance, playing_until, waiting_since


def measured(real_time_factor: float, headroom: float = 1.0, chunk_s: float = 0.1) -> Admission:
    """An admission that has measured speech with one second of audio per character, in chunks."""
    admission = Admission(headroom)
    utterance = new_utterance(chars=10.0)
    assert admission.accept(utterance)
    speak(utterance, 10.0 * real_time_factor, *[chunk_s] * round(10.0 / chunk_s))
    admission.end(utterance)
    return admission


def speak(utterance: Utterance, engine_s: float, *chunks_s: float, now_s: float = 0.0) -> None:
    """Complete an utterance that was accepted."""
    utterance.begin(now_s)
    utterance.tally.engine_s = engine_s
    for chunk_s in chunks_s:
        utterance.add_audio(chunk_s, now_s)
    utterance.complete()


def accepted(
    admission: Admission, listener: Listener, chars: float, received_s: float = 0.0
) -> Utterance:
    """An utterance that is admitted."""
    utterance = new_utterance(listener, chars, received_s)
    assert admission.accept(utterance)
    return utterance


def refused(
    admission: Admission, listener: Listener, chars: float, received_s: float = 0.0
) -> bool:
    """Whether an utterance is refused. If it is admitted, it stays in flight."""
    return not admission.accept(new_utterance(listener, chars, received_s))


def test_what_does_not_fit_is_refused_and_fits_when_others_have_ended() -> None:
    """Guards against admitting more than the engine can do, and against capacity not released."""
    admission = measured(real_time_factor=0.4)
    first, second, third = (Listener() for _ in range(3))
    utterance = accepted(admission, first, 20.0)
    accepted(admission, second, 20.0)
    assert refused(admission, third, 20.0)
    utterance.cancel()
    admission.end(utterance)
    admission.end(utterance)
    accepted(admission, third, 20.0)
    assert refused(admission, first, 20.0)


def test_what_has_been_synthesized_already_is_not_counted_again() -> None:
    """Guards against refusing a newcomer while the others have (nearly) all their audio."""
    admission = measured(real_time_factor=0.7)
    utterance = accepted(admission, Listener(), 20.0)
    assert refused(admission, Listener(), 5.0)
    utterance.add_audio(19.0, 0.0)
    assert not refused(admission, Listener(), 5.0, 17.0)


def test_the_next_chunk_must_be_complete_before_the_buffer_ends() -> None:
    """Guards against gaps between whole sentences, which the fluid model alone would not expect."""
    for chunk_s, is_refused in ((0.1, False), (5.0, True)):
        admission = measured(real_time_factor=0.6, chunk_s=chunk_s)
        accepted(admission, Listener(), 10.0).add_audio(4.0, 0.0)
        assert refused(admission, Listener(), 6.0) is is_refused


def test_only_the_beginning_of_a_turn_is_refused() -> None:
    """Guards against refusing the rest of a reply whose beginning is in flight or still playing."""
    admission = measured(real_time_factor=0.6)
    speaking, other = Listener(), Listener()
    utterance = accepted(admission, speaking, 10.0)
    assert refused(admission, other, 10.0)
    accepted(admission, speaking, 100.0)
    speak(utterance, 0.0, 10.0)
    admission.end(utterance)
    accepted(admission, speaking, 100.0, 9.0)


def test_a_turn_in_flight_has_room_reserved_for_the_rest_of_it() -> None:
    """Guards against admitting a listener between two sentences of another listener's reply."""
    admission = measured(real_time_factor=0.7)
    speaking = Listener()
    for _ in range(4):
        utterance = accepted(admission, speaking, 5.0)
        speak(utterance, 3.5, 5.0)
        admission.end(utterance)
    # Of the second turn, the first sentence is nearly spoken; by the first turn, 16 s will follow.
    utterance = accepted(admission, speaking, 5.0, 100.0)
    utterance.begin(100.0)
    utterance.add_audio(4.0, 100.0)
    assert refused(admission, Listener(), 20.0, 100.0)
    utterance.complete()
    admission.end(utterance)
    accepted(admission, Listener(), 20.0, 100.0)


@given(
    real_time_factor=st.floats(0.01, 20),
    chars=st.floats(0.1, 1e5),
    turns=st.integers(1, 5),
)
@settings(max_examples=50, deadline=None)
def test_who_is_alone_is_never_refused(real_time_factor: float, chars: float, turns: int) -> None:
    """Guards against refusing every request on a slow laptop."""
    admission = measured(real_time_factor)
    listener, now_s = Listener(), 1.0
    for _ in range(turns):
        utterance = accepted(admission, listener, chars, now_s)
        speak(utterance, chars * real_time_factor, chars, now_s=now_s)
        admission.end(utterance)
        now_s = listener.plays_until_s + 1.0


def test_nothing_is_refused_before_anything_was_measured() -> None:
    """Guards against refusals before anything has been measured."""
    admission = Admission(headroom=1.0)
    assert not any(refused(admission, Listener(), 1e6) for _ in range(50))


def test_a_cold_server_reserves_room_for_a_usual_turn() -> None:
    """Guards against admitting all early callers because only their first sentences count."""
    admission = measured(real_time_factor=0.6)
    accepted(admission, Listener(), 3.0)
    assert refused(admission, Listener(), 3.0)


def test_what_is_learned_before_the_first_utterance_counts() -> None:
    """Guards against a new server that admits everybody until its first utterance has ended."""
    admission = Admission(headroom=1.0)
    learned = new_utterance(chars=10.0)
    learned.tally = Tally(engine_s=6.0, audio_s=10.0, chunks=10)
    admission.learn(learned)
    accepted(admission, Listener(), 10.0)
    assert refused(admission, Listener(), 10.0)


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_what_ended_early_teaches_nothing(state: str) -> None:
    """Guards against learning from an incomplete utterance, which has little audio for its text."""
    admission = Admission(headroom=1.0)
    utterance = accepted(admission, Listener(), 10.0)
    utterance.begin(0.0)
    utterance.tally.engine_s = 60.0
    utterance.add_audio(1.0, 0.0)
    if state == "failed":
        utterance.fail(ProtocolError("internal", "why"))
    else:
        utterance.cancel()
    admission.end(utterance)
    accepted(admission, Listener(), 10.0)
    accepted(admission, Listener(), 10.0)


@pytest.mark.parametrize(("headroom", "taken"), [(1.0, True), (1.1, False), (0.0, True)])
def test_headroom_is_for_how_much_more_work_there_must_be_time(
    headroom: float, taken: bool
) -> None:
    """Guards against a setting without effect."""
    admission = measured(0.49, headroom)
    accepted(admission, Listener(), 10.0)
    # 9.8 s of work for 10 s of audio.
    assert refused(admission, Listener(), 10.0) is not taken


def test_estimates_follow_the_usual_and_forget() -> None:
    """Guards against an estimate that one stall, or many texts of one word, distort."""
    ratio = Ratio()
    assert ratio.value is None
    for _ in range(10):
        ratio.observe(1.5, 5.0)
        ratio.observe(0.5, 0.5)  # a word, dear for its length
    ratio.observe(60.0, 5.0)  # a stall
    assert ratio.value == pytest.approx(0.3)
    for _ in range(40):
        ratio.observe(3.0, 5.0)
    assert ratio.value == pytest.approx(0.6)


@dataclass
class Work:
    utterance: Utterance
    audio_s: float


@given(
    real_time_factor=st.floats(0.05, 1.0),
    others=st.lists(st.tuples(st.floats(0.2, 6), st.floats(0, 12)), min_size=1, max_size=5),
    newcomer_s=st.floats(0.5, 12),
)
@settings(max_examples=200, deadline=None)
def test_nobody_runs_dry_for_a_newcomer_who_is_let_in(
    real_time_factor: float, others: list[tuple[float, float]], newcomer_s: float
) -> None:
    """Guards the promise of admission and schedule together, in a world of short work items.

    Others play what they have, and are owed more. With items of 0.05 s of audio, nobody may be
    later than the work of one item for each listener and one that cannot be interrupted.
    """
    admission = measured(real_time_factor)
    scheduler: Scheduler[Work] = Scheduler()
    owed_s: dict[Utterance, float] = {}
    for buffer_s, more_s in others:
        owed_s[accepted(admission, playing_until(buffer_s), more_s)] = more_s
    newcomer = new_utterance(waiting_since(0.0), newcomer_s)
    assume(admission.accept(newcomer))
    owed_s[newcomer] = newcomer_s
    item_s = 0.05

    def submit(utterance: Utterance) -> None:
        audio_s = min(item_s, owed_s[utterance])
        if audio_s > 1e-9:
            owed_s[utterance] -= audio_s
            scheduler.submit(utterance, Work(utterance, audio_s))

    for utterance in owed_s:
        submit(utterance)
    now_s, latest_s = 0.0, 0.0
    while (work := scheduler.next()) is not None:
        now_s += real_time_factor * work.audio_s
        listener = work.utterance.listener
        if listener.plays:
            latest_s = max(latest_s, now_s - listener.plays_until_s)
        listener.add_audio(work.audio_s, now_s)
        submit(work.utterance)
    assert latest_s <= (len(owed_s) + 1) * real_time_factor * item_s + 1e-6
    assert not any(owed > 1e-9 for owed in owed_s.values())


@pytest.mark.parametrize(("speed", "is_refused"), [(1.0, False), (2.0, True)])
def test_fast_speech_needs_more_work_for_a_second_of_audio(speed: float, is_refused: bool) -> None:
    """Guards against listeners who underrun because most requests before had another speed."""
    admission = measured(real_time_factor=0.4)
    text = "x" * round(20 * speed)
    assert admission.accept(new_utterance(text=text, speed=speed))
    assert admission.accept(new_utterance(text=text, speed=speed)) is not is_refused


def test_what_fast_speech_costs_says_what_speech_costs_at_other_speeds() -> None:
    """Guards against a real-time factor that depends on the speeds of the latest requests."""
    admission = Admission(1.0)
    utterance = new_utterance(text="x" * 20, speed=2.0)
    assert admission.accept(utterance)
    speak(utterance, 6.4, 10.0)
    admission.end(utterance)
    accepted(admission, Listener(), 20.0)
    accepted(admission, Listener(), 20.0)
    assert refused(admission, Listener(), 20.0)
