"""Samples between the engine and whoever encodes them: trimming and silence."""

import numpy as np
import numpy.typing as npt

SAMPLE_RATE_HZ = 24_000

Samples = npt.NDArray[np.float32]

_BLOCK = SAMPLE_RATE_HZ // 100
"""Samples in the 10 ms blocks in which loudness is looked at."""
_LEAD, _TAIL, _FADE = 4 * _BLOCK, 8 * _BLOCK, _BLOCK
"""Samples that are kept before and after speech, and faded at either end of what is kept."""
_FLOOR = 10 ** (-65 / 10)
"""Power of the quietest sound; full scale is 1. The loudest block of a sentence is at -16 to -5 dB,
depending on the voice, what the model has before speech below -65 dB."""
_RANGE = 10 ** (-45 / 10)
"""Of power, below the loudest block so far. The model ends with noise at about -57 dB."""


class Trimmer:
    """Speech without the silence and noise the model puts around it, while it is being synthesized.

    The model leaves about 0.3 s before and 0.5 s after a text. What comes out begins at most 0.04 s
    before the first audible block of 10 ms and ends at most 0.08 s after the last, faded in and out
    over 0.01 s so that no cut is heard as a click.

    Whether a block is audible depends on it and the blocks before it alone, so what comes out, put
    together, does not depend on how the audio is cut into pushes. Sound is held back for less than
    0.02 s; silence until something audible follows, unless it is known that it will.

    For one text; the next takes another.
    """

    def __init__(self) -> None:
        self.dropped_samples = 0
        """How many samples in front are left out; final once something has come out."""
        self._held = np.zeros(0, np.float32)
        self._judged = 0
        """Samples at the beginning of `_held` whose loudness was looked at."""
        self._loudest = 0.0
        self._sounding = False

    def push(self, samples: Samples, speech_follows: bool = False) -> Samples:
        """Take the next audio and return what may be sent now, perhaps nothing.

        Args:
            samples: float audio, shape (n,).
            speech_follows: whether it is known that the speech goes on after them: what is silent
                now is a pause, which a listener may hear while the rest is being decoded.
        """
        self._held = np.concatenate([self._held, samples])
        audible = self._audible()
        dropped = 0
        if not self._sounding:
            onset = audible[0] if audible else self._judged
            dropped = len(self._take(onset - _LEAD))
            self.dropped_samples += dropped
            if audible:
                self._sounding = True
                self._held[:_FADE] *= _ramp()
        if speech_follows and self._sounding:
            return self._take(self._judged)
        # What is the last of the sound so far may be the last of all, to be faded out.
        return self._take(audible[-1] + _BLOCK - _FADE - dropped if audible else 0)

    def end(self) -> Samples:
        """What is left to be sent; nothing if nothing was audible."""
        if not self._sounding:
            return self._held[:0]
        kept = self._held[: _FADE + _TAIL].copy()
        fade = min(_FADE, len(kept))
        kept[len(kept) - fade :] *= _ramp()[:fade][::-1]
        return kept

    def _audible(self) -> list[int]:
        """Where in `_held` the audible ones among the new blocks begin."""
        count = (len(self._held) - self._judged) // _BLOCK
        blocks = self._held[self._judged :][: count * _BLOCK].reshape(count, _BLOCK)
        power = np.square(blocks).mean(axis=1)
        loudest = np.maximum.accumulate(np.maximum(power, self._loudest))
        audible = np.flatnonzero(power >= np.maximum(loudest * _RANGE, _FLOOR))
        positions = [self._judged + int(block) * _BLOCK for block in audible]
        self._loudest = float(loudest.max(initial=self._loudest))
        self._judged += count * _BLOCK
        return positions

    def _take(self, count: int) -> Samples:
        """The first `count` samples of `_held`, none if it is negative, which are then gone."""
        count = max(0, count)
        taken, self._held = self._held[:count], self._held[count:]
        self._judged -= count
        return taken


def _ramp() -> Samples:
    return np.linspace(0.0, 1.0, _FADE, dtype=np.float32)


def silence(duration_s: float) -> Samples:
    """`duration_s` seconds of nothing."""
    return np.zeros(round(duration_s * SAMPLE_RATE_HZ), dtype=np.float32)
