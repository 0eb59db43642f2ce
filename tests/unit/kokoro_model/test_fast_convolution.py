"""Convolutions that multiply half as often give what convolutions give."""

import numpy as np
import pytest

from bench.speech_distance import snr_db
from kokoro_model.cpu_generator import SINE
from kokoro_model.fast_convolution import PHASES, FastConvolution, toom_cook


@pytest.mark.parametrize("taps", [1, 2, 3, 4, 7, 11])
def test_toom_cook_filters(taps: int) -> None:
    """With a wrong point or a wrong inverse, the outputs are not those of the filter."""
    inputs, filters, outputs = toom_cook(PHASES, taps)
    random = np.random.default_rng(taps)
    x, taps_given = random.standard_normal(PHASES + taps - 1), random.standard_normal(taps)
    made = outputs @ ((filters @ taps_given) * (inputs @ x))
    assert made == pytest.approx(np.correlate(x, taps_given, "valid"), abs=1e-9)


@pytest.mark.parametrize("dilation", [1, 3, 5])
@pytest.mark.parametrize("taps", [3, 7, 11])
def test_the_three_convolutions_equal_the_one(taps: int, dilation: int) -> None:
    """A misplaced phase or tile sounds right only in the middle of a vowel."""
    random = np.random.default_rng(taps * dilation)
    channels, samples = 3, 44
    weight = random.standard_normal((channels, channels, taps)).astype(np.float32)
    bias = random.standard_normal(channels).astype(np.float32)
    x = random.standard_normal((channels, samples))
    pad = dilation * (taps // 2)
    padded = np.pad(x, ((0, 0), (pad, pad)))
    expected = bias[:, None] + sum(
        weight[:, :, tap] @ padded[:, tap * dilation : tap * dilation + samples]
        for tap in range(taps)
    )

    fast = FastConvolution.of(weight, bias, dilation)
    phases = x.reshape(channels, -1, PHASES).transpose(2, 0, 1)
    at_points = across(np.pad(phases, ((0, 0), (0, 0), fast.evaluation_pads)), fast.evaluation)
    points = len(fast.evaluation)
    filters = fast.products.reshape(points, channels, channels, -1)
    pieces = filters.shape[-1]
    length = at_points.shape[-1] - dilation * (pieces - 1)
    products = fast.products_bias.reshape(points, channels, 1) + sum(
        filters[..., piece] @ at_points[:, :, piece * dilation : piece * dilation + length]
        for piece in range(pieces)
    )
    made = across(products, fast.interpolation).transpose(1, 2, 0).reshape(channels, -1)
    assert made == pytest.approx(expected, abs=1e-9)


def across(signal: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """A convolution with `weight` (out, in, 1, width) along time, equal for all channels."""
    width = weight.shape[-1]
    length = signal.shape[-1] - width + 1
    return sum(
        np.einsum("oi,ict->oct", weight[:, :, 0, step], signal[:, :, step : step + length])
        for step in range(width)
    )


def test_the_polynomial_is_the_sine() -> None:
    """Snake squares the sine. An error of 0.001 would be noise at -60 dB in every block."""
    turn = np.linspace(0, 1, 10_001)
    parabola = turn * (1 - turn)
    made = parabola * (SINE[0] + SINE[1] * parabola + SINE[2] * parabola**2)
    assert np.abs(made - np.sin(np.pi * turn)).max() < 8e-6
    assert snr_db(np.sin(np.pi * turn) ** 2, made**2) > 95
