"""Post-processing of the engine's samples: trimming and silence."""

import numpy as np
import numpy.typing as npt

SAMPLE_RATE_HZ = 24_000

Samples = npt.NDArray[np.float32]

_BLOCK = SAMPLE_RATE_HZ // 100
"""Loudness is measured in blocks of this many samples, 10 ms."""
_LEAD, _TAIL, _FADE = 4 * _BLOCK, 8 * _BLOCK, _BLOCK
"""Samples that are kept before speech and after it, and samples of the fade at either end."""
_FLOOR = 10 ** (-65 / 10)
"""Power of the quietest audible block; full scale is 1. The loudest block of a sentence is at -16
to -5 dB, depending on the voice. The noise that the model makes before speech is below -65 dB."""
_RANGE = 10 ** (-45 / 10)
"""A block is audible if its power is at least this fraction of the loudest block's so far. The
noise at the end of the model's output is at about -57 dB."""


class Trimmer:
    """Removes the silence and noise around the speech of one sentence, as it is synthesized.

    The model leaves about 0.3 s before and 0.5 s after a text. The trimmed audio begins at most
    0.04 s before the first audible block of 10 ms and ends at most 0.08 s after the last one. Both
    ends are faded over 0.01 s, so that a cut is not heard as a click.

    Whether a block is audible depends only on the block and those before it. The concatenated
    output is therefore the same however the audio is divided into calls of `push`. Sound is held
    back for less than 0.02 s. Silence is held back until something audible follows, unless the
    caller knows that it will.

    Use one instance for each text.
    """

    def __init__(self) -> None:
        self.dropped_samples = 0
        """Samples left out at the front; final once `push` has returned any audio."""
        self._held = np.zeros(0, np.float32)
        self._judged = 0
        """Samples at the beginning of `_held` whose loudness has been measured."""
        self._loudest = 0.0
        self._sounding = False

    def push(self, samples: Samples, speech_follows: bool = False) -> Samples:
        """Add audio and return the samples that can be sent now, possibly none.

        Args:
            samples: Float audio, shape (n,).
            speech_follows: Whether more speech is known to follow these samples. Silence is then
                a pause, and the listener may hear it while the rest is being decoded.
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
        # The last audible block so far may be the last of the sentence, which has to be faded out.
        return self._take(audible[-1] + _BLOCK - _FADE - dropped if audible else 0)

    def end(self) -> Samples:
        """Return the remaining samples; none if nothing was audible."""
        if not self._sounding:
            return self._held[:0]
        kept = self._held[: _FADE + _TAIL].copy()
        fade = min(_FADE, len(kept))
        kept[len(kept) - fade :] *= _ramp()[:fade][::-1]
        return kept

    def _audible(self) -> list[int]:
        """Measure the new blocks in `_held` and return where the audible ones begin."""
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
        """Remove the first `count` samples from `_held` and return them; none if negative."""
        count = max(0, count)
        taken, self._held = self._held[:count], self._held[count:]
        self._judged -= count
        return taken


def _ramp() -> Samples:
    return np.linspace(0.0, 1.0, _FADE, dtype=np.float32)


def silence(duration_s: float) -> Samples:
    """Return `duration_s` seconds of silence."""
    return np.zeros(round(duration_s * SAMPLE_RATE_HZ), dtype=np.float32)
