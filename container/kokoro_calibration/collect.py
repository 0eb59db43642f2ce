"""Decode the calibration's sentences whole, and store the data that the table is fitted to.

Each voice and sentence has its own file, so an interrupted run can be continued.
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
"""The speeds of a voice's sentences, in rotation. Each voice starts at another position."""

_ANY_VOICE = "af_heart"
_RECTIFIED, _SQUARED, _CHANNELS = 256, 128, 512
_LEVELS_PER_FRAME = 5
_LEVEL_SAMPLES = FRAME_SAMPLES // _LEVELS_PER_FRAME


@dataclass(frozen=True)
class Job:
    """One sentence to decode in one voice.

    Attributes:
        voice: The name of the voice.
        number: Index of the text, which is the same for all voices of a language.
        text: The text.
        speed: The speed of the speech.
    """

    voice: str
    number: int
    text: str
    speed: float

    @property
    def file_name(self) -> str:
        """The name of the file of the result."""
        return f"{self.voice}-{self.number:02d}.npz"


@dataclass(frozen=True)
class Sample:
    """The result of one job.

    Attributes:
        voice, number, speed: See `Job`.
        style: The part of the style vector that the decoder reads, shape (128,).
        content: See `kokoro_voice.norm_statistics.content`.
        mean, variance: The exact norm statistics, see `NormStatistics`.
        token_frames: See `Prosody`.
        levels_db: The level of each 5 ms, relative to the loudest, shape (5 * frames,).
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
        """The length of the sentence, in frames."""
        return int(self.token_frames.sum())


def projection() -> tuple[Array, Array]:
    """Return random directions and offsets for `kokoro_voice.norm_statistics.content`."""
    generator = np.random.default_rng(0)
    shape = (_CHANNELS, _RECTIFIED + _SQUARED)
    # Rounded to the precision of the table.
    directions = generator.normal(0, _CHANNELS**-0.5, shape).astype(np.float16).astype(np.float32)
    return directions, generator.normal(0, 0.5, _RECTIFIED).astype(np.float32)


def texts_for(language: str) -> list[str]:
    """Return the sentences of a language, one of the values of `languages.LANGUAGES`."""
    texts: dict[str, list[str]] = tomllib.loads(TEXTS_PATH.read_text("utf-8"))
    return texts[_KEYS.get(language, language)]


def texts_sha256() -> str:
    """Return the sha256 of the file of texts, in hexadecimal."""
    return hashlib.sha256(TEXTS_PATH.read_bytes()).hexdigest()


_KEYS = {"en-us": "en", "en-gb": "en", "fr-fr": "fr"}


def jobs_for(model_dir: Path) -> list[Job]:
    """Return every sentence in every voice, shuffled: any number of jobs is a fair sample."""
    jobs = [
        Job(voice, number, text, SPEEDS[(number + place) % len(SPEEDS)])
        for place, voice in enumerate(Voices.in_directory(model_dir, _ANY_VOICE).names)
        for number, text in enumerate(texts_for(LANGUAGES[voice[0]]))
    ]
    random.Random(0).shuffle(jobs)
    return jobs


def collect(model_dir: Path, data_dir: Path, processes: int) -> None:
    """Do every job whose result is not in `data_dir` yet. Progress goes to stderr.

    Args:
        model_dir: See `Engine`.
        data_dir: The directory of the results. It is created if necessary.
        processes: The number of processes, with one thread each.

    Raises:
        BrokenProcessPool: A process was killed, or could not load the model.
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
    # The file gets its name only when it is complete.
    unfinished = path.with_suffix(f".{os.getpid()}")
    with unfinished.open("wb") as file:
        np.savez(file, **sample.__dict__)
    unfinished.rename(path)


def decode(engine: Engine, job: Job, phonemes: str, directions: Array, offset: Array) -> Sample:
    """Do one job.

    Args:
        engine: The engine that decodes it.
        job: The sentence, voice and speed.
        phonemes: The phonemes of the text. Those that the model does not know are ignored.
        directions: See `projection`.
        offset: See `projection`.
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
    """Read the results in `data_dir`, ordered by voice and sentence."""
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
