"""Which frames of a sentence are decoded together, one window after the other.

The first window is short, so that sound is there soon. Each of the others is as long as can be made
before its listener runs dry: so none does, and little work goes into context.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

CONTEXT_FRAMES = 4
"""Decoded on either side of a window and thrown away: with four, what is left equals the decoding
of the whole sentence within rounding (79 dB and more; with three 57)."""
FRAME_S = 0.025
LEAST_FRAMES = 20
"""Of all windows but the first, which is as short as its sound allows."""
LONGEST_FRAMES = 192
LONGEST_SHARED_FRAMES = 64
"""While the work of other listeners waits: a window is not interrupted, so a longer one makes them
wait longer, and a shorter one has more context for its length (chosen by `bench.scheduling`)."""
SHORT_FRAMES = 100
"""A shorter sentence, of about seven words, is decoded whole: windows would bring its first sound
little sooner, and what is predicted of it is less exact."""


_ONSET_ENERGY = -4.0
# In all voices, at speeds from 0.65 to 1.5, speech, louder than -50 dB, begins between one frame
# before the model's own curve of energy passes this and, in 99 of 100 sentences, three after; it
# ends up to six after the last phoneme that is a sound. The trimmer keeps two frames before.
_EARLY_ONSET, _KEPT_BEFORE, _LATE_ONSET, _LATE_END = 1, 2, 3, 6
_SILENT_SHARE = 0.4
"""Of the padding in front: where the energy never passes, speech begins no earlier."""
FRAME_WORK_S = 0.005
"""Until it is measured: two threads on two CPU cores."""
_SAFETY = 0.5
"""The share of a listener's buffer that making the next window may take."""
_FIRST_SOUND_FRAMES = 10
"""Of sound in the first window at least, so that it plays longer than the second is made."""


@dataclass(frozen=True)
class SpokenFrames:
    """Where a sentence can be heard.

    Arguments:
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


class Windows:
    """Cuts a sentence into windows, each asked for when it is to be made.

    Args:
        spoken: the frames to cut.
        frame_work_s: what the decoding of a frame takes, in seconds.
    """

    def __init__(self, spoken: SpokenFrames, frame_work_s: float = FRAME_WORK_S) -> None:
        self._start = spoken.start
        self._end = spoken.end
        self._least = spoken.onset - spoken.start + _FIRST_SOUND_FRAMES
        self._frame_work_s = frame_work_s

    def next(
        self, buffer_s: float = 0.0, longest_frames: int = LONGEST_FRAMES
    ) -> tuple[int, int] | None:
        """The next window, its first frame and the one after its last; None when all is cut.

        Args:
            buffer_s: what the listener has left to play, in seconds.
            longest_frames: of this window; what is left may make it longer by half of
                `LEAST_FRAMES`, because a window that short is hardly worth its context.
        """
        if self._start == self._end:
            return None
        in_time = int(_SAFETY * buffer_s / self._frame_work_s) - 2 * CONTEXT_FRAMES
        start = self._start
        self._start += min(max(self._least, in_time), longest_frames)
        if self._end - self._start <= LEAST_FRAMES // 2:
            self._start = self._end
        self._least = LEAST_FRAMES
        return start, self._start
