"""Who is served next, who is let in, and whether those who are let in run dry."""

from dataclasses import dataclass

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from kokoro_server.admission import Admission, Demand, Ratio
from kokoro_server.scheduler import RESERVE_S, Listener, Scheduler


class AnySchedule(RuleBasedStateMachine):
    """Guards against lost, doubled, withdrawn or reordered work, in any order of events.

    Also that the listener whose work is due first is next, and ties go to who came first.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scheduler: Scheduler[int] = Scheduler()
        self.listeners = [Listener() for _ in range(3)]
        self.waiting: dict[int, Listener] = {}
        """Units, which are numbered as they arrive."""
        self.submitted = 0
        self.now_s = 0.0

    listener = st.integers(0, 2)
    seconds = st.floats(0, 10)

    @rule(which=listener)
    def submit(self, which: int) -> None:
        self.scheduler.submit(self.listeners[which], self.submitted)
        self.waiting[self.submitted] = self.listeners[which]
        self.submitted += 1

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        unit = data.draw(st.sampled_from(sorted(self.waiting)))
        self.scheduler.withdraw(self.waiting.pop(unit), unit)

    @rule(which=listener)
    def withdraw_what_does_not_wait(self, which: int) -> None:
        self.scheduler.withdraw(self.listeners[which], -1)

    @rule(which=listener, audio_s=seconds)
    def hears(self, which: int, audio_s: float) -> None:
        self.listeners[which].hears(audio_s, self.now_s)

    @rule(which=listener, ago_s=seconds)
    def wants(self, which: int, ago_s: float) -> None:
        self.listeners[which].wants(self.now_s - ago_s)

    @rule(which=listener)
    def interrupts(self, which: int) -> None:
        self.listeners[which].interrupts(self.now_s)

    @rule(later_s=seconds)
    def time_passes(self, later_s: float) -> None:
        self.now_s += later_s

    @rule()
    def next(self) -> None:
        first: dict[Listener, int] = {}
        for unit, listener in sorted(self.waiting.items()):
            first.setdefault(listener, unit)

        def due(unit: int) -> float:
            listener = self.waiting[unit]
            reserve_s = RESERVE_S * (len(first) - 1) if listener.plays else 0.0
            return listener.dry_s - reserve_s

        unit = self.scheduler.next()
        if unit is None:
            assert not self.waiting
            return
        assert unit in first.values()
        assert all((due(unit), unit) <= (due(other), other) for other in first.values())
        del self.waiting[unit]


TestAnySchedule = AnySchedule.TestCase
TestAnySchedule.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)


def waiting_since(now_s: float) -> Listener:
    listener = Listener()
    listener.wants(now_s)
    return listener


def playing_until(dry_s: float) -> Listener:
    listener = waiting_since(0.0)
    listener.hears(dry_s, 0.0)
    return listener


def order(*listeners: Listener) -> list[int]:
    """In which order these are served, who submit one unit each in the order of the arguments."""
    scheduler: Scheduler[int] = Scheduler()
    for number, listener in enumerate(listeners):
        scheduler.submit(listener, number)
    return [number for _ in listeners if (number := scheduler.next()) is not None]


def test_a_newcomer_comes_before_those_who_have_enough() -> None:
    """Guards against a first sound that waits for work that nobody needs yet."""
    assert order(playing_until(9.0), waiting_since(1.0), playing_until(8.0)) == [1, 2, 0]


def test_whoever_is_overdue_is_not_overtaken_by_newcomers() -> None:
    """Guards against starvation: a stream of newcomers must not keep those waiting who came first.

    Nor may it those who have begun to play, of whom each has little.
    """
    dry, begun = playing_until(0.5), playing_until(2.0)
    assert order(waiting_since(1.0), waiting_since(0.9), begun, dry)[:2] == [3, 2]


def test_a_listener_waits_since_its_text_came_however_many_units_that_takes() -> None:
    """Guards against a newcomer whose place in the order is lost between prosody and window."""
    early, late = waiting_since(1.0), waiting_since(2.0)
    assert order(late, early) == [1, 0]
    early.wants(1.0)
    assert order(late, early) == [1, 0]


def test_a_text_that_came_in_time_does_not_excuse_running_dry() -> None:
    """Guards against an overdue listener who loses its place when its next sentence begins."""
    listener = playing_until(2.0)
    listener.wants(1.0)
    assert (listener.dry_s, listener.plays) == (2.0, True)
    listener.wants(5.0)
    assert (listener.dry_s, listener.plays) == (5.0, False)


def test_playback_restarts_where_it_ran_dry() -> None:
    """Guards against audio that counts from a moment at which nobody played it."""
    listener = playing_until(2.0)
    listener.hears(1.0, 1.5)
    assert listener.dry_s == 3.0
    listener.hears(1.0, 10.0)
    assert listener.dry_s == 11.0


def test_who_interrupts_is_a_newcomer() -> None:
    """Guards against a reply after barge-in that waits until the dropped one would have ended."""
    listener = playing_until(30.0)
    listener.interrupts(3.0)
    listener.wants(4.0)
    assert order(playing_until(9.0), listener) == [1, 0]


# -- Admission -------------------------------------------------------------------------------


def measured(real_time_factor: float, headroom: float = 1.0, piece_s: float = 0.1) -> Admission:
    """An admission that has seen speech of one second for each character, in pieces."""
    admission = Admission(headroom)
    demand = admission.accept(Listener(), 10.0, 0.0)
    assert demand is not None
    demand.work_s = 10.0 * real_time_factor
    for _ in range(round(10.0 / piece_s)):
        demand.hand_out(piece_s, 0.0)
    admission.end(demand, made=True)
    return admission


def test_what_does_not_fit_is_refused_and_fits_when_others_have_ended() -> None:
    """Guards against letting in more than the engine can do, and against room not given back."""
    admission = measured(real_time_factor=0.4)
    first, second, third = (Listener() for _ in range(3))
    demands = [admission.accept(listener, 20.0, 0.0) for listener in (first, second)]
    assert all(demands)
    assert admission.accept(third, 20.0, 0.0) is None
    assert demands[0] is not None
    admission.end(demands[0], made=False)
    admission.end(demands[0], made=False)  # as when an utterance is dropped that was finished
    accepted = admission.accept(third, 20.0, 0.0)
    assert accepted is not None
    assert admission.accept(first, 20.0, 0.0) is None


def test_what_has_been_made_already_is_not_counted_again() -> None:
    """Guards against refusing a newcomer while the others have all they need, or nearly."""
    admission = measured(real_time_factor=0.7)
    demand = admission.accept(Listener(), 20.0, 0.0)
    assert demand is not None
    assert admission.accept(Listener(), 5.0, 0.0) is None
    demand.hand_out(19.0, 0.0)
    assert admission.accept(Listener(), 5.0, 17.0) is not None


def test_the_next_piece_must_be_complete_before_the_buffer_ends() -> None:
    """Guards against gaps where speech is made sentence by sentence: a fluid would be in time."""
    for piece_s, taken in ((0.1, True), (5.0, False)):
        admission = measured(real_time_factor=0.6, piece_s=piece_s)
        demand = admission.accept(Listener(), 10.0, 0.0)
        assert demand is not None
        demand.hand_out(4.0, 0.0)
        assert (admission.accept(Listener(), 6.0, 0.0) is not None) is taken


def test_only_the_beginning_of_a_turn_is_refused() -> None:
    """Guards against half a reply: what is let in goes on, in flight or still playing."""
    admission = measured(real_time_factor=0.6)
    speaking, other = Listener(), Listener()
    demand = admission.accept(speaking, 10.0, 0.0)
    assert demand is not None
    assert admission.accept(other, 10.0, 0.0) is None
    assert admission.accept(speaking, 100.0, 0.0) is not None
    demand.hand_out(10.0, 0.0)
    admission.end(demand, made=True)
    assert admission.accept(speaking, 100.0, 9.0) is not None


def test_a_turn_in_flight_has_room_reserved_for_the_rest_of_it() -> None:
    """Guards against letting somebody in between two sentences of somebody else's reply."""
    admission = measured(real_time_factor=0.7)
    speaking = Listener()
    for _ in range(4):
        demand = admission.accept(speaking, 5.0, 0.0)
        assert demand is not None
        demand.work_s = 3.5
        demand.hand_out(5.0, 0.0)
        admission.end(demand, made=True)
    # Of the second turn, the first sentence is nearly made; by the first turn, 16 s will follow.
    demand = admission.accept(speaking, 5.0, 100.0)
    assert demand is not None
    demand.hand_out(4.0, 100.0)
    assert admission.accept(Listener(), 20.0, 100.0) is None
    admission.end(demand, made=True)
    assert admission.accept(Listener(), 20.0, 100.0) is not None


