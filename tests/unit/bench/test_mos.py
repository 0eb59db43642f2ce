"""The predicted opinion score is that of the package whose model it uses."""

import numpy as np
import pytest

from bench import ROOT
from bench.mos import p808
from bench.samples import read_mp3
from kokoro_voice.audio import SAMPLE_RATE_HZ

SAMPLE = read_mp3(ROOT / "docs" / "samples" / "af_heart.mp3")


@pytest.mark.parametrize(
    ("audio", "score"),
    [
        (SAMPLE, 4.262),
        (np.concatenate([SAMPLE] * 3), 4.259),
    ],
    ids=["short", "long"],
)
def test_the_score_is_that_of_the_package(audio: np.ndarray, score: float) -> None:
    """A spectrum that differs from librosa's gives a score that means nothing.

    The scores are those of `speechmos.dnsmos.run` with librosa 0.11 for the same samples.
    """
    assert p808(audio, SAMPLE_RATE_HZ) == pytest.approx(score, abs=0.005)


def test_noise_lowers_the_score() -> None:
    """A score that does not depend on the audio would let the gate pass anything."""
    noise = np.random.default_rng(0).normal(0, 0.05, len(SAMPLE)).astype(np.float32)
    assert p808(SAMPLE + noise, SAMPLE_RATE_HZ) < p808(SAMPLE, SAMPLE_RATE_HZ) - 1


def test_no_audio_has_no_score() -> None:
    """Repeating nothing until it is 9 s long would never end."""
    with pytest.raises(ValueError, match="no audio"):
        p808(SAMPLE[:0], SAMPLE_RATE_HZ)
