"""Whether one more listener can be served without making those run dry who listen already.

Pure, like `scheduler`. The test is for a fluid: a listener whose buffer ends in `b` seconds and who
is still owed `R` seconds of audio needs, within the next `t` seconds, the making of
`min(R, max(0, t - b))` seconds of audio, each of which costs the engine the real-time factor, and
some headroom. If for some `t` all listeners together need more than `t` seconds of work, somebody
will run dry.

Speech is not quite a fluid: it comes in pieces, windows or sentences, of which each must be
complete before its beginning can be played. So the need of one who plays begins a piece before the
buffer ends; playback that has not begun waits for its first piece in any case.
"""

from collections import deque
from dataclasses import dataclass

from kokoro_server.scheduler import Listener

BUSY = "the engine is taken: with one more, those who listen would run dry; try again in seconds"
_REMEMBERED = 32
"""Utterances, or turns, that an estimate looks back on."""
_USUAL_TURN_S = 10.0
"""Of audio, until turns have ended: two or three sentences."""


@dataclass(eq=False)
class Demand:
    """One accepted text, as the engine sees it, and what has been made of it."""

    listener: Listener
    chars: float
    """Of its text at normal speed: at double speed, half as many."""
    arrived_s: float
    work_s: float = 0.0
    """Engine time spent on it."""
    audio_s: float = 0.0
    """Audio handed out, ..."""
    pieces: int = 0
    """... in so many pieces."""

    def hand_out(self, audio_s: float, now_s: float) -> None:
        """`audio_s` seconds of its audio go to the listener."""
        self.audio_s += audio_s
        self.pieces += 1
        self.listener.hears(audio_s, now_s)


class Ratio:
    """A running estimate of a ratio: the weighted median of the last few that were observed.

    The weights are the denominators, so that a few words, which cost more for each second of audio,
    count little; and a median does not follow the one that a busy machine held up.
    """

    def __init__(self) -> None:
        self._observed: deque[tuple[float, float]] = deque(maxlen=_REMEMBERED)

    def observe(self, numerator: float, denominator: float) -> None:
        """Take one observation in; the denominator is positive."""
        self._observed.append((numerator / denominator, denominator))

    @property
    def value(self) -> float | None:
        """The estimate, or None before the first observation."""
        half = sum(weight for _, weight in self._observed) / 2
        for ratio, weight in sorted(self._observed):
            half -= weight
            if half <= 0:
                return ratio
        return None


class Admission:
    """What is in flight, what it will cost, and whether there is room for more.

    Args:
        headroom: for how many times the work that is expected there must be time. More than one,
            because machines have slow spells; with 0 nobody is refused.
    """

    def __init__(self, headroom: float) -> None:
        self._headroom = headroom
        self._in_flight: dict[Listener, list[Demand]] = {}
        self._real_time_factor = Ratio()
        self._audio_s_per_char = Ratio()
        self._piece_s = Ratio()
        self._turn_audio_s = Ratio()

    def accept(self, listener: Listener, chars: float, now_s: float) -> Demand | None:
        """Take a text in, unless that would make others run dry.

        Only a text that begins a turn can be refused: one that comes while others of its listener
        are in flight, or while its listener still has something to play, goes on with a turn that
        was let in, and for that as much was reserved as turns are usually long. A listener who is
        alone is never refused, nor is anything before a first utterance was measured.

        Args:
            listener: whose text it is.
            chars: of the text at normal speed (characters divided by the speed).
            now_s: the caller's clock.

        Returns:
            What to add work and audio up in, for `end`; None if the text is refused.
        """
        demand = Demand(listener, chars, now_s)
        if listener not in self._in_flight and listener.dry_s <= now_s:
            if not self._has_room(demand, now_s):
                return None
            if listener.turn_audio_s > 0:
                self._turn_audio_s.observe(listener.turn_audio_s, 1.0)
                listener.turn_audio_s = 0.0
        self._in_flight.setdefault(listener, []).append(demand)
        return demand

    def end(self, demand: Demand, made: bool) -> None:
        """Nothing more is made of a text; with `made`, because all is, and what it cost counts.

        A second call for the same text does nothing.
        """
        demands = self._in_flight.get(demand.listener, [])
        if demand not in demands:
            return
        demands.remove(demand)
        if not demands:
            del self._in_flight[demand.listener]
        if made and demand.audio_s > 0:
            self.learn(demand)

    def learn(self, demand: Demand) -> None:
        """What a text has cost, all of which was made; before the first, too, as a guess."""
        self._real_time_factor.observe(demand.work_s, demand.audio_s)
        self._audio_s_per_char.observe(demand.audio_s, demand.chars)
        self._piece_s.observe(demand.audio_s, demand.pieces)

    def _has_room(self, newcomer: Demand, now_s: float) -> bool:
        real_time_factor = self._real_time_factor.value
        if not self._in_flight or real_time_factor is None:
            return True
        work_s_per_audio_s = self._headroom * real_time_factor
        everybody = [*self._in_flight.items(), (newcomer.listener, [newcomer])]
        piece_s = self._piece_s.value or 0.0
        needs = [
            (
                listener.left_s(now_s) - piece_s if listener.plays else 0.0,
                self._owed_s(listener, demands),
            )
            for listener, demands in everybody
        ]
        # The surplus of work over time rises from where a listener's need begins to where what it
        # is owed ends, so it is greatest at one of these ends (or now, which is too late to help).
        return all(
            work_s_per_audio_s * sum(min(owed_s, max(0.0, t - from_s)) for from_s, owed_s in needs)
            <= t
            for t in (from_s + owed_s for from_s, owed_s in needs)
            if t > 0
        )

    def _owed_s(self, listener: Listener, demands: list[Demand]) -> float:
        """Seconds of audio: of the texts in flight, or to a usual turn's end if that is more."""
        per_char = self._audio_s_per_char.value or 0.0
        known = sum(max(0.0, per_char * demand.chars - demand.audio_s) for demand in demands)
        begun = listener.turn_audio_s if listener in self._in_flight else 0.0
        usual = self._turn_audio_s.value
        return max(known, (_USUAL_TURN_S if usual is None else usual) - begun)
