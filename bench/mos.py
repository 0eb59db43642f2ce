"""The mean opinion score (MOS) that DNSMOS P.808 predicts listeners to give, on a scale of 1 to 5.

The model (https://arxiv.org/abs/2010.15258) is in the package `speechmos` (MIT). The package's own
code needs librosa for the spectrum, which is calculated here instead; a test compares the scores.
"""

from functools import cache
from importlib import resources

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from bench.hearing import WHISPER_RATE_HZ, resampled

_RATE_HZ = WHISPER_RATE_HZ
_CLIP_S = 9.01
_CLIP = round(_CLIP_S * _RATE_HZ)
_FFT, _HOP, _BANDS = 321, 160, 120
# The mel scale of Slaney's Auditory Toolbox: linear up to 1 kHz, then logarithmic.
_LINEAR_HZ, _LINEAR_MEL, _LOG_STEP = 1000.0, 15.0, np.log(6.4) / 27


def p808(audio: NDArray[np.float32], sample_rate_hz: int) -> float:
    """Return the predicted score of mono `audio`, shape (samples,), with full scale 1.0.

    It is the mean over clips of 9.01 s that begin 1 s apart. Shorter audio is repeated. As in the
    package, a second that has only begun does not count.

    Raises:
        ValueError: There is no audio.
    """
    if not len(audio):
        raise ValueError("no audio: there is nothing to score")
    samples = np.clip(resampled(audio, sample_rate_hz, _RATE_HZ), -1, 1)
    while len(samples) < _CLIP:
        samples = np.concatenate([samples, samples])
    clips = np.lib.stride_tricks.sliding_window_view(samples, _CLIP)[::_RATE_HZ]
    clips = clips[: int(len(samples) // _RATE_HZ - _CLIP_S) + 1]
    scores = [_session().run(None, {"input_1": _features(clip)[np.newaxis]})[0] for clip in clips]
    return float(np.mean(scores))


@cache
def _session() -> ort.InferenceSession:
    model = resources.files("speechmos") / "dnsmos_models" / "model_v8.onnx"
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    return ort.InferenceSession(model.read_bytes(), options, providers=["CPUExecutionProvider"])


def _features(clip: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the levels that the model expects, shape (frames, bands), from -1 to 1."""
    padded = np.pad(clip[:-_HOP], _FFT // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FFT)[::_HOP]
    window = np.hanning(_FFT + 1)[:-1]
    power = np.square(np.abs(np.fft.rfft(frames * window, axis=1))) @ _mel_filters()
    levels_db = 10 * np.log10(np.maximum(power, 1e-10))
    levels_db = np.maximum(levels_db - levels_db.max(), -80)
    features: NDArray[np.float32] = ((levels_db + 40) / 40).astype(np.float32)
    return features


@cache
def _mel_filters() -> NDArray[np.float64]:
    """Return triangles of equal area, shape (frequencies, bands)."""
    highest = _LINEAR_MEL + np.log(_RATE_HZ / 2 / _LINEAR_HZ) / _LOG_STEP
    mel = np.linspace(0, highest, _BANDS + 2)
    edges = np.where(
        mel < _LINEAR_MEL,
        mel * _LINEAR_HZ / _LINEAR_MEL,
        _LINEAR_HZ * np.exp(_LOG_STEP * (mel - _LINEAR_MEL)),
    )
    below, centre, above = edges[:-2], edges[1:-1], edges[2:]
    frequencies = np.fft.rfftfreq(_FFT, 1 / _RATE_HZ)[:, np.newaxis]
    rising = (frequencies - below) / (centre - below)
    falling = (above - frequencies) / (above - centre)
    triangles: NDArray[np.float64] = np.maximum(0.0, np.minimum(rising, falling))
    triangles *= 2 / (above - below)
    return triangles
