"""The committed table of statistics, against the real model."""

import hashlib
from pathlib import Path

import pytest

from kokoro_calibration.collect import TEXTS_PATH, decode, jobs_for, projection
from kokoro_calibration.fit import errors_of
from kokoro_voice.engine import Engine, NormStatistics
from kokoro_voice.g2p import Pronouncer
from kokoro_voice.languages import LANGUAGES
from kokoro_voice.norm_statistics import TABLE_PATH, NormStatisticsTable
from kokoro_voice.onnx_model import Cancellation
from kokoro_voice.voices import Voices

VOICE, NUMBER = "pf_dora", 15


@pytest.fixture(scope="module")
def engine(model_dir: Path) -> Engine:
    return Engine(model_dir, threads=2)


def test_the_table_is_what_a_calibration_gives(model_dir: Path, engine: Engine) -> None:
    """A table made with other texts, voices, norms or features would predict badly."""
    table = NormStatisticsTable.load(TABLE_PATH, engine.model_sha256)
    said = table.provenance
    voices = Voices.in_directory(model_dir, VOICE)
    assert said.texts_sha256 == hashlib.sha256(TEXTS_PATH.read_bytes()).hexdigest()
    assert set(said.voices) == set(voices.names)

    jobs = {(job.voice, job.number): job for job in jobs_for(model_dir)}
    assert said.sentences == len(jobs)
    job = jobs[VOICE, NUMBER]
    phonemes = Pronouncer().phonemes(job.text, LANGUAGES[VOICE[0]])
    sample = decode(engine, job, phonemes, *projection())
    prosody = engine.prosody(
        engine.known(phonemes), voices.resolve(VOICE), job.speed, Cancellation()
    )
    predicted = table.predict(prosody, voices.resolve(VOICE))
    assert predicted is not None
    mean_error, variance_error_db = errors_of(predicted, sample)
    # It was fitted to this sentence, so it must be better than to sentences it did not know.
    assert mean_error <= said.mean_error
    assert variance_error_db <= said.variance_error_db
    # And what is measured is an error: it tells another sentence's statistics from this one's.
    halved = NormStatistics(predicted.mean, predicted.variance / 2)
    assert errors_of(halved, sample)[1] > said.variance_error_p95_db
