"""Decode the calibration's sentences whole, and keep what the table is fitted to.

One file for each voice and sentence, so that an interrupted run goes on where it was.
"""

import hashlib
import multiprocessing
import os
import random
import sys
import tomllib
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kokoro_voice.audio import Samples
from kokoro_voice.engine import Engine
from kokoro_voice.g2p import Pronouncer
from kokoro_voice.languages import LANGUAGES
from kokoro_voice.norm_statistics import DECODER_STYLE_SIZE, Array, content
from kokoro_voice.onnx_model import Cancellation
from kokoro_voice.voices import Voice, Voices
from kokoro_voice.windows import FRAME_SAMPLES

TEXTS_PATH = Path(__file__).with_name("texts.toml")

SPEEDS = (1.0, 0.8, 1.0, 1.25, 1.0, 0.65, 1.0, 1.5)
"""One after the other over a voice's sentences, each voice beginning at another."""

_ANY_VOICE = "af_heart"
_RECTIFIED, _SQUARED, _CHANNELS = 256, 128, 512
_LEVELS_PER_FRAME = 5
_LEVEL_SAMPLES = FRAME_SAMPLES // _LEVELS_PER_FRAME


@dataclass(frozen=True)
class Job:
    """One sentence to decode in one voice.

    Attributes:
        number: of the text, the same in all voices of a language.
    """

    voice: str
    number: int
    text: str
    speed: float

    @property
    def file_name(self) -> str:
        """Where its result is kept."""
        return f"{self.voice}-{self.number:02d}.npz"


@dataclass(frozen=True)
class Sample:
    """The result of one job.

    Attributes:
        style: what the decoder reads of it, shape (128,).
        content: see `kokoro_voice.norm_statistics.content`.
        mean, variance: the exact norm statistics, see `NormStatistics`.
        token_frames: see `Prosody`.
        levels_db: of 5 ms each below the loudest, shape (5 * frames,).
    """

    voice: str
    number: int
    speed: float
    style: Array
    content: Array
    mean: Array
    variance: Array
    token_frames: npt.NDArray[np.int64]
    levels_db: Array

    @property
    def frames(self) -> int:
        """The length of the sentence."""
        return int(self.token_frames.sum())


def projection() -> tuple[Array, Array]:
    """The random directions and offsets of `kokoro_voice.norm_statistics.content`."""
    generator = np.random.default_rng(0)
    shape = (_CHANNELS, _RECTIFIED + _SQUARED)
    # Rounded as the table will store it.
    directions = generator.normal(0, _CHANNELS**-0.5, shape).astype(np.float16).astype(np.float32)
    return directions, generator.normal(0, 0.5, _RECTIFIED).astype(np.float32)


def texts_for(language: str) -> list[str]:
    """The sentences of a language, named as in `voices.LANGUAGES`."""
    texts: dict[str, list[str]] = tomllib.loads(TEXTS_PATH.read_text("utf-8"))
    return texts[_KEYS.get(language, language)]


def texts_sha256() -> str:
    """The sha256 of the file of texts, in hexadecimal."""
    return hashlib.sha256(TEXTS_PATH.read_bytes()).hexdigest()


_KEYS = {"en-us": "en", "en-gb": "en", "fr-fr": "fr"}


def jobs_for(model_dir: Path) -> list[Job]:
    """Every sentence in every voice, in an order that makes any beginning of it a fair sample."""
    jobs = [
        Job(voice, number, text, SPEEDS[(number + place) % len(SPEEDS)])
        for place, voice in enumerate(Voices.in_directory(model_dir, _ANY_VOICE).names)
        for number, text in enumerate(texts_for(LANGUAGES[voice[0]]))
    ]
    random.Random(0).shuffle(jobs)
    return jobs


def collect(model_dir: Path, data_dir: Path, processes: int) -> None:
    """Do every job whose result is not in `data_dir` yet; progress goes to stderr.

    Args:
        model_dir: see `Engine`.
        data_dir: where results are kept; created if it is missing.
        processes: how many work at once, one thread each.

    Raises:
        BrokenProcessPool: a process was killed, or could not load the model.
    """
    data_dir.mkdir(parents=True, exist_ok=True)
    jobs = jobs_for(model_dir)
    waiting = [job for job in jobs if not (data_dir / job.file_name).exists()]
    pronounce = cache(Pronouncer().phonemes)
    phonemes = [pronounce(job.text, LANGUAGES[job.voice[0]]) for job in waiting]
    pool = ProcessPoolExecutor(
        processes,
        multiprocessing.get_context("spawn"),
        initializer=_load_engine,
        initargs=(model_dir,),
    )
    try:
        results = pool.map(partial(_work, data_dir), waiting, phonemes)
        for number, _ in enumerate(results, len(jobs) - len(waiting) + 1):
            print(f"\r{number} of {len(jobs)} sentences", end="", file=sys.stderr, flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    print(f"\nthe results are in {data_dir}", file=sys.stderr)


_engine: Engine
_projection: tuple[Array, Array]


def _load_engine(model_dir: Path) -> None:
    global _engine, _projection
    _engine = Engine(model_dir, threads=1)
    _projection = projection()


def _work(data_dir: Path, job: Job, phonemes: str) -> None:
    sample = decode(_engine, job, phonemes, *_projection)
    path = data_dir / job.file_name
    # Named only when it is complete.
    unfinished = path.with_suffix(f".{os.getpid()}")
    with unfinished.open("wb") as file:
        np.savez(file, **sample.__dict__)
    unfinished.rename(path)


def decode(engine: Engine, job: Job, phonemes: str, directions: Array, offset: Array) -> Sample:
    """Do one job.

    Args:
        engine: decodes it.
        job: what to decode.
        phonemes: of its text; may hold some that the model does not know.
        directions: see `projection`.
        offset: likewise.
    """
    voice = Voice(job.voice, ((job.voice, 1.0),))
    prosody = engine.prosody(engine.known(phonemes), voice, job.speed, Cancellation())
    audio, exact = engine.whole(prosody, Cancellation())
    return Sample(
        voice=job.voice,
        number=job.number,
        speed=job.speed,
        style=prosody.style[:DECODER_STYLE_SIZE],
        content=content(prosody.features, prosody.harmonics, directions, offset),
        mean=exact.mean,
        variance=exact.variance,
        token_frames=prosody.token_frames,
        levels_db=_levels_db(audio),
    )


def load(data_dir: Path) -> list[Sample]:
    """The results in `data_dir`, ordered by voice and sentence."""
    samples = []
    for path in sorted(data_dir.glob("*.npz")):
        with np.load(path) as arrays:
            samples.append(
                Sample(
                    **dict(arrays)
                    | {
                        "voice": str(arrays["voice"]),
                        "number": int(arrays["number"]),
                        "speed": float(arrays["speed"]),
                    }
                )
            )
    return samples


def _levels_db(audio: Samples) -> Array:
    power = np.square(audio.reshape(-1, _LEVEL_SAMPLES)).mean(axis=1)
    return np.asarray(10 * np.log10(power / power.max() + 1e-12), np.float32)
