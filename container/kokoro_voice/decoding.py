"""Decides whether a sentence is decoded whole or in windows, and which frames are decoded next.

The first window is short, so that sound is available soon. Each later window is as long as can be
decoded before the listener's buffer underruns. This keeps playback continuous and spends little
work on context.
"""

from dataclasses import dataclass
from math import ceil

from kokoro_voice.windows import CONTEXT_FRAMES, WINDOW_LIMITS, SpokenFrames, WindowLimits

FRAME_WORK_S = 0.005
"""Time to decode one frame until it has been measured, for two threads on two CPU cores."""
_SAFETY = 0.5
"""The fraction of a listener's buffer that the decoding of the next window may use up."""
_FIRST_SOUND_FRAMES = 10
"""The least number of frames with sound in the first window at normal speed: enough to play while
the second is being decoded."""


@dataclass(frozen=True)
class Span:
    """Frames of a sentence that are decoded together.

    Attributes:
        start: The first frame.
        end: The frame after the last one.
        whole: Whether this is the whole sentence, decoded with its exact norm statistics.
    """

    start: int
    end: int
    whole: bool = False

    @property
    def work_frames(self) -> int:
        """The number of frames that the generator decodes, context included."""
        return self.end - self.start + (0 if self.whole else 2 * CONTEXT_FRAMES)


class Decoding:
    """The decoding of one sentence, span by span. Ask for each span just before it is decoded.

    Args:
        frames: The length of the sentence.
        spoken: The frames that the windows have to cover.
        windowed: Whether the sentence may be decoded in windows. A short sentence never is.
        speed: How fast the frames are played; 2.0 takes half the time.
        frame_work_s: The time to decode one frame, in seconds.
        limits: Limits of the window lengths.
    """

    def __init__(
        self,
        frames: int,
        spoken: SpokenFrames,
        *,
        windowed: bool,
        speed: float = 1.0,
        frame_work_s: float = FRAME_WORK_S,
        limits: WindowLimits = WINDOW_LIMITS,
    ) -> None:
        self.windowed = windowed and not limits.too_short(frames)
        """Whether the spans are windows rather than the whole sentence."""
        self._start, self._end = (spoken.start, spoken.end) if self.windowed else (0, frames)
        self.first_frame = self._start
        """The first frame that is decoded."""
        # Fast speech is played sooner and leaves less time to catch up, which counts twice.
        first_sound_frames = ceil(_FIRST_SOUND_FRAMES * max(1.0, speed) ** 2)
        self._least_frames = spoken.onset - spoken.start + first_sound_frames
        self._frame_work_s = frame_work_s
        self._limits = limits

    def next(self, buffer_s: float = 0.0, others_wait: bool = False) -> Span | None:
        """Return the next frames to decode, or None after the last ones.

        Args:
            buffer_s: The audio that the listener has left to play, in seconds.
            others_wait: Whether work for other listeners is waiting.
        """
        start, limits = self._start, self._limits
        if start == self._end:
            return None
        if not self.windowed:
            self._start = self._end
            return Span(start, self._end, whole=True)
        longest = limits.longest_shared_frames if others_wait else limits.longest_frames
        in_time = int(_SAFETY * buffer_s / self._frame_work_s) - 2 * CONTEXT_FRAMES
        self._start += min(max(self._least_frames, in_time), longest)
        # A very short last window is not worth its context frames, so this window includes it.
        if self._end - self._start <= limits.least_frames // 2:
            self._start = self._end
        self._least_frames = limits.least_frames
        return Span(start, self._start)
