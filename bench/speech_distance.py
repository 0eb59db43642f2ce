"""Distances between two renderings of an utterance: spectrum, loudness, joins and samples.

Audio is float, mono, 24 kHz, shape (samples,). The first argument is the reference. It alone
decides which frames or steps are compared, and what level counts as silent. Both renderings must
have the same length, because the renderings that are compared here have the same durations.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kokoro_voice.audio import SAMPLE_RATE_HZ

Audio = NDArray[np.floating]
_Spectra = NDArray[np.float64]

ACTIVE_RANGE_DB = 40.0
"""Frames or steps that are quieter than the loudest by more than this are silent. They are not
compared."""
_FLOOR_DB = -70.0
_FFT_SAMPLES, _HOP_SAMPLES = 1024, 256
_MEL_BANDS, _LOWEST_HZ, _HIGHEST_HZ = 80, 40.0, 11_000.0
_LOUDNESS_STEP = SAMPLE_RATE_HZ // 20  # samples, 50 ms
_LEVEL_STEP = SAMPLE_RATE_HZ // 100  # samples, 10 ms
_JOIN_SIDE = SAMPLE_RATE_HZ // 50  # samples, 20 ms: a few periods of a low voice


def mel_distance_db(reference: Audio, audio: Audio) -> float:
    """Return the root mean square difference of the mel spectra in dB, averaged over the frames.

    The 80 triangular bands from 40 Hz to 11 kHz are equally spaced on O'Shaughnessy's mel scale,
    2595 log10(1 + f / 700). The frames are Hann windows of 1024 samples, 256 samples apart. Only
    frames within `ACTIVE_RANGE_DB` of the loudest count. Levels more than 70 dB below the strongest
    band of all are treated as equal.

    Returns:
        The distance in dB; 0.0 if the two are equal, or if nothing is audible in the reference.

    Raises:
        ValueError: The lengths differ, or are less than a frame.
    """
    _require_equal_length(reference, audio)
    if len(reference) < _FFT_SAMPLES:
        raise ValueError(f"audio of {len(reference)} samples: must have at least {_FFT_SAMPLES}")
    power = _mel_power(reference)
    frame_power = power.sum(axis=1)
    if frame_power.max() == 0.0:
        return 0.0
    active = frame_power > frame_power.max() * _power_ratio(-ACTIVE_RANGE_DB)
    floor = power.max() * _power_ratio(_FLOOR_DB)
    difference_db = 10 * np.log10(
        np.maximum(_mel_power(audio)[active], floor) / np.maximum(power[active], floor)
    )
    return float(np.sqrt(np.square(difference_db).mean(axis=1)).mean())


def beginning(reference: Audio, audio: Audio, duration_s: float) -> tuple[Audio, Audio]:
    """Return the beginnings of both, from the reference's onset to `duration_s` seconds after it.

    They start half a spectral frame before the onset, which is the first sample within
    `ACTIVE_RANGE_DB` of the reference's peak.

    Raises:
        ValueError: The lengths differ.
    """
    _require_equal_length(reference, audio)
    amplitude = np.abs(reference)
    onset = int(np.argmax(amplitude > amplitude.max() * 10 ** (-ACTIVE_RANGE_DB / 20)))
    start = max(0, onset - _FFT_SAMPLES // 2)
    end = onset + round(duration_s * SAMPLE_RATE_HZ)
    return reference[start:end], audio[start:end]


def loudness_difference_db(reference: Audio, audio: Audio) -> float:
    """Return the 95th percentile of the difference in level, in dB, over the steps of 50 ms.

    Only steps within `ACTIVE_RANGE_DB` of the loudest count. An incomplete step at the end does
    not.

    Returns:
        The difference in dB; 0.0 if the two are equal, or if nothing is audible in the reference.

    Raises:
        ValueError: The lengths differ.
    """
    _require_equal_length(reference, audio)
    power = _step_power(reference, _LOUDNESS_STEP)
    loudest = power.max(initial=0.0)
    active = power > loudest * _power_ratio(-ACTIVE_RANGE_DB)
    if not active.any():
        return 0.0
    floor = loudest * _power_ratio(_FLOOR_DB)
    difference_db = 10 * np.log10(
        np.maximum(_step_power(audio, _LOUDNESS_STEP)[active], floor) / power[active]
    )
    return float(np.percentile(np.abs(difference_db), 95))


def join_step_db(reference: Audio, audio: Audio, joins: Sequence[int]) -> float:
    """Return the largest step in level, in dB, that `audio` has at a join and `reference` has not.

    At each join, the level of the 20 ms after it is compared with the level of the 20 ms before it,
    in `audio` and in `reference`. A join with less than 20 ms on either side is left out. A hum at
    `ACTIVE_RANGE_DB` below the reference's peak is added to both, so that silence is not compared.

    Args:
        reference: The same speech, decoded at once.
        audio: The speech that was joined from windows.
        joins: The index of the first sample of each window after the first.

    Returns:
        The step in dB; 0.0 if there is no join.

    Raises:
        ValueError: The lengths differ.
    """
    _require_equal_length(reference, audio)
    peak = float(np.abs(reference).max(initial=0.0))
    hum = np.square(peak) * _power_ratio(-ACTIVE_RANGE_DB)

    def step_db(samples: Audio, join: int) -> float:
        before, after = (
            np.square(side.astype(np.float64)).mean() + hum
            for side in (samples[join - _JOIN_SIDE : join], samples[join : join + _JOIN_SIDE])
        )
        return float(10 * np.log10(after / before))

    if not hum:
        return 0.0
    return max(
        (
            abs(step_db(audio, join) - step_db(reference, join))
            for join in joins
            if _JOIN_SIDE <= join <= len(reference) - _JOIN_SIDE
        ),
        default=0.0,
    )


def level_db(section: Audio, reference: Audio) -> float:
    """Return the level of the loudest 10 ms of `section`, relative to those of `reference`, in dB.

    Args:
        section: A section of the reference.
        reference: The whole utterance.

    Returns:
        The level in dB; minus infinity if the section is shorter than 10 ms, or silent.

    Raises:
        ValueError: The reference is silent.
    """
    loudest, whole = (
        float(_step_power(samples, _LEVEL_STEP).max(initial=0.0))
        for samples in (section, reference)
    )
    if not whole:
        raise ValueError("the reference is silent, so nothing can be compared with it")
    return float(10 * np.log10(loudest / whole)) if loudest else float("-inf")


def snr_db(reference: Audio, audio: Audio) -> float:
    """Return the power of the reference relative to that of the difference, in dB.

    Returns:
        The signal-to-noise ratio in dB; infinity if the two are equal.

    Raises:
        ValueError: The lengths differ, or the reference is silent.
    """
    _require_equal_length(reference, audio)
    exact = reference.astype(np.float64)
    signal = np.square(exact).sum()
    if not signal:
        raise ValueError("the reference is silent, so nothing can be compared with it")
    noise = np.square(exact - audio).sum()
    return float(10 * np.log10(signal / noise)) if noise else float("inf")


def _step_power(samples: Audio, step: int) -> _Spectra:
    """Return the power of each step of `step` samples, without an incomplete step at the end."""
    whole = samples[: len(samples) // step * step].astype(np.float64)
    power: _Spectra = np.square(whole).reshape(-1, step).mean(axis=1)
    return power


def _mel_power(samples: Audio) -> _Spectra:
    frames = np.lib.stride_tricks.sliding_window_view(samples, _FFT_SAMPLES)[::_HOP_SAMPLES]
    spectrum = np.fft.rfft(frames * np.hanning(_FFT_SAMPLES), axis=1)
    power: _Spectra = np.square(np.abs(spectrum)) @ _MEL_FILTERS
    return power


def _mel_filters() -> _Spectra:
    """Return the weight of every frequency in every band, shape (frequencies, bands)."""
    lowest, highest = (2595 * np.log10(1 + hz / 700) for hz in (_LOWEST_HZ, _HIGHEST_HZ))
    edges = 700 * (10 ** (np.linspace(lowest, highest, _MEL_BANDS + 2) / 2595) - 1)
    below, centre, above = edges[:-2], edges[1:-1], edges[2:]
    frequencies = np.fft.rfftfreq(_FFT_SAMPLES, 1 / SAMPLE_RATE_HZ)[:, np.newaxis]
    rising = (frequencies - below) / (centre - below)
    falling = (above - frequencies) / (above - centre)
    return np.maximum(0.0, np.minimum(rising, falling))


_MEL_FILTERS = _mel_filters()


def _power_ratio(db: float) -> float:
    return float(10 ** (db / 10))


def _require_equal_length(reference: Audio, audio: Audio) -> None:
    if len(reference) != len(audio):
        raise ValueError(f"audio of {len(audio)} samples: the reference has {len(reference)}")
