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
# After the last sound, some voices make another one: a click where the model's output ends, up to
# -30 dB, or a hum. In 296 short texts of 41 voices, every last sound had ended within 0.5 s, and
# none paused for 0.05 s after its first 0.1 s, not even a stop.
_LAST_SOUND_BEGUN, _LAST_SOUND_ENDED = 10 * _BLOCK, 50 * _BLOCK
"""Samples after `last_sound` until a pause can only be the end of the speech, and until the speech
has ended in any case."""
_PAUSE_RANGE, _PAUSE_BLOCKS = 10 ** (-40 / 10), 5
"""The power of a pause, relative to the loudest block so far, and its least number of blocks."""


class Trimmer:
    """Removes the silence and noise around the speech of one sentence, as it is synthesized.

    The model leaves about 0.3 s before and 0.5 s after a text. The trimmed audio begins at most
    0.04 s before the first audible block of 10 ms and ends at most 0.08 s after the last one. What
    follows the end of the last sound is removed even if it is audible. Both ends are faded over
    0.01 s, so that a cut is not heard as a click.

    Whether a block is audible depends only on the block and those before it. The concatenated
    output is therefore the same however the audio is divided into calls of `push`. Sound is held
    back for less than 0.02 s. Silence before the last sound is a pause, which is sent at once;
    later, silence is held back until something audible follows.

    Use one instance for each text.

    Args:
        last_sound: The first sample at which the last sound of the text may be heard. If it is
            None, pauses are held back, and nothing audible is removed.
    """

    def __init__(self, last_sound: int | None = None) -> None:
        self.dropped_samples = 0
        """Samples left out at the front; final once `push` has returned any audio."""
        self._held = np.zeros(0, np.float32)
        self._judged = 0
        """Samples at the beginning of `_held` whose loudness has been measured."""
        self._loudest = 0.0
        self._sounding = False
        self._last_sound = last_sound
        self._position = 0
        """Samples whose loudness has been measured."""
        self._quiet_blocks = 0
        """Quiet blocks since the last sound was heard."""
        self._is_over = False
        """Whether the last sound has ended."""

    def push(self, samples: Samples) -> Samples:
        """Add float audio, shape (n,), and return the samples that can be sent now, or none."""
        if self._is_over:
            return samples[:0]
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
        received = self._position - self._judged + len(self._held)
        if self._sounding and self._last_sound is not None and received <= self._last_sound:
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
        if self._is_over:
            # What was removed is replaced by silence, so that every sentence ends alike.
            return np.pad(kept, (0, _FADE + _TAIL - len(kept)))
        return kept

    def _audible(self) -> list[int]:
        """Measure the new blocks in `_held` and return where the audible ones begin."""
        count = (len(self._held) - self._judged) // _BLOCK
        blocks = self._held[self._judged :][: count * _BLOCK].reshape(count, _BLOCK)
        power = np.square(blocks).mean(axis=1)
        loudest = np.maximum.accumulate(np.maximum(power, self._loudest))
        spoken = self._blocks_spoken(power < loudest * _PAUSE_RANGE)
        power, loudest = power[:spoken], loudest[:spoken]
        audible = np.flatnonzero(power >= np.maximum(loudest * _RANGE, _FLOOR))
        positions = [self._judged + int(block) * _BLOCK for block in audible]
        self._loudest = float(loudest.max(initial=self._loudest))
        self._judged += spoken * _BLOCK
        self._position += spoken * _BLOCK
        if self._is_over:
            self._held = self._held[: self._judged]
        return positions

    def _blocks_spoken(self, is_quiet: npt.NDArray[np.bool_]) -> int:
        """Return how many of the new blocks precede the end of the last sound, or all of them."""
        if self._last_sound is None:
            return len(is_quiet)
        for block, quiet in enumerate(is_quiet):
            after = self._position + block * _BLOCK - self._last_sound
            if after >= _LAST_SOUND_BEGUN:
                self._quiet_blocks = self._quiet_blocks + 1 if quiet else 0
                if self._quiet_blocks == _PAUSE_BLOCKS or after >= _LAST_SOUND_ENDED:
                    self._is_over = True
                    return block + 1
        return len(is_quiet)

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
