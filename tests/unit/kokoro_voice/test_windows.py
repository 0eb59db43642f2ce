"""Windows cover a sentence once, and playback that began with the first never runs dry."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kokoro_voice.windows import (
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
    assert cut(0, 500)[:2] == [(0, 10), (10, 10 + LEAST_FRAMES)]
    assert cut(0, 38) == [(0, 10), (10, 38)]


def test_who_has_much_to_play_gets_long_windows() -> None:
    """Short windows where nobody waits for them: a tenth more work for a whole reply."""
    assert [end - start for start, end in cut(0, 500, buffer_s=10.0)] == [192, 192, 116]


@pytest.mark.parametrize("frames", range(30, 1000, 29))
@pytest.mark.parametrize("frame_work_s", [0.001, 0.004, 0.0066])
@pytest.mark.parametrize("buffer_s", [0.0, 0.5, 2.0])
def test_playback_never_runs_dry(frames: int, frame_work_s: float, buffer_s: float) -> None:
    """Windows that grow too fast for the machine: what is there has been played before the next is
    made. The estimate of its speed may be half too good: machines have slow spells."""
    onset = 3
    windows = Windows(SpokenFrames(0, onset, frames), frame_work_s)
    left_s = buffer_s
    while (window := windows.next(left_s)) is not None:
        start, end = window
        if left_s:
            left_s -= 1.5 * frame_work_s * (end - start + 2 * CONTEXT_FRAMES)
            assert left_s >= 0
        # Silence in front is trimmed, but for 0.04 s.
        left_s += FRAME_S * (end - start) if start else FRAME_S * (end - onset) + 0.04


def energy(frames: int, onset: float) -> NDArray[np.float32]:
    """Of silence, and from a frame on, or half a frame, of speech."""
    return np.where(np.arange(2 * frames) < 2 * onset, -9.0, 4.0).astype(np.float32)


def test_silence_around_the_sentence_is_not_decoded() -> None:
    """It is trimmed away in any case, and in front it delays the first sound."""
    token_frames = np.array([20, 4, 3, 11, 2])
    spoken = SpokenFrames.of(token_frames, energy(40, 18.5), last_sound=1)
    assert (spoken.start, spoken.onset, spoken.end) == (15, 21, 33)


@pytest.mark.parametrize("onset", [0, 22.5, 33])
def test_speech_that_begins_where_it_should_not_is_decoded(onset: float) -> None:
    """Energy that passes at once, late or, with a voice never seen, nowhere near the padding's end:
    its first phoneme would be lost."""
    spoken = SpokenFrames.of(np.array([20, 14, 6]), energy(40, onset), last_sound=0)
    assert 0 <= spoken.start <= min(onset, 20)
    assert onset <= spoken.onset <= spoken.end == 40
    assert SpokenFrames.of(np.array([1, 2, 1]), energy(4, 4), last_sound=0) == SpokenFrames(0, 4, 4)


def test_the_first_window_has_sound_enough_for_the_second() -> None:
    """A first window of silence alone would start playback with nothing, and then run dry."""
    windows = Windows(SpokenFrames(start=10, onset=33, end=200))
    assert windows.next() == (10, 43)
