"""First sound and underruns, the two figures that all comparisons rest on."""

import numpy as np
import pytest

from bench.playback import SAMPLE_RATE_HZ, Chunk, as_heard, first_sound_s, underrun_s


def tone(duration_s: float, level: float = 0.5) -> np.ndarray:
    return np.full(round(duration_s * SAMPLE_RATE_HZ), level, np.float32)


def test_quiet_beginnings_are_no_sound() -> None:
    """An engine must not gain by sending noise, 42 dB below the speech, before the speech."""
    chunks = [Chunk(0.1, tone(0.5, 0.004)), Chunk(0.4, tone(1.0)), Chunk(0.9, tone(1.0))]
    assert first_sound_s(chunks) == 0.4


def test_the_peak_is_the_whole_utterances() -> None:
    """Whether a soft first word is audible depends on the speech that follows later."""
    soft = Chunk(0.2, tone(0.5, 0.02))
    assert first_sound_s([soft, Chunk(0.5, tone(1.0, 0.5))]) == 0.2
    assert first_sound_s([soft, Chunk(0.5, tone(1.0, 3.0))]) == 0.5


def test_silence_raises() -> None:
    """An engine that is silent must not win."""
    with pytest.raises(ValueError, match="audible"):
        first_sound_s([Chunk(0.1, tone(1.0, 0.0))])
    with pytest.raises(ValueError, match="audible"):
        underrun_s([])


def test_playback_that_is_never_late_never_waits() -> None:
    chunks = [Chunk(1.0, tone(0.5)), Chunk(1.5, tone(0.5)), Chunk(1.6, tone(2.0))]
    assert underrun_s(chunks) == 0.0


def test_a_wait_delays_all_that_follows() -> None:
    """A late chunk must count once, not again with every chunk after it."""
    chunks = [Chunk(1.0, tone(0.5)), Chunk(1.75, tone(0.5)), Chunk(2.25, tone(0.5))]
    assert underrun_s(chunks) == pytest.approx(0.25)


def test_skipped_silence_is_no_reserve() -> None:
    """Playback starts at the sound, so silence before it gives the next chunk no extra time."""
    quiet_then_loud = np.concatenate([tone(0.25, 0.0), tone(0.5)])
    chunks = [Chunk(0.5, tone(2.0, 0.0)), Chunk(1.0, quiet_then_loud), Chunk(1.75, tone(0.5))]
    assert underrun_s(chunks) == pytest.approx(0.25)


def test_what_is_heard_has_the_silences_that_a_listener_waits_through() -> None:
    """A recording that closes a gap, or plays two chunks at once, is not what was heard."""
    chunks = [Chunk(1.0, tone(0.5, 0.1)), Chunk(1.2, tone(0.5, 0.2)), Chunk(2.5, tone(0.5, 0.3))]
    heard = as_heard(chunks)
    expected = [tone(1.0, 0.0), tone(0.5, 0.1), tone(0.5, 0.2), tone(0.5, 0.0), tone(0.5, 0.3)]
    np.testing.assert_array_equal(heard, np.concatenate(expected))
    assert len(as_heard([])) == 0
