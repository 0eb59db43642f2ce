"""Windows of a sentence: the frames that are decoded together, and the limits of their lengths."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kokoro_voice.audio import SAMPLE_RATE_HZ

CONTEXT_FRAMES = 4
"""Decoded on either side of a window and thrown away: with four, what is left equals the decoding
of the whole sentence within rounding (79 dB and more; with three 57)."""
FRAME_SAMPLES = 600
"""The model measures durations in frames of so many samples, 25 ms."""
FRAME_S = FRAME_SAMPLES / SAMPLE_RATE_HZ

_ONSET_ENERGY = -4.0
# In all voices, at speeds from 0.65 to 1.5, speech, louder than -50 dB, begins between one frame
# before the model's own curve of energy passes this and, in 99 of 100 sentences, three after; it
# ends up to six after the last phoneme that is a sound. The trimmer keeps two frames before.
_EARLY_ONSET, _KEPT_BEFORE, _LATE_ONSET, _LATE_END = 1, 2, 3, 6
_SILENT_SHARE = 0.4
"""Of the padding in front: where the energy never passes, speech begins no earlier."""


@dataclass(frozen=True)
class WindowLimits:
    """How long sentences and windows are at least and at most, in frames."""

    short_frames: int = 100
    """A shorter sentence, of about seven words, is decoded whole: windows would bring its first
    sound little sooner, and what is predicted of it is less exact."""
    least_frames: int = 20
    """Of all windows but the first, which is as short as its sound allows."""
    longest_frames: int = 192
    longest_shared_frames: int = 64
    """While the work of other listeners waits: a window is not interrupted, so a longer one makes
    them wait longer, and a shorter one has more context for its length (chosen by
    `bench.scheduling`)."""

    def too_short(self, frames: int) -> bool:
        """Whether a sentence of so many frames is decoded whole in any case."""
        return frames < self.short_frames


WINDOW_LIMITS = WindowLimits()
"""What is used unless somebody tries other limits."""


@dataclass(frozen=True)
class SpokenFrames:
    """Where a sentence can be heard.

    Attributes:
        start: the first frame to decode; what is before is silent, or below -56 dB.
        onset: in 99 of 100 sentences, sound has begun here.
        end: the frame after the last to decode; what follows is silent.
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
        """From the durations and the energy.

        Args:
            token_frames: how long the padding, each phoneme and the padding are; shape (n + 2,).
            energy: see `Prosody`.
            last_sound: the place of the last phoneme, from 0, that is a sound.
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
