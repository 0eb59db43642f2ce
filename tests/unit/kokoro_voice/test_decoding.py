"""Spans cover a sentence once, and playback that began with the first never runs dry."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_voice.decoding import Decoding, Span
from kokoro_voice.windows import CONTEXT_FRAMES, FRAME_S, SpokenFrames, WindowLimits

ALWAYS = WindowLimits(short_frames=0)


def cut(
    start: int,
    end: int,
    limits: WindowLimits = ALWAYS,
    buffer_s: float = 0.0,
    others_wait: bool = False,
) -> list[tuple[int, int]]:
    decoding = Decoding(end, SpokenFrames(start, start, end), windowed=True, limits=limits)
    found = []
    while (span := decoding.next(buffer_s, others_wait)) is not None:
        assert not span.whole
        assert span.work_frames == span.end - span.start + 2 * CONTEXT_FRAMES
        found.append((span.start, span.end))
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
    """A missing frame causes a click, a frame decoded twice a stutter."""
    limits = WindowLimits(short_frames=0, longest_frames=longest)
    windows = cut(start, start + frames, limits, buffer_s)
    assert windows[0][0] == start
    assert windows[-1][1] == start + frames
    for (_, end), (following, _) in pairwise(windows):
        assert end == following
    assert all(0 < end - begin <= longest + limits.least_frames // 2 for begin, end in windows)


def test_the_first_window_is_short_and_the_last_not_tiny() -> None:
    """A first window of a whole sentence is what windows are to avoid; a last one of two frames
    costs five times its worth in context."""
    assert cut(0, 500)[:2] == [(0, 10), (10, 10 + ALWAYS.least_frames)]
    assert cut(0, 38) == [(0, 10), (10, 38)]


def test_who_has_much_to_play_gets_long_windows() -> None:
    """Short windows that nobody waits for would add a tenth to the work of a reply."""
    assert [end - start for start, end in cut(0, 500, buffer_s=10.0)] == [192, 192, 116]


def test_who_shares_the_engine_gets_shorter_windows() -> None:
    """A window is not interrupted, so a long one would keep other listeners waiting."""
    shared = cut(0, 200, buffer_s=10.0, others_wait=True)
    assert [end - start for start, end in shared] == [64, 64, 72]


@pytest.mark.parametrize(("frames", "windowed"), [(99, True), (500, False)])
def test_a_sentence_is_decoded_whole_if_it_is_short_or_its_voice_needs_it(
    frames: int, windowed: bool
) -> None:
    """Guards against windows of a voice that fails the gate, and against an endless sentence."""
    decoding = Decoding(frames, SpokenFrames(9, 15, frames - 12), windowed=windowed)
    assert not decoding.windowed
    span = decoding.next(10.0, others_wait=True)
    assert span == Span(0, frames, whole=True)
    assert span.work_frames == frames
    assert decoding.next() is None
    assert Decoding(100, SpokenFrames(9, 15, 88), windowed=True).windowed


@pytest.mark.parametrize("frames", range(30, 1000, 29))
@pytest.mark.parametrize("frame_work_s", [0.001, 0.004, 0.0066])
@pytest.mark.parametrize("buffer_s", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("speed", [0.5, 1.0, 1.5])
def test_playback_never_runs_dry(
    frames: int, frame_work_s: float, buffer_s: float, speed: float
) -> None:
    """Windows that grow too fast for the machine: what is there has been played before the next is
    made. The estimate of its speed may be half too good: machines have slow spells."""
    onset = 3
    decoding = Decoding(
        frames,
        SpokenFrames(0, onset, frames),
        windowed=True,
        speed=speed,
        frame_work_s=frame_work_s,
        limits=ALWAYS,
    )
    left_s = buffer_s
    while (span := decoding.next(left_s)) is not None:
        start, end = span.start, span.end
        if left_s:
            left_s -= 1.5 * frame_work_s * (end - start + 2 * CONTEXT_FRAMES)
            assert left_s >= 0
        # Silence in front is trimmed, but for 0.04 s.
        decoded_s = FRAME_S * (end - start) if start else FRAME_S * (end - onset) + 0.04
        left_s += decoded_s / speed


def test_the_first_window_has_sound_enough_for_the_second() -> None:
    """A silent first window would start playback without sound, and then underrun."""
    spoken = SpokenFrames(start=10, onset=33, end=200)
    assert Decoding(212, spoken, windowed=True).next() == Span(10, 43)
    assert Decoding(212, spoken, windowed=True, speed=2.0).next() == Span(10, 73)