@given(
    real_time_factor=st.floats(0.01, 20),
    chars=st.floats(0.1, 1e5),
    turns=st.integers(1, 5),
)
@settings(max_examples=50, deadline=None)
def test_who_is_alone_is_never_refused(real_time_factor: float, chars: float, turns: int) -> None:
    """Guards against a slow laptop that does not speak at all."""
    admission = measured(real_time_factor)
    listener, now_s = Listener(), 1.0
    for _ in range(turns):
        demand = admission.accept(listener, chars, now_s)
        assert demand is not None
        demand.work_s = chars * real_time_factor
        demand.hand_out(chars, now_s)
        admission.end(demand, made=True)
        now_s = listener.dry_s + 1.0


def test_nothing_is_refused_before_anything_was_measured() -> None:
    """Guards against a cold server that refuses by a guess."""
    admission = Admission(headroom=1.0)
    assert all(admission.accept(Listener(), 1e6, 0.0) for _ in range(50))


def test_a_cold_server_reserves_room_for_a_usual_turn() -> None:
    """Guards against letting in, by their first sentences, whoever calls in the first seconds."""
    admission = measured(real_time_factor=0.6)
    assert admission.accept(Listener(), 3.0, 0.0) is not None
    assert admission.accept(Listener(), 3.0, 0.0) is None


