"""How a sentence is decoded: whole or in windows, and which frames are next.

The first window is short, so that sound is there soon. Each of the others is as long as can be
decoded before its listener runs dry: so none does, and little work goes into context.
"""

from dataclasses import dataclass

from kokoro_voice.windows import CONTEXT_FRAMES, WINDOW_LIMITS, SpokenFrames, WindowLimits

FRAME_WORK_S = 0.005
"""What the decoding of a frame takes until it is measured: two threads on two CPU cores."""
_SAFETY = 0.5
"""The share of a listener's buffer that decoding the next window may take."""
_FIRST_SOUND_FRAMES = 10
"""Of sound in the first window at least, so that it outlasts the decoding of the second."""


@dataclass(frozen=True)
class Span:
    """Frames of a sentence to decode together.

    Attributes:
        start: the first frame.
        end: the frame after the last.
        whole: whether it is the whole sentence, decoded with its exact norm statistics.
    """

    start: int
    end: int
    whole: bool = False

    @property
    def work_frames(self) -> int:
        """How many frames the generator decodes, context included."""
        return self.end - self.start + (0 if self.whole else 2 * CONTEXT_FRAMES)


class Decoding:
    """The decoding of one sentence, span by span; each is asked for when it is to be decoded.

    Args:
        frames: the length of the sentence.
        spoken: the frames that windows cover.
        windowed: whether the sentence may be decoded in windows; a short one is not.
        frame_work_s: what the decoding of a frame takes, in seconds.
        limits: of the windows.
    """

    def __init__(
        self,
        frames: int,
        spoken: SpokenFrames,
        *,
        windowed: bool,
        frame_work_s: float = FRAME_WORK_S,
        limits: WindowLimits = WINDOW_LIMITS,
    ) -> None:
        self.windowed = windowed and not limits.too_short(frames)
        """Whether the spans are windows."""
        self._start, self._end = (spoken.start, spoken.end) if self.windowed else (0, frames)
        self._least_frames = spoken.onset - spoken.start + _FIRST_SOUND_FRAMES
        self._frame_work_s = frame_work_s
        self._limits = limits

    def next(self, buffer_s: float = 0.0, others_wait: bool = False) -> Span | None:
        """The next frames to decode; None after the last.

        Args:
            buffer_s: what the listener has left to play, in seconds.
            others_wait: whether work for other listeners waits.
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
        # What is left is hardly worth its context if it is that short.
        if self._end - self._start <= limits.least_frames // 2:
            self._start = self._end
        self._least_frames = limits.least_frames
        return Span(start, self._start)
