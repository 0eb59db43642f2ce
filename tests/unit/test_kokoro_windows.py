"""Windows cover a sentence once, and playback that began with the first never runs dry."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_server.windows import (
    CONTEXT_FRAMES,
    FRAME_S,
    LEAST_FRAMES,
    LONGEST_FRAMES,
    SpokenFrames,
    Windows,
)


def cut(
    start: int, end: int, longest_frames: int = LONGEST_FRAMES, buffer_s: float = 0.0
) -> list[tuple[int, int]]:
    windows = Windows(SpokenFrames(start, start, end))
    found = []
    while (window := windows.next(buffer_s, longest_frames)) is not None:
        found.append(window)
    return found


@given(
    start=st.integers(0, 60),
    frames=st.integers(1, 1200),
    longest=st.integers(20, 192),
    buffer_s=st.floats(0, 10),
)
def test_every_frame_is_decoded_once(
    start: int, frames: int, longest: int, buffer_s: float
) -> None:
    """A frame left out is a click, one decoded twice a stutter."""
    windows = cut(start, start + frames, longest, buffer_s)
    assert windows[0][0] == start
    assert windows[-1][1] == start + frames
    for (_, end), (following, _) in pairwise(windows):
        assert end == following
    assert all(0 < end - begin <= longest + LEAST_FRAMES // 2 for begin, end in windows)


def test_the_first_window_is_short_and_the_last_not_tiny() -> None:
    """A first window of a whole sentence is what windows are to avoid; a last one of two frames
    costs five times its worth in context."""
    assert cut(0, 500)[0] == (0, LEAST_FRAMES)
    assert cut(0, 28) == [(0, 28)]


def test_who_has_much_to_play_gets_long_windows() -> None:
    """Short windows where nobody waits for them: a tenth more work for a whole reply."""
    assert [end - start for start, end in cut(0, 500, buffer_s=10.0)] == [192, 192, 116]


@pytest.mark.parametrize("frames", range(30, 1000, 29))
@pytest.mark.parametrize("frame_work_s", [0.001, 0.004, 0.0066])
@pytest.mark.parametrize("buffer_s", [0.0, 0.5, 2.0])
def test_playback_never_runs_dry(frames: int, frame_work_s: float, buffer_s: float) -> None:
    """Windows that grow too fast for the machine: what is there has been played before the next is
    made. The estimate of its speed may be half too good: machines have slow spells."""
    windows = Windows(SpokenFrames(0, 3, frames), frame_work_s)
    left_s = buffer_s
    while (window := windows.next(left_s)) is not None:
        start, end = window
        if left_s:
            left_s -= 1.5 * frame_work_s * (end - start + 2 * CONTEXT_FRAMES)
            assert left_s >= 0
        left_s += FRAME_S * (end - start)


def test_silence_around_the_sentence_is_not_decoded() -> None:
    """It is trimmed away in any case, and in front it delays the first sound."""
    spoken = SpokenFrames.of(np.array([20, 4, 3, 11, 2]), last_sound=1)
    assert (spoken.start, spoken.onset, spoken.end) == (6, 23, 33)
    assert SpokenFrames.of(np.array([1, 2, 1]), last_sound=0) == SpokenFrames(0, 4, 4)


def test_the_first_window_has_sound_enough_for_the_second() -> None:
    """At half the speed there is silence of half a second in front: a first window of that alone
    would start playback with a tenth of a second, and then run dry."""
    windows = Windows(SpokenFrames(start=10, onset=33, end=200))
    assert windows.next() == (10, 43)
