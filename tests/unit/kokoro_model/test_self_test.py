"""The self-test is what stands between a broken conversion and a container that hums."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.hearing import transcribe, word_error_rate
from kokoro_model.errors import ModelBuildError
from kokoro_model.manifest import BuiltManifest
from kokoro_model.self_test import (
    SAMPLE_RATE_HZ,
    VOICE,
    check_speech,
    measure,
    self_test,
    synthesize,
)

GRAPH = "kokoro-v1.0.fp32.onnx"
DURATION_S = 3.25  # of the real sentence
SAMPLES = round(DURATION_S * SAMPLE_RATE_HZ)


def vocabulary(model_dir: Path) -> dict[str, int]:
    content: dict[str, int] = json.loads((model_dir / "vocab.json").read_text())
    return content


@pytest.fixture(scope="module")
def spoken(model_dir: Path) -> NDArray[np.float32]:
    voice = model_dir / "voices" / f"{VOICE}.bin"
    return synthesize(model_dir / GRAPH, voice, vocabulary(model_dir))


def syllables() -> NDArray[np.float64]:
    """A loudness that rises and falls four times a second, as speech does."""
    return 0.5 + 0.5 * np.sin(2 * np.pi * 4 * np.arange(SAMPLES) / SAMPLE_RATE_HZ)


def tone(frequency_hz: float) -> NDArray[np.float64]:
    return 0.5 * np.sin(2 * np.pi * frequency_hz * np.arange(SAMPLES) / SAMPLE_RATE_HZ)


def noise() -> NDArray[np.float64]:
    return np.random.default_rng(1).normal(0, 0.1, SAMPLES)


def test_the_real_model_passes(spoken: NDArray[np.float32], model_dir: Path) -> None:
    """Bounds must not be so tight that another processor's rounding fails the build."""
    measures = asdict(check_speech(spoken))
    built = BuiltManifest.model_validate_json((model_dir / "manifest.json").read_text())
    for name, value in measures.items():
        assert value == pytest.approx(built.self_test[name], rel=0.05)


def test_the_real_model_says_the_sentence(spoken: NDArray[np.float32]) -> None:
    """Slightly wrong weights give fluent speech with other words."""
    heard = transcribe(spoken, SAMPLE_RATE_HZ)
    assert word_error_rate("The quick brown fox jumps over the lazy dog.", heard) == 0.0


@pytest.mark.parametrize(
    ("audio", "fails"),
    [
        (np.zeros(SAMPLES), "peak"),
        (np.zeros(0), "duration_s"),
        (np.full(SAMPLES, 0.5), "level_range_db"),
        (noise(), "level_range_db"),
        (noise() * syllables(), "spectral_flatness"),
        (tone(220), "level_range_db"),
        (tone(220) * syllables(), "spectral_flatness"),
        (np.sign(tone(120)) * 0.3 * syllables(), "strongest_band_share"),
    ],
    ids=[
        "silence",
        "nothing",
        "constant",
        "noise",
        "noise in syllables",
        "hum",
        "hum in syllables",
        "buzz in syllables",
    ],
)
def test_what_is_not_speech_is_rejected(audio: NDArray[np.float64], fails: str) -> None:
    """A broken graph may give such audio: of the right length, but without words."""
    with pytest.raises(ModelBuildError, match=rf"not like speech: {fails} is"):
        check_speech(audio.astype(np.float32))


def test_noise_as_loud_as_the_speech_is_rejected(spoken: NDArray[np.float32]) -> None:
    """A broken generator may give noise with exactly the loudness of speech."""
    whole = len(spoken) // 600 * 600
    loudness = np.sqrt(np.square(spoken[:whole]).reshape(-1, 600).mean(axis=1)).repeat(600)
    hiss = np.random.default_rng(2).normal(0, 1, whole) * loudness
    with pytest.raises(ModelBuildError, match="spectral_flatness"):
        check_speech(hiss.astype(np.float32))


def test_truncated_speech_is_rejected(spoken: NDArray[np.float32]) -> None:
    """Half a sentence sounds fine as far as it goes."""
    with pytest.raises(ModelBuildError, match="duration_s"):
        check_speech(spoken[: len(spoken) // 2])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_sample_that_is_not_finite_is_rejected(spoken: NDArray[np.float32], bad: float) -> None:
    """Comparisons with NaN are false, so every bound would pass if they were inverted."""
    broken = spoken.copy()
    broken[1000] = bad
    with pytest.raises(ModelBuildError, match="not like speech"):
        check_speech(broken)


def test_clipping_is_rejected(spoken: NDArray[np.float32]) -> None:
    """A wrongly scaled weight gives loud audio, which is distorted as 16-bit samples."""
    with pytest.raises(ModelBuildError, match="peak"):
        check_speech(spoken * 4)


def test_measures_are_finite_for_speech(spoken: NDArray[np.float32]) -> None:
    """The measures are stored in manifest.json, and JSON has no NaN."""
    assert np.isfinite(list(asdict(measure(spoken)).values())).all()


def test_a_graph_that_does_not_run_is_a_clear_error(model_dir: Path, tmp_path: Path) -> None:
    """ONNX Runtime's exceptions have no common base class and would give a traceback."""
    graph = tmp_path / GRAPH
    graph.write_bytes(b"not a graph")
    voice = model_dir / "voices" / f"{VOICE}.bin"
    with pytest.raises(ModelBuildError, match=f"{GRAPH} does not run"):
        self_test(graph, voice, vocabulary(model_dir))
    with pytest.raises(ModelBuildError, match="not in the vocabulary: ˈ"):
        self_test(graph, voice, {key: 1 for key in vocabulary(model_dir) if key != "ˈ"})
