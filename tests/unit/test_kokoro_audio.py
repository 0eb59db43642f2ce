"""Trimming, samples and the WAV header."""

import io
import wave

import numpy as np
import pytest

from kokoro_server import audio
from kokoro_server.audio import SAMPLE_RATE_HZ, Samples


def tone(duration_s: float, level: float = 0.5) -> Samples:
    time_s = np.arange(round(duration_s * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
    return (level * np.sin(2 * np.pi * 220 * time_s)).astype(np.float32)


def noise(duration_s: float, level: float) -> Samples:
    generator = np.random.default_rng(1)
    count = round(duration_s * SAMPLE_RATE_HZ)
    return (level * generator.standard_normal(count)).astype(np.float32)


def test_trim_removes_silence_and_the_models_noise_around_speech() -> None:
    """Guards against 0.8 s between sentences and against a noisy tail after short words."""
    raw = np.concatenate([audio.silence(0.3), tone(1.0), noise(0.5, 0.0005)])
    trimmed = audio.trim(raw)
    assert 1.0 <= len(trimmed) / SAMPLE_RATE_HZ <= 1.13


def test_trim_keeps_all_that_is_loud() -> None:
    """Guards against cutting into the first or last sound."""
    speech = tone(0.5)
    trimmed = audio.trim(np.concatenate([audio.silence(0.2), speech, audio.silence(0.2)]))
    assert np.sum(np.square(trimmed)) == pytest.approx(np.sum(np.square(speech)), rel=1e-3)


def test_trim_leaves_no_click_at_either_end() -> None:
    """Guards against a step from or to zero where audio begins at full level."""
    trimmed = audio.trim(tone(0.5) + np.float32(0.2))
    assert trimmed[0] == 0
    assert trimmed[-1] == 0
    assert np.abs(np.diff(trimmed)).max() < 0.05


@pytest.mark.parametrize("samples", [0, 1, 100, 239, 240, 5000])
def test_trim_of_silence_and_of_next_to_nothing(samples: int) -> None:
    """Guards against a crash on audio shorter than one block, or without a peak."""
    assert len(audio.trim(np.zeros(samples, np.float32))) == 0


def test_trim_does_not_change_its_input() -> None:
    """Guards against fading the caller's array."""
    raw = tone(0.2)
    audio.trim(raw)
    assert np.array_equal(raw, tone(0.2))


def test_pcm_is_little_endian_and_clips() -> None:
    """Guards against wrap-around noise at full level."""
    loud = np.array([0.0, 1.0, -1.0, 3.0, -3.0], np.float32)
    assert np.frombuffer(audio.to_pcm(loud), "<i2").tolist() == [0, 32767, -32767, 32767, -32767]


def test_the_wav_stream_is_readable_without_its_length() -> None:
    """Guards against a header that Python's wave module, or a player, refuses."""
    pcm = audio.to_pcm(tone(0.1))
    with wave.open(io.BytesIO(audio.wav_header() + pcm)) as wav:
        assert (wav.getnchannels(), wav.getsampwidth(), wav.getframerate()) == (1, 2, 24_000)
        assert wav.readframes(wav.getnframes()) == pcm
