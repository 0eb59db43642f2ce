"""Does a built model speak? One sentence, and five properties in which speech differs from noise.

The bounds are wide around what `VOICE` measures (in brackets); silence, hum, noise, even noise with
the loudness of speech, and an utterance cut short each fall outside at least one.
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
# "The quick brown fox jumps over the lazy dog.", in the phonemes Kokoro is trained on (misaki's).
PHONEMES = "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ."

MIN_SPLIT_SNR_DB = 60.0

_LEVEL_FRAME = 600  # samples, 25 ms: shorter than a syllable, longer than a pitch period
_SPECTRUM_FRAME = 1024  # samples, 43 ms
_BAND_BINS = 4  # of 24000 / 1024 Hz each: 94 Hz
_ACTIVE_RANGE_DB = 30.0  # frames this far below the loudest count as pauses


# ONNX Runtime's exceptions have no common base; ValueError is for inputs it does not know.
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
    """What `measure` finds in one utterance.

    Attributes:
        duration_s: its length.
        peak: the largest sample, absolute, 1.0 is full scale.
        level_range_db: between the 10th and 90th percentile of the levels of its 25 ms frames,
            pauses left out. Syllables come and go; noise and hum stay.
        spectral_flatness: geometric over arithmetic mean of its mean power spectrum: 1.0 for
            white noise, near 0 for a tone.
        strongest_band_share: of the energy, in the strongest 94 Hz of the spectrum. A voice spreads
            over harmonics and formants; a hum does not.
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
        ModelBuildError: the graph does not run, or what it says is not like speech.
    """
    return check_speech(synthesize(graph, voice, vocabulary))


def synthesize(graph: Path, voice: Path, vocabulary: dict[str, int]) -> NDArray[np.float32]:
    """`PHONEMES` as mono audio at `SAMPLE_RATE_HZ`, shape (samples,).

    Raises:
        ModelBuildError: a phoneme is not in the vocabulary, or the graph does not run.
    """
    (audio,) = _run(graph, model_inputs(PHONEMES, voice, vocabulary)).values()
    return audio.ravel()


def compare_split(
    graph: Path, split_files: dict[str, Path], voice: Path, vocabulary: dict[str, int]
) -> dict[str, float]:
    """How close the subgraphs of a split graph come to the whole one, on `PHONEMES`.

    Args:
        graph: the whole graph.
        split_files: `prosody`, `generator_exact` and `generator`, for any device and the CPU
            (`_cpu`).
        voice: see `self_test`.
        vocabulary: likewise.

    Returns:
        `split_snr_db` and `split_cpu_snr_db`: signal to noise, with the worse of two generators.

    Raises:
        ModelBuildError: a subgraph does not run, or one is less than `MIN_SPLIT_SNR_DB`.
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
        # Written so that NaN fails.
        if not snr_db >= MIN_SPLIT_SNR_DB:
            raise ModelBuildError(
                f"self-test: {name} differ from the whole graph: {snr_db:.1f} dB "
                f"signal to noise, at least {MIN_SPLIT_SNR_DB:g} dB expected"
            )
        found[f"split{device}_snr_db"] = round(snr_db, 1)
    return found


def model_inputs(phonemes: str, voice: Path, vocabulary: dict[str, int]) -> dict[str, NDArray[Any]]:
    """What the whole graph takes, and prosody, to say `phonemes` with the style vectors in `voice`.

    Raises:
        ModelBuildError: a phoneme is not in the vocabulary.
    """
    if missing := sorted(set(phonemes) - vocabulary.keys()):
        raise ModelBuildError(f"self-test: not in the vocabulary: {' '.join(missing)}")
    tokens = [vocabulary[phoneme] for phoneme in phonemes]
    styles = np.fromfile(voice, "<f4").reshape(510, 1, 256)
    return {
        # Kokoro expects a 0 at both ends, and the style for this many phonemes.
        "tokens": np.array([[0, *tokens, 0]], np.int64),
        "style": styles[len(tokens) - 1],
        "speed": np.ones(1, np.float32),
    }


def _run(graph: Path, inputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[np.float32]]:
    """The outputs of the model at `graph` by name."""
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
    """Hold `audio`, shape (samples,) at `SAMPLE_RATE_HZ`, to the bounds of this module.

    Raises:
        ModelBuildError: a property is out of its bounds; it is named with value and bounds.
    """
    measures = measure(audio)
    for name, value in asdict(measures).items():
        low, high = _BOUNDS[name]
        # Written so that NaN fails.
        if not low <= value <= high:
            raise ModelBuildError(
                f"self-test: the model's audio is not like speech: {name} is {value:.3g}, "
                f"expected {low:g} to {high:g}"
            )
    return measures


def measure(audio: NDArray[np.float32]) -> SpeechMeasures:
    """Measure `audio`, shape (samples,) at `SAMPLE_RATE_HZ`.

    Properties that silence, or audio of less than a frame, does not have are NaN; so is
    everything but the duration if a sample is not finite.
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
    # Without the constant part, which is nothing one hears.
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
