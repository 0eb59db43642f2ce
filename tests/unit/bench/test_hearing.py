"""The helpers that the speech tests rely on. If they are wrong, those tests prove nothing."""

import io
import wave

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.hearing import longest_silence_s, peak, read_wav, spoken_words, word_error_rate

RATE_HZ = 24_000


def tone(duration_s: float, amplitude: float = 0.5) -> NDArray[np.float32]:
    time_s = np.arange(round(duration_s * RATE_HZ)) / RATE_HZ
    return (amplitude * np.sin(2 * np.pi * 200 * time_s)).astype(np.float32)


def silence(duration_s: float) -> NDArray[np.float32]:
    return np.zeros(round(duration_s * RATE_HZ), np.float32)


def wav_bytes(audio: NDArray[np.float32], channels: int = 1) -> bytes:
    content = io.BytesIO()
    with wave.open(content, "wb") as wav:
        wav.setnchannels(channels)
        wav.setsampwidth(2)
        wav.setframerate(RATE_HZ)
        wav.writeframes((audio * 32767).astype("<i2").tobytes())
    return content.getvalue()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("It's 25% of 1,250.", "its twenty five percent of one thousand two hundred fifty"),
        ("At 9:30, in 2024", "at nine thirty in twenty twenty four"),
        ("the 3rd, for $7", "the third for seven dollars"),
        ("Dr. Grey's harbour", "doctor greys harbor"),
        ("2.5 metres", "two point five meters"),
    ],
)
def test_digits_and_spelling_do_not_count_as_errors(written: str, said: str) -> None:
    """Whisper writes digits for spoken number words. Correct speech must not fail for that."""
    assert spoken_words(written) == said.split()
    assert word_error_rate(written, said) == 0.0


def test_word_errors_are_counted_against_the_reference() -> None:
    """Lost words, or a rate relative to the heard text, would let bad speech pass."""
    assert word_error_rate("one two three four", "one two four") == 0.25
    assert word_error_rate("one two", "one two three four") == 1.0
    assert word_error_rate("one two", "") == 1.0
    with pytest.raises(ValueError, match="no word"):
        word_error_rate("…", "anything")


def test_only_silence_between_sounds_counts() -> None:
    """The model adds leading and trailing silence, which is no gap in the speech."""
    audio = np.concatenate(
        [silence(2), tone(0.5), silence(0.3), tone(0.5), silence(0.7), tone(0.5), silence(3)]
    )
    assert longest_silence_s(audio, RATE_HZ) == pytest.approx(0.7, abs=0.02)
    assert longest_silence_s(tone(1), RATE_HZ) == pytest.approx(0.0, abs=0.011)


def test_noise_below_the_threshold_is_silence() -> None:
    """Synthesized pauses are not digital zero. A gap at -46 dB must still be found."""
    audio = np.concatenate([tone(0.5), tone(1.2, amplitude=0.0025), tone(0.5)])
    assert longest_silence_s(audio, RATE_HZ) == pytest.approx(1.2, abs=0.03)


def test_no_sound_is_an_error_not_a_short_silence() -> None:
    """Silent audio has no inner silence, but 0.0 would let it pass as fluent speech."""
    with pytest.raises(ValueError, match="no sound"):
        longest_silence_s(silence(1), RATE_HZ)


def test_wav_is_read_at_full_scale() -> None:
    """With a wrong scale, every check of a peak would be meaningless."""
    audio, rate_hz = read_wav(wav_bytes(tone(0.1, amplitude=0.8)))
    assert rate_hz == RATE_HZ
    assert audio.dtype == np.float32
    assert peak(audio) == pytest.approx(0.8, abs=0.001)


def test_streamed_wav_is_read_to_its_end() -> None:
    """A streamed header announces 0xFFFFFFFF bytes. All samples that follow must be read."""
    content = bytearray(wav_bytes(tone(0.25)))
    content[4:8] = content[40:44] = b"\xff\xff\xff\xff"
    audio, _ = read_wav(bytes(content))
    assert len(audio) == RATE_HZ // 4


def test_stereo_is_refused() -> None:
    """Stereo read as mono is an octave too low, but Whisper still hears words in it."""
    with pytest.raises(ValueError, match="2 channels"):
        read_wav(wav_bytes(tone(0.1), channels=2))
