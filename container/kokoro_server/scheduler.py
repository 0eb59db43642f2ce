"""Scheduling of the engine: the listener whose buffer would underrun first is served next.

This module is pure: the caller passes in the time, on its own clock. A unit of work (the prosody of
a sentence, one window of it, or a whole sentence) is not interrupted. Units are done earliest
deadline first. With short units, that meets every deadline that can be met (Liu and Layland,
"Scheduling Algorithms for Multiprogramming in a Hard-Real-Time Environment", 1973). Deadlines do
not move while work is waiting, so overdue work precedes all work that arrives later.
"""

import itertools
from collections import deque

from kokoro_server.playback import Listener
from kokoro_server.utterance import Utterance

RESERVE_S = 2.0
"""The default reserve, in seconds. A unit of work takes time, so a newcomer's first sound could
cause another listener's underrun. Chosen with `bench.scheduling`. Without a reserve, a listener
that has just started to play is overtaken by the next newcomer, and underruns. With a longer one,
newcomers wait longer than necessary."""


class Scheduler[Item]:
    """Units of work that wait for the engine, which does one at a time.

    Args:
        reserve_s: Work for a listener that is playing is due this long before its buffer ends, in
            seconds, for each other listener that is waiting.
    """

    def __init__(self, reserve_s: float = RESERVE_S) -> None:
        self._reserve_s = reserve_s
        # The work of each listener in order, with sequence numbers in order of arrival.
        self._waiting: dict[Listener, deque[tuple[int, Item]]] = {}
        self._places = itertools.count()

    def submit(self, utterance: Utterance, work: Item) -> None:
        """Queue `work` on `utterance` behind other work for the same listener."""
        queue = self._waiting.setdefault(utterance.listener, deque())
        queue.append((next(self._places), work))

    def withdraw(self, utterance: Utterance, work: Item) -> None:
        """Remove `work` on `utterance` from the queue, if it is still there."""
        waiting = self._waiting.get(utterance.listener, ())
        kept = deque(entry for entry in waiting if entry[1] is not work)
        if kept:
            self._waiting[utterance.listener] = kept
        else:
            self._waiting.pop(utterance.listener, None)

    def next(self) -> Item | None:
        """Remove and return the work to do now, or None if nothing is waiting."""
        if not self._waiting:
            return None
        listener = min(self._waiting, key=self.rank)
        queue = self._waiting[listener]
        _, work = queue.popleft()
        if not queue:
            del self._waiting[listener]
        return work

    def rank(self, listener: Listener) -> tuple[float, int]:
        """Rank by the time at which the work is due, then by its arrival. The lowest is next."""
        reserve_s = self._reserve_s * (len(self._waiting) - 1) if listener.plays else 0.0
        return listener.deadline_s - reserve_s, self._waiting[listener][0][0]

    def is_contended(self, utterance: Utterance) -> bool:
        """Whether work is waiting for listeners other than that of `utterance`."""
        return any(listener is not utterance.listener for listener in self._waiting)
