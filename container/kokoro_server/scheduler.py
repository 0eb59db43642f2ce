"""Whose work the engine does next: that of the listener who would run dry first.

Pure: time comes in with the calls, on the caller's clock. Work is done in items that are not
interrupted (the prosody of a sentence, one window of it, or a whole sentence), earliest deadline
first: that meets every deadline that can be met if items are short (Liu and Layland, "Scheduling
Algorithms for Multiprogramming in a Hard-Real-Time Environment", 1973). Deadlines do not move on
while work waits, so whoever is overdue comes before everybody who arrived later.
"""

import itertools
from collections import deque

from kokoro_server.listener import Listener
from kokoro_server.utterance import Utterance

RESERVE_S = 2.0
"""The default reserve. Items have a length, and one that makes sure of the first sound of a
newcomer must not cost somebody else a gap. Chosen by `bench.scheduling`: with none, who has just
begun to play is overtaken by whoever comes next, and runs dry; with more, newcomers wait longer
than they need to."""


class Scheduler[Item]:
    """Items of work that wait for the engine, which does one at a time.

    Args:
        reserve_s: How long before a listener runs dry its next work is due, in seconds, for each
            other listener who waits.
    """

    def __init__(self, reserve_s: float = RESERVE_S) -> None:
        self._reserve_s = reserve_s
        # Each listener's work in order, with its places in the order of arrival.
        self._waiting: dict[Listener, deque[tuple[int, Item]]] = {}
        self._places = itertools.count()

    def submit(self, utterance: Utterance, work: Item) -> None:
        """Let `work` on `utterance` wait, after what the same listener waits for already."""
        queue = self._waiting.setdefault(utterance.listener, deque())
        queue.append((next(self._places), work))

    def withdraw(self, utterance: Utterance, work: Item) -> None:
        """Forget `work` on `utterance`, if it still waits."""
        waiting = self._waiting.get(utterance.listener, ())
        kept = deque(entry for entry in waiting if entry[1] is not work)
        if kept:
            self._waiting[utterance.listener] = kept
        else:
            self._waiting.pop(utterance.listener, None)

    def next(self) -> Item | None:
        """Take the work to do now, or None while nothing waits."""
        if not self._waiting:
            return None
        listener = min(self._waiting, key=self.rank)
        queue = self._waiting[listener]
        _, work = queue.popleft()
        if not queue:
            del self._waiting[listener]
        return work

    def rank(self, listener: Listener) -> tuple[float, int]:
        """The lowest is next: by the time its work is due, then by the arrival of that work."""
        reserve_s = self._reserve_s * (len(self._waiting) - 1) if listener.plays else 0.0
        return listener.deadline_s - reserve_s, self._waiting[listener][0][0]

    def is_contended(self, utterance: Utterance) -> bool:
        """Whether work for other listeners than that of `utterance` waits."""
        return any(listener is not utterance.listener for listener in self._waiting)
