"""Whose work the engine does next: that of the listener who would run dry first.

Pure: time comes in with the calls, on the caller's clock. Work is done in units that are not
interrupted (the prosody of a sentence, one window of it, or a whole sentence). Earliest deadline
first meets every deadline that can be met if units are short (Liu and Layland, "Scheduling
Algorithms for Multiprogramming in a Hard-Real-Time Environment", 1973); deadlines do not move while
work waits, so that whoever is overdue comes before everybody who arrived later.
"""

import itertools
import math
from collections import deque


class Listener:
    """One session's playback, as far as the server can know it.

    Clients start to play at the first audio, and where they ran dry, again with the next.
    """

    def __init__(self) -> None:
        self.due_s = -math.inf
        """When the next audio is due: what was handed out has been played then, or, if it has been
        already, the listener has waited since."""
        self.turn_audio_s = 0.0
        """Seconds of audio handed out in this turn; `Admission` says when one begins."""

    def wants(self, since_s: float) -> None:
        """The utterance that is made next arrived at `since_s`."""
        self.due_s = max(self.due_s, since_s)

    def hears(self, audio_s: float, now_s: float) -> None:
        """`audio_s` seconds of audio have been handed out."""
        self.due_s = max(self.due_s, now_s) + audio_s
        self.turn_audio_s += audio_s

    def interrupts(self, now_s: float) -> None:
        """What was handed out is not played to its end."""
        self.due_s = min(self.due_s, now_s)


class Scheduler[Unit]:
    """Units of work that wait for the engine, which does one at a time."""

    def __init__(self) -> None:
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
        """The lowest is next: by deadline, then by the arrival of the listener's first unit."""
        return listener.due_s, self._waiting[listener][0][0]