def test_what_is_learned_before_the_first_text_counts() -> None:
    """Guards against a fresh server that lets everybody in until a first text has ended."""
    admission = Admission(headroom=1.0)
    admission.learn(Demand(Listener(), 10.0, 0.0, work_s=6.0, audio_s=10.0, pieces=10))
    assert admission.accept(Listener(), 10.0, 0.0) is not None
    assert admission.accept(Listener(), 10.0, 0.0) is None


@pytest.mark.parametrize(("headroom", "taken"), [(1.0, True), (1.1, False), (0.0, True)])
def test_headroom_is_for_how_much_more_work_there_must_be_time(
    headroom: float, taken: bool
) -> None:
    """Guards against a setting without effect."""
    admission = measured(0.49, headroom)
    assert admission.accept(Listener(), 10.0, 0.0) is not None
    # 9.8 s of work for 10 s of audio.
    assert (admission.accept(Listener(), 10.0, 0.0) is not None) is taken


def test_estimates_follow_the_usual_and_forget() -> None:
    """Guards against an estimate that one stall or many one-word texts make useless."""
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


# -- Both together ---------------------------------------------------------------------------


@dataclass
class Unit:
    listener: Listener
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
    """Guards the promise of admission and schedule together, in a world of short units.

    Others play what they have, and are owed more. With units of 0.05 s of audio, nobody may be
    later than the work of one unit for each listener and one that cannot be interrupted.
    """
    admission = measured(real_time_factor)
    scheduler: Scheduler[Unit] = Scheduler()
    owed_s: dict[Listener, float] = {}
    for buffer_s, more_s in others:
        listener = playing_until(buffer_s)
        assert admission.accept(listener, more_s, 0.0) is not None
        owed_s[listener] = more_s
    newcomer = waiting_since(0.0)
    assume(admission.accept(newcomer, newcomer_s, 0.0) is not None)
    owed_s[newcomer] = newcomer_s
    unit_s = 0.05

    def submit(listener: Listener) -> None:
        audio_s = min(unit_s, owed_s[listener])
        if audio_s > 1e-9:
            owed_s[listener] -= audio_s
            scheduler.submit(listener, Unit(listener, audio_s))

    for listener in owed_s:
        submit(listener)
    now_s, latest_s = 0.0, 0.0
    while (unit := scheduler.next()) is not None:
        now_s += real_time_factor * unit.audio_s
        if unit.listener.plays:
            latest_s = max(latest_s, now_s - unit.listener.dry_s)
        unit.listener.hears(unit.audio_s, now_s)
        submit(unit.listener)
    assert latest_s <= (len(owed_s) + 1) * real_time_factor * unit_s + 1e-6
    assert not any(owed > 1e-9 for owed in owed_s.values())
