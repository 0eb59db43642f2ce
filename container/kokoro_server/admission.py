"""Admission control: whether one more listener can be served without causing buffer underruns.

A listener underruns when it has played all audio it was sent and the next audio is not there yet.
Like `scheduler`, this module is pure: the caller passes in the time. The test treats speech as a
fluid. Take a listener whose buffer ends in `b` seconds and who is still owed `R` seconds of audio.
Within the next `t` seconds it needs `min(R, max(0, t - b))` seconds of audio. Each of them costs
the engine the real-time factor, times the request's `work` and some headroom. If all listeners
together need more than `t` seconds of work for some `t`, one of them will underrun.

In fact speech comes in chunks (windows or sentences), and the whole chunk must be complete before
its beginning can be played. So the need of a listener that is playing begins one chunk before its
buffer ends. A listener whose playback has not begun waits for its first chunk in any case.
"""

from collections import deque

from kokoro_server.playback import Listener
from kokoro_server.utterance import Utterance, UtteranceState

BUSY = "the server is at capacity; try again in a few seconds"
_REMEMBERED = 32
"""The number of recent utterances, or turns, that an estimate is based on."""
_USUAL_TURN_S = 10.0
"""Assumed audio of a turn, in seconds, until a turn has ended: two or three sentences."""


class Ratio:
    """A running estimate of a ratio: the weighted median of the most recent observations.

    The weights are the denominators. So short texts, which cost more per second of audio, count
    little. A median also ignores single utterances that a busy machine delayed.
    """

    def __init__(self) -> None:
        self._observed: deque[tuple[float, float]] = deque(maxlen=_REMEMBERED)

    def observe(self, numerator: float, denominator: float) -> None:
        """Add an observation. The denominator must be positive."""
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
    """Tracks the utterances in flight and their expected cost, and admits more if there is room.

    Args:
        headroom: There must be time for this many times the expected work. The factor is above 1
            because machines have slow spells; 0 admits every utterance.
    """

    def __init__(self, headroom: float) -> None:
        self._headroom = headroom
        self._in_flight: dict[Listener, list[Utterance]] = {}
        self._real_time_factor = Ratio()
        self._audio_s_per_char = Ratio()
        self._chunk_s = Ratio()
        self._turn_audio_s = Ratio()

    def accept(self, utterance: Utterance) -> bool:
        """Admit an utterance, unless that would make other listeners underrun.

        Only an utterance that begins a turn can be refused. One that arrives while others of its
        listener are in flight, or while its listener still has audio to play, continues a turn
        that was admitted, and the time of a usual turn was reserved for that. A listener is never
        refused while it is alone, nor is anything before the first utterance has been measured.

        Returns:
            Whether it is admitted. If so, `end` must be called later.
        """
        listener, now_s = utterance.listener, utterance.received_s
        if listener not in self._in_flight and listener.buffered_s(now_s) == 0:
            if not self._has_room(utterance, now_s):
                return False
            if listener.turn_audio_s > 0:
                self._turn_audio_s.observe(listener.turn_audio_s, 1.0)
                listener.turn_audio_s = 0.0
        self._in_flight.setdefault(listener, []).append(utterance)
        return True

    def end(self, utterance: Utterance) -> None:
        """Release an utterance that has ended. If it is complete, its cost counts as a measurement.

        A second call for the same utterance has no effect.
        """
        in_flight = self._in_flight.get(utterance.listener, [])
        if utterance not in in_flight:
            return
        in_flight.remove(utterance)
        if not in_flight:
            del self._in_flight[utterance.listener]
        if utterance.state is UtteranceState.COMPLETE and utterance.tally.spoken_s > 0:
            self.learn(utterance)

    def learn(self, utterance: Utterance) -> None:
        """Record the cost of a complete utterance. Warm-up calls it, too, to give a first guess."""
        tally = utterance.tally
        self._real_time_factor.observe(tally.engine_s, tally.spoken_s * utterance.request.work)
        self._audio_s_per_char.observe(tally.spoken_s, utterance.request.chars)
        self._chunk_s.observe(tally.spoken_s, tally.chunks)

    def _has_room(self, newcomer: Utterance, now_s: float) -> bool:
        real_time_factor = self._real_time_factor.value
        if not self._in_flight or real_time_factor is None:
            return True
        work_s_per_audio_s = self._headroom * real_time_factor
        everybody = [*self._in_flight.items(), (newcomer.listener, [newcomer])]
        chunk_s = self._chunk_s.value or 0.0
        needs = [
            (
                listener.buffered_s(now_s) - chunk_s if listener.plays else 0.0,
                self._owed_s(listener, utterances),
                max(utterance.request.work for utterance in utterances),
            )
            for listener, utterances in everybody
        ]
        # The excess of work over time grows from where a listener's need begins to where all it is
        # owed is needed. So it is greatest at one of these ends (or now, when it is too late).
        return all(
            work_s_per_audio_s
            * sum(work * min(owed_s, max(0.0, t - from_s)) for from_s, owed_s, work in needs)
            <= t
            for t in (from_s + owed_s for from_s, owed_s, _ in needs)
            if t > 0
        )

    def _owed_s(self, listener: Listener, utterances: list[Utterance]) -> float:
        """Seconds of audio owed: what is in flight, or the rest of a usual turn if that is more."""
        per_char = self._audio_s_per_char.value or 0.0
        known_s = sum(
            max(0.0, per_char * utterance.request.chars - utterance.tally.audio_s)
            for utterance in utterances
        )
        begun_s = listener.turn_audio_s if listener in self._in_flight else 0.0
        usual_s = self._turn_audio_s.value
        return max(known_s, (_USUAL_TURN_S if usual_s is None else usual_s) - begun_s)
