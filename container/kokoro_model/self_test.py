"""Self-test of a built model: it speaks one sentence, whose audio must look like speech.

Five properties distinguish speech from other sounds. Their bounds are wide around the values of
`VOICE` (in brackets). Silence, hum, noise, even noise with the loudness of speech, and an utterance
cut short are each outside at least one bound.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from kokoro_model.errors import ModelBuildError

SAMPLE_RATE_HZ = 24_000
VOICE = "af_heart"
# "The quick brown fox jumps over the lazy dog." in misaki's phonemes, on which Kokoro is trained.
PHONEMES = "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ."

MIN_SPLIT_SNR_DB = 60.0

_LEVEL_FRAME = 600  # Samples, 25 ms: shorter than a syllable, longer than a pitch period.
_SPECTRUM_FRAME = 1024  # Samples, 43 ms.
_BAND_BINS = 4  # Bins of 24000 / 1024 Hz each: 94 Hz.
_ACTIVE_RANGE_DB = 30.0  # Frames that are this far below the loudest count as pauses.


# ONNX Runtime's exceptions have no common base class. Unknown inputs give a ValueError.
_ORT_ERRORS = (
    ort_errors.Fail,
    ort_errors.InvalidArgument,
    ort_errors.InvalidGraph,
    ort_errors.InvalidProtobuf,
    ort_errors.NotImplemented,
    ort_errors.RuntimeException,
    ValueError,
)


@dataclass(frozen=True)
class SpeechMeasures:
    """The measurements of one utterance.

    Attributes:
        duration_s: Its length.
        peak: The largest absolute sample; 1.0 is full scale.
        level_range_db: The range from the 10th to the 90th percentile of the levels of its 25 ms
            frames, pauses left out. It is large for syllables, small for noise and hum.
        spectral_flatness: Geometric divided by arithmetic mean of its average power spectrum: 1.0
            for white noise, near 0 for a tone.
        strongest_band_share: The share of the energy in the strongest 94 Hz of the spectrum. The
            energy of a voice is spread over harmonics and formants; that of a hum is not.
    """

    duration_s: float
    peak: float
    level_range_db: float
    spectral_flatness: float
    strongest_band_share: float


_BOUNDS = {
    "duration_s": (2.4, 4.2),  # [3.25]
    "peak": (0.1, 1.0),  # [0.47]
    "level_range_db": (10.0, 40.0),  # [21.1]; steady noise 0.6, pink noise 4.8
    "spectral_flatness": (0.001, 0.3),  # [0.11]; white noise 0.996, a tone 0.0
    "strongest_band_share": (0.0, 0.5),  # [0.25]; a tone 0.96, a 120 Hz buzz 0.54
}


def self_test(graph: Path, voice: Path, vocabulary: dict[str, int]) -> SpeechMeasures:
    """Speak `PHONEMES` with the ONNX model at `graph` and the style vectors in `voice`.

    Raises:
        ModelBuildError: The graph does not run, or its audio is not like speech.
    """
    return check_speech(synthesize(graph, voice, vocabulary))


def synthesize(graph: Path, voice: Path, vocabulary: dict[str, int]) -> NDArray[np.float32]:
    """Return `PHONEMES` as mono audio at `SAMPLE_RATE_HZ`, shape (samples,).

    Raises:
        ModelBuildError: A phoneme is not in the vocabulary, or the graph does not run.
    """
    (audio,) = _run(graph, model_inputs(PHONEMES, voice, vocabulary)).values()
    return audio.ravel()


def compare_split(
    graph: Path, split_files: dict[str, Path], voice: Path, vocabulary: dict[str, int]
) -> dict[str, float]:
    """Measure how close the subgraphs come to the whole graph, on `PHONEMES`.

    Args:
        graph: The whole graph.
        split_files: `prosody`, `generator_exact` and `generator`, and the same for CPUs with the
            suffix `_cpu`.
        voice: See `self_test`.
        vocabulary: See `self_test`.

    Returns:
        `split_snr_db` and `split_cpu_snr_db`: the signal to noise ratio of the worse of the two
        generators.

    Raises:
        ModelBuildError: A subgraph does not run, or a ratio is below `MIN_SPLIT_SNR_DB`.
    """
    whole = synthesize(graph, voice, vocabulary)
    found = {}
    for device, name in (("", "the subgraphs"), ("_cpu", "the subgraphs for CPUs")):
        sentence = model_inputs(PHONEMES, voice, vocabulary)
        prosody = _run(split_files[f"prosody{device}"], sentence)
        inputs = {key: prosody[key] for key in ("features", "harmonics", "gain", "bias")}
        exact = _run(split_files[f"generator_exact{device}"], inputs)
        statistics = {key: exact[key] for key in ("mean", "variance")}
        windowed = _run(split_files[f"generator{device}"], inputs | statistics)
        snr_db = min(_snr_db(whole, outputs["audio"].ravel()) for outputs in (exact, windowed))
        # The condition is negated so that NaN fails, too.
        if not snr_db >= MIN_SPLIT_SNR_DB:
            raise ModelBuildError(
                f"self-test: {name} differ from the whole graph: {snr_db:.1f} dB signal to noise, "
                f"expected at least {MIN_SPLIT_SNR_DB:g} dB"
            )
        found[f"split{device}_snr_db"] = round(snr_db, 1)
    return found


def model_inputs(phonemes: str, voice: Path, vocabulary: dict[str, int]) -> dict[str, NDArray[Any]]:
    """Return the inputs of the whole graph, or of prosody, for `phonemes` in the style of `voice`.

    Raises:
        ModelBuildError: A phoneme is not in the vocabulary.
    """
    if missing := sorted(set(phonemes) - vocabulary.keys()):
        raise ModelBuildError(f"self-test: not in the vocabulary: {' '.join(missing)}")
    tokens = [vocabulary[phoneme] for phoneme in phonemes]
    styles = np.fromfile(voice, "<f4").reshape(510, 1, 256)
    return {
        # Kokoro expects a 0 at both ends, and the style for this number of phonemes.
        "tokens": np.array([[0, *tokens, 0]], np.int64),
        "style": styles[len(tokens) - 1],
        "speed": np.ones(1, np.float32),
    }


def _run(graph: Path, inputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.float32]]:
    """Return the outputs of the model at `graph`, by name."""
    try:
        session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        return dict(zip(names, session.run(names, inputs), strict=True))
    except _ORT_ERRORS as error:
        raise ModelBuildError(f"self-test: {graph.name} does not run: {error}") from error


def _snr_db(expected: NDArray[np.float32], found: NDArray[np.float32]) -> float:
    if expected.shape != found.shape:
        return -np.inf
    noise = np.square(expected - found, dtype=np.float64).sum()
    signal = np.square(expected, dtype=np.float64).sum()
    return float(10 * np.log10(signal / max(noise, 1e-30)))


def check_speech(audio: NDArray[np.float32]) -> SpeechMeasures:
    """Compare `audio`, shape (samples,) at `SAMPLE_RATE_HZ`, with the bounds of this module.

    Raises:
        ModelBuildError: A property is out of bounds. The message gives its value and the bounds.
    """
    measures = measure(audio)
    for name, value in asdict(measures).items():
        low, high = _BOUNDS[name]
        # The condition is negated so that NaN fails, too.
        if not low <= value <= high:
            raise ModelBuildError(
                f"self-test: the model's audio is not like speech: {name} is {value:.3g}, "
                f"expected {low:g} to {high:g}"
            )
    return measures


def measure(audio: NDArray[np.float32]) -> SpeechMeasures:
    """Measure `audio`, shape (samples,) at `SAMPLE_RATE_HZ`.

    A property that is undefined, for silence or for audio shorter than a frame, is NaN. If a sample
    is not finite, everything but the duration is NaN.
    """
    duration_s = len(audio) / SAMPLE_RATE_HZ
    peak = float(np.abs(audio).max(initial=0.0))
    if len(audio) < _SPECTRUM_FRAME or not 0.0 < peak < np.inf:
        nan = float("nan")
        return SpeechMeasures(duration_s, peak, nan, nan, nan)

    whole = len(audio) // _LEVEL_FRAME * _LEVEL_FRAME
    power = np.square(audio[:whole], dtype=np.float64).reshape(-1, _LEVEL_FRAME).mean(axis=1)
    level_db = 10 * np.log10(np.maximum(power / power.max(), 1e-12))
    low, high = np.percentile(level_db[level_db > -_ACTIVE_RANGE_DB], [10, 90])

    frames = np.lib.stride_tricks.sliding_window_view(audio, _SPECTRUM_FRAME)
    windowed = frames[:: _SPECTRUM_FRAME // 2] * np.hanning(_SPECTRUM_FRAME)
    # Without the constant component, which is inaudible.
    spectrum = np.square(np.abs(np.fft.rfft(windowed, axis=1))).mean(axis=0)[1:]
    flatness = np.exp(np.log(np.maximum(spectrum, 1e-30)).mean()) / spectrum.mean()
    bands = spectrum.reshape(-1, _BAND_BINS).sum(axis=1)
    return SpeechMeasures(
        duration_s=duration_s,
        peak=peak,
        level_range_db=float(high - low),
        spectral_flatness=float(flatness),
        strongest_band_share=float(bands.max() / bands.sum()),
    )
