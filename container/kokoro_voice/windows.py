"""Windows, the frames of a sentence that are decoded together, and the limits of their lengths."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kokoro_voice.audio import SAMPLE_RATE_HZ

CONTEXT_FRAMES = 4
"""Frames decoded on either side of a window and thrown away. With four, a window equals the same
frames of the whole sentence within rounding (79 dB or more; with three frames 57 dB)."""
FRAME_SAMPLES = 600
"""Samples in a frame, 25 ms: the unit of the model's durations."""
FRAME_S = FRAME_SAMPLES / SAMPLE_RATE_HZ

_ONSET_ENERGY = -4.0
# In all voices, at speeds from 0.65 to 1.5, speech (louder than -50 dB) begins at the earliest one
# frame before the model's energy curve exceeds this value, and in 99 of 100 sentences at the latest
# three frames after. It ends up to six frames after the last phoneme that is a sound. The trimmer
# keeps two frames before the speech.
_EARLY_ONSET, _KEPT_BEFORE, _LATE_ONSET, _LATE_END = 1, 2, 3, 6
_SILENT_SHARE = 0.4
"""The fraction of the padding in front that is silent in any case. It is used where the energy
never exceeds the threshold."""


@dataclass(frozen=True)
class WindowLimits:
    """Limits of the lengths of sentences and windows, in frames."""

    short_frames: int = 100
    """Shorter sentences (up to about seven words) are decoded whole: windows would hardly bring
    the first sound forward, and predictions are less accurate for them."""
    least_frames: int = 20
    """The shortest window but the first, which may be as short as it takes to contain sound."""
    longest_frames: int = 192
    longest_shared_frames: int = 64
    """The longest window while work for other listeners is waiting. Windows are not interrupted,
    so longer ones delay other listeners; shorter ones spend more on context. Chosen with
    `bench.scheduling`."""

    def too_short(self, frames: int) -> bool:
        """Return whether a sentence of `frames` frames is decoded whole in any case."""
        return frames < self.short_frames


WINDOW_LIMITS = WindowLimits()
"""The default limits."""


@dataclass(frozen=True)
class SpokenFrames:
    """The part of a sentence that can be heard.

    Attributes:
        start: The first frame to decode. What precedes it is silent, or below -56 dB.
        onset: A frame at which sound has begun in 99 of 100 sentences.
        end: The frame after the last one to decode. What follows is silent.
    """

    start: int
    onset: int
    end: int

    @classmethod
    def of(
        cls,
        token_frames: npt.NDArray[np.int64],
        energy: npt.NDArray[np.float32],
        last_sound: int,
    ) -> "SpokenFrames":
        """Estimate it from the durations and the energy.

        Args:
            token_frames: The length of each token (padding, phonemes, padding); shape (n + 2,).
            energy: See `Prosody`.
            last_sound: Index, from 0, of the last phoneme that is a sound.
        """
        padding, frames = int(token_frames[0]), int(token_frames.sum())
        end = min(int(token_frames[: last_sound + 2].sum()) + _LATE_END, frames)
        loud = np.flatnonzero(energy > _ONSET_ENERGY)
        if loud.size:
            earliest = min(int(loud[0]) // 2, padding + _LATE_ONSET) - _EARLY_ONSET
            latest = int(loud[0]) // 2 + _LATE_ONSET
        else:
            earliest, latest = int(_SILENT_SHARE * padding), padding + _LATE_ONSET
        return cls(max(0, earliest - _KEPT_BEFORE), min(latest, end), end)
