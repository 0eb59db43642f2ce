"""Whether one more listener can be served without making those run dry who listen already.

Pure, like `scheduler`. The test is for a fluid: a listener whose buffer ends in `b` seconds and who
is still owed `R` seconds of audio needs, within the next `t` seconds, the synthesis of
`min(R, max(0, t - b))` seconds of audio, each of which costs the engine the real-time factor, and
some headroom. If for some `t` all listeners together need more than `t` seconds of work, somebody
will run dry.

Speech is not quite a fluid: it comes in chunks, windows or sentences, of which each must be
complete before its beginning can be played. So the need of one who plays begins a chunk before the
buffer ends; playback that has not begun waits for its first chunk in any case.
"""

from collections import deque

from kokoro_server.listener import Listener
from kokoro_server.utterance import Utterance, UtteranceState

BUSY = "the engine is taken: with one more, those who listen would run dry; try again in seconds"
_REMEMBERED = 32
"""Utterances, or turns, that an estimate looks back on."""
_USUAL_TURN_S = 10.0
"""Of audio, until turns have ended: two or three sentences."""


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
        headroom: For how many times the work that is expected there must be time. More than one,
            because machines have slow spells; with 0 nobody is refused.
    """

    def __init__(self, headroom: float) -> None:
        self._headroom = headroom
        self._in_flight: dict[Listener, list[Utterance]] = {}
        self._real_time_factor = Ratio()
        self._audio_s_per_char = Ratio()
        self._chunk_s = Ratio()
        self._turn_audio_s = Ratio()

    def accept(self, utterance: Utterance) -> bool:
        """Take an utterance in, unless that would make others run dry.

        Only an utterance that begins a turn can be refused: one that arrives while others of its
        listener are in flight, or while its listener still has something to play, goes on with a
        turn that was let in, and for that as much was reserved as turns are usually long. A
        listener who is alone is never refused, nor is anything before a first utterance was
        measured.

        Returns:
            Whether it is let in; then `end` must follow.
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
        """Let go of an utterance that has ended; if it is complete, what it cost counts.

        A second call for the same utterance does nothing.
        """
        in_flight = self._in_flight.get(utterance.listener, [])
        if utterance not in in_flight:
            return
        in_flight.remove(utterance)
        if not in_flight:
            del self._in_flight[utterance.listener]
        if utterance.state is UtteranceState.COMPLETE and utterance.tally.audio_s > 0:
            self.learn(utterance)

    def learn(self, utterance: Utterance) -> None:
        """Observe what a complete utterance has cost; before the first, a guess may do."""
        tally = utterance.tally
        self._real_time_factor.observe(tally.engine_s, tally.audio_s)
        self._audio_s_per_char.observe(tally.audio_s, utterance.request.chars)
        self._chunk_s.observe(tally.audio_s, tally.chunks)

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
            )
            for listener, utterances in everybody
        ]
        # The surplus of work over time rises from where a listener's need begins to where what it
        # is owed ends, so it is greatest at one of these ends (or now, which is too late to help).
        return all(
            work_s_per_audio_s * sum(min(owed_s, max(0.0, t - from_s)) for from_s, owed_s in needs)
            <= t
            for t in (from_s + owed_s for from_s, owed_s in needs)
            if t > 0
        )

    def _owed_s(self, listener: Listener, utterances: list[Utterance]) -> float:
        """Seconds of audio: of what is in flight, or to a usual turn's end if that is more."""
        per_char = self._audio_s_per_char.value or 0.0
        known_s = sum(
            max(0.0, per_char * utterance.request.chars - utterance.tally.audio_s)
            for utterance in utterances
        )
        begun_s = listener.turn_audio_s if listener in self._in_flight else 0.0
        usual_s = self._turn_audio_s.value
        return max(known_s, (_USUAL_TURN_S if usual_s is None else usual_s) - begun_s)
