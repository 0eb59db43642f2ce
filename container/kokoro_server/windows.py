"""Which frames of a sentence are decoded together, one window after the other.

The first window is short, so that sound is there soon; each is longer than the one before, so that
little work goes into context; and none so much longer that what is there has been played before the
next is made. Growth by 1.5 never ran dry on two CPU cores, by 2 it did.
"""

import numpy as np
import numpy.typing as npt

CONTEXT_FRAMES = 4
"""Decoded on either side of a window and thrown away: with four, what is left equals the decoding
of the whole sentence within rounding (106 dB; with three 57)."""
FRAME_S = 0.025
FIRST_FRAMES = 20
GROWTH = 1.5
LONGEST_FRAMES = 192
LONGEST_SHARED_FRAMES = 64
"""While the work of other listeners waits: a window is not interrupted, so a longer one makes them
wait longer, and a shorter one has more context for its length (chosen by `bench.scheduling`)."""
_LEAD_FRAMES = 6


class Windows:
    """Cuts the frames from `start` to `end` into windows, each asked for when it is to be made.

    Args:
        start: the first frame to decode.
        end: the frame after the last; greater than `start`.
        buffer_s: what the listener has left to play, in seconds: who has much can wait for a longer
            first window.
    """

    def __init__(self, start: int, end: int, buffer_s: float = 0.0) -> None:
        self._start = start
        self._end = end
        self._frames = min(max(FIRST_FRAMES, GROWTH * buffer_s / FRAME_S), LONGEST_FRAMES)

    def next(self, longest_frames: int = LONGEST_FRAMES) -> tuple[int, int] | None:
        """The next window, its first frame and the one after its last; None when all is cut.

        Args:
            longest_frames: of this window; what is left may make it longer by half of
                `FIRST_FRAMES`, because a window that short is hardly worth its context.
        """
        if self._start == self._end:
            return None
        start = self._start
        self._start += min(int(self._frames), longest_frames)
        if self._end - self._start <= FIRST_FRAMES // 2:
            self._start = self._end
        self._frames = min(self._frames * GROWTH, LONGEST_FRAMES)
        return start, self._start


def spoken_frames(token_frames: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Where a sentence can be heard: its first frame, and the one after the last.

    Args:
        token_frames: how long the padding, each phoneme and the padding are; shape (n + 2,).
    """
    frames = int(token_frames.sum())
    start = max(0, int(token_frames[0]) - _LEAD_FRAMES)
    return start, frames
