"""Who is served next."""

from operator import itemgetter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from kokoro_server.playback import Listener
from kokoro_server.scheduler import RESERVE_S, Scheduler
from kokoro_server.utterance import Utterance
from tests.utterances import new_utterance, playing_until, waiting_since


class AnySchedule(RuleBasedStateMachine):
    """Guards against lost, doubled, withdrawn or reordered work, in any order of events.

    Also that the listener whose work is due first is next, and ties go to who came first.
    """

    def __init__(self) -> None:
        super().__init__()
        self.scheduler: Scheduler[int] = Scheduler()
        self.utterances = [new_utterance() for _ in range(3)]
        self.waiting: dict[int, Utterance] = {}
        """Work items, numbered in order of arrival."""
        self.submitted = 0
        self.now_s = 0.0

    listener = st.integers(0, 2)
    seconds = st.floats(0, 10)

    @rule(which=listener)
    def submit(self, which: int) -> None:
        self.scheduler.submit(self.utterances[which], self.submitted)
        self.waiting[self.submitted] = self.utterances[which]
        self.submitted += 1

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        work = data.draw(st.sampled_from(sorted(self.waiting)))
        self.scheduler.withdraw(self.waiting.pop(work), work)

    @rule(which=listener)
    def withdraw_what_does_not_wait(self, which: int) -> None:
        self.scheduler.withdraw(self.utterances[which], -1)

    @rule(which=listener, audio_s=seconds)
    def audio_is_handed_out(self, which: int, audio_s: float) -> None:
        self.utterances[which].listener.add_audio(audio_s, self.now_s)

    @rule(which=listener, ago_s=seconds)
    def await_audio(self, which: int, ago_s: float) -> None:
        self.utterances[which].listener.await_audio(self.now_s - ago_s)

    @rule(which=listener)
    def interrupt(self, which: int) -> None:
        self.utterances[which].listener.interrupt(self.now_s)

    @rule(later_s=seconds)
    def time_passes(self, later_s: float) -> None:
        self.now_s += later_s

    @rule()
    def next(self) -> None:
        first: dict[Utterance, int] = {}
        for work, utterance in sorted(self.waiting.items(), key=itemgetter(0)):
            first.setdefault(utterance, work)

        def due(work: int) -> float:
            listener = self.waiting[work].listener
            reserve_s = RESERVE_S * (len(first) - 1) if listener.plays else 0.0
            return listener.deadline_s - reserve_s

        work = self.scheduler.next()
        if work is None:
            assert not self.waiting
            return
        assert work in first.values()
        assert all((due(work), work) <= (due(other), other) for other in first.values())
        del self.waiting[work]


TestAnySchedule = AnySchedule.TestCase
TestAnySchedule.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)


def order(*listeners: Listener) -> list[int]:
    """The order of service of listeners that submit one item each, in the given order."""
    scheduler: Scheduler[int] = Scheduler()
    for number, listener in enumerate(listeners):
        scheduler.submit(new_utterance(listener), number)
    return [number for _ in listeners if (number := scheduler.next()) is not None]


def test_a_newcomer_comes_before_those_who_have_enough() -> None:
    """Guards against a first sound that waits for work that is not due yet."""
    assert order(playing_until(9.0), waiting_since(1.0), playing_until(8.0)) == [1, 2, 0]


def test_whoever_is_overdue_is_not_overtaken_by_newcomers() -> None:
    """Guards against starvation of waiting listeners by a stream of newcomers.

    Nor may it those who have begun to play, of whom each has little.
    """
    dry, begun = playing_until(0.5), playing_until(2.0)
    assert order(waiting_since(1.0), waiting_since(0.9), begun, dry)[:2] == [3, 2]


def test_a_listener_waits_since_its_text_came_however_many_steps_that_takes() -> None:
    """Guards against a newcomer that loses its place between prosody and first window."""
    early, late = waiting_since(1.0), waiting_since(2.0)
    assert order(late, early) == [1, 0]
    early.await_audio(1.0)
    assert order(late, early) == [1, 0]


def test_who_interrupts_is_a_newcomer() -> None:
    """Guards against a reply after a barge-in that waits for the cancelled reply's end."""
    listener = playing_until(30.0)
    listener.interrupt(3.0)
    listener.await_audio(4.0)
    assert order(playing_until(9.0), listener) == [1, 0]


def test_the_reserve_is_passed_in() -> None:
    """Guards against a reserve that all schedulers of the process share."""
    for reserve_s, first in ((0.0, 2), (5.0, 1)):
        scheduler: Scheduler[int] = Scheduler(reserve_s)
        scheduler.submit(new_utterance(playing_until(4.0)), 1)
        scheduler.submit(new_utterance(waiting_since(1.0)), 2)
        assert scheduler.next() == first
