"""Whose work the engine does next: that of the listener who would run dry first.

Pure: time comes in with the calls, on the caller's clock. Work is done in units that are not
interrupted (the prosody of a sentence, one window of it, or a whole sentence), earliest deadline
first: that meets every deadline that can be met if units are short (Liu and Layland, "Scheduling
Algorithms for Multiprogramming in a Hard-Real-Time Environment", 1973). Deadlines do not move on
while work waits, so whoever is overdue comes before everybody who arrived later.
"""

import itertools
import math
from collections import deque

RESERVE_S = 2.0
"""The default reserve. Units have a length, and one that makes sure of the first sound of a
newcomer must not cost somebody else a gap. Chosen by `bench.scheduling`: with none, who has just
begun to play is overtaken by whoever comes next, and runs dry; with more, newcomers wait longer
than they need to."""


class Listener:
    """One session's playback, as far as the server can know it.

    Clients start to play at the first audio, and where they ran dry, again with the next.
    """

    def __init__(self) -> None:
        self.dry_s = -math.inf
        """When it has played what was handed out; if nothing was since it began to wait, when it
        began."""
        self.plays = False
        """Whether audio was handed out since it began to wait."""
        self.turn_audio_s = 0.0
        """Seconds of audio handed out in this turn; `Admission` says when one begins."""

    def left_s(self, now_s: float) -> float:
        """Seconds of audio that it has left to play."""
        return max(0.0, self.dry_s - now_s)

    def wants(self, since_s: float) -> None:
        """The utterance that is made next arrived at `since_s`."""
        if self.dry_s <= since_s:
            self.dry_s = since_s
            self.plays = False

    def hears(self, audio_s: float, now_s: float) -> None:
        """`audio_s` seconds of audio have been handed out."""
        self.dry_s = max(self.dry_s, now_s) + audio_s
        self.plays = True
        self.turn_audio_s += audio_s

    def interrupts(self, now_s: float) -> None:
        """What was handed out is not played to its end."""
        self.dry_s = min(self.dry_s, now_s)
        self.plays = False


class Scheduler[Unit]:
    """Units of work that wait for the engine, which does one at a time.

    Args:
        reserve_s: how long before a listener runs dry its next work is due, for each other listener
            who waits.
    """

    def __init__(self, reserve_s: float = RESERVE_S) -> None:
        self._reserve_s = reserve_s
        # Each listener's units in order, with their places in the order of arrival.
        self._waiting: dict[Listener, deque[tuple[int, Unit]]] = {}
        self._places = itertools.count()

    def submit(self, listener: Listener, unit: Unit) -> None:
        """Let `unit` wait, after what the same listener waits for already."""
        self._waiting.setdefault(listener, deque()).append((next(self._places), unit))

    def withdraw(self, listener: Listener, unit: Unit) -> None:
        """Forget `unit`, if it still waits."""
        kept = deque(entry for entry in self._waiting.get(listener, ()) if entry[1] is not unit)
        if kept:
            self._waiting[listener] = kept
        else:
            self._waiting.pop(listener, None)

    def next(self) -> Unit | None:
        """Take the unit to do now, or None while nothing waits."""
        if not self._waiting:
            return None
        listener = min(self._waiting, key=self.rank)
        units = self._waiting[listener]
        _, unit = units.popleft()
        if not units:
            del self._waiting[listener]
        return unit

    def rank(self, listener: Listener) -> tuple[float, int]:
        """The lowest is next: by the time its work is due, then by the arrival of that work."""
        reserve_s = self._reserve_s * (len(self._waiting) - 1) if listener.plays else 0.0
        return listener.dry_s - reserve_s, self._waiting[listener][0][0]

    def others_wait(self, listener: Listener) -> bool:
        """Whether anybody else's work waits."""
        return any(other is not listener for other in self._waiting)
