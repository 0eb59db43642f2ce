"""Fit the table that `kokoro_server.statistics` predicts with: a ridge regression of low rank."""

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from calibration.collect import SPEEDS, Sample, load, projection, texts_sha256
from kokoro_server.engine import Statistics
from kokoro_server.statistics import (
    VARIANCE_FLOOR,
    Array,
    Basis,
    Input,
    Provenance,
    Regression,
    StatisticsTable,
)

RANK = 160
"""Components of the statistics that are predicted."""
_STYLE_AXES, _CONTENT_AXES = 40, 48
_FOLDS = 4

# Prior variances of the variables' coefficients, whole groups together; the constant is free.
# Chosen by cross-validation, which hardly tells them from half or twice as much, except that the
# harmonic source deserves more than its 66 features among 896 others.
_PRIOR_CONSTANT, _PRIOR_SHORTNESS, _PRIOR_STYLE, _PRIOR_CONTENT, _PRIOR_PRODUCTS = 1e3, 1, 30, 3, 1
_HARMONIC_FEATURES, _HARMONIC_GAIN = 66, 4.0
_NOISE = 0.1
"""Variance of the statistics of a sentence of average length, which chance adds."""


def fit(data_dir: Path, model_sha256: str, out: Path) -> Provenance:
    """Fit a table to the results in `data_dir` and write it.

    Args:
        data_dir: where `collect` put its results.
        model_sha256: of the model they were decoded with.
        out: where the table goes.

    Returns:
        What the table says of itself.

    Raises:
        OSError: a file cannot be read or written.
    """
    samples = load(data_dir)
    errors = cross_validate(samples)
    provenance = Provenance(
        date=datetime.now(UTC).date().isoformat(),
        model_sha256=model_sha256,
        texts_sha256=texts_sha256(),
        versions={name: version(name) for name in ("misaki", "numpy", "onnxruntime")},
        voices=tuple(sorted({sample.voice for sample in samples})),
        sentences=len(samples),
        speeds=tuple(sorted(set(SPEEDS))),
        mean_error=round(float(errors[:, 0].mean()), 4),
        variance_error_db=round(float(errors[:, 1].mean()), 3),
        variance_error_p95_db=round(float(np.percentile(errors[:, 1], 95)), 3),
    )
    directions, offset = projection()
    StatisticsTable(provenance, directions, offset, regression(samples)).save(out)
    return provenance


def regression(samples: Sequence[Sample], rank: int = RANK) -> Regression:
    """The regression of all `samples`; each counts as much as it is long.

    Its rank is reduced as in Izenman, Reduced-rank regression for the multivariate linear model
    (1975): to the main axes of what the full one predicts.
    """
    given = input_of(samples)
    weight = given.frames / given.frames.mean()
    means = np.stack([sample.mean for sample in samples])
    variances = np.stack([sample.variance for sample in samples])
    log_variances = np.log(variances + VARIANCE_FLOOR)
    mean = _weighted_mean(means, weight)
    scale = np.sqrt(_weighted_mean(variances + np.square(means - mean), weight) + VARIANCE_FLOOR)
    log_variance = _weighted_mean(log_variances, weight)
    targets = np.hstack([(means - mean) / scale, log_variances - log_variance])

    basis = _basis(given, weight)
    root = np.sqrt(weight)[:, None]
    prior = np.sqrt(_prior(basis))
    variables = root * basis.expand(given) * prior
    kernel = variables @ variables.T + _NOISE * np.eye(len(samples), dtype=np.float32)
    # There are more variables than sentences: the dual form, then back.
    dual = np.linalg.solve(kernel.astype(np.float64), (root * targets).astype(np.float64))
    predicted = (variables @ variables.T) @ dual
    # The main axes by the small side of the matrix.
    _, axes = np.linalg.eigh(predicted @ predicted.T)
    components = np.linalg.qr((axes[:, -rank:].T @ predicted).T)[0].T
    weights = prior[:, None] * (variables.T @ (dual @ components.T))
    return Regression(
        basis,
        weights.astype(np.float32),
        components.astype(np.float32),
        mean.astype(np.float32),
        scale.astype(np.float32),
        log_variance.astype(np.float32),
    )


def input_of(samples: Sequence[Sample]) -> Input:
    """What predictions for `samples` start from."""
    return Input(
        np.array([sample.frames for sample in samples], np.float32),
        np.stack([sample.style for sample in samples]),
        np.stack([sample.content for sample in samples]),
    )


def errors_of(predicted: Statistics, sample: Sample) -> tuple[float, float]:
    """Means over the channels: of the mean's error in true standard deviations, and of the
    variance's error in decibels, both absolute."""
    deviation = np.sqrt(sample.variance + VARIANCE_FLOOR)
    ratio = (predicted.variance + VARIANCE_FLOOR) / (sample.variance + VARIANCE_FLOOR)
    return (
        float(np.mean(np.abs(predicted.mean - sample.mean) / deviation)),
        float(np.mean(np.abs(10 * np.log10(ratio)))),
    )


def cross_validate(samples: Sequence[Sample]) -> Array:
    """The `errors_of` each sample, shape (samples, 2), predicted without the texts of its fold."""
    errors = np.zeros((len(samples), 2), np.float32)
    for fold in range(_FOLDS):
        fitted = regression([s for s in samples if s.number % _FOLDS != fold])
        left_out = [place for place, s in enumerate(samples) if s.number % _FOLDS == fold]
        predictions = fitted.standardised(input_of([samples[place] for place in left_out]))
        for place, prediction in zip(left_out, predictions, strict=True):
            errors[place] = errors_of(fitted.statistics(prediction), samples[place])
    return errors


def _basis(given: Input, weight: Array) -> Basis:
    style_mean, style_scale = _standard(given.style)
    content_mean, content_scale = _standard(given.content)
    content_scale[-_HARMONIC_FEATURES:] /= _HARMONIC_GAIN
    style = (given.style - style_mean) / style_scale
    content = (given.content - content_mean) / content_scale
    ones_and_style = np.hstack([np.ones((len(style), 1), np.float32), style])
    root = np.sqrt(weight)[:, None]
    explained = np.linalg.solve(
        (ones_and_style * root).T @ (ones_and_style * root) + np.eye(ones_and_style.shape[1]),
        (ones_and_style * root).T @ (content * root),
    )
    content_axes = _main_axes(root * (content - ones_and_style @ explained), _CONTENT_AXES)
    return Basis(
        style_mean,
        style_scale,
        content_mean,
        content_scale,
        _main_axes(style, _STYLE_AXES),
        content_axes,
        (explained @ content_axes).astype(np.float32),
    )


def _prior(basis: Basis) -> Array:
    """Of each variable of `Basis.expand`, in its order, shape (v,)."""
    style, content = len(basis.style_mean), len(basis.content_mean)
    products = basis.style_axes.shape[1] * basis.content_axes.shape[1]
    return np.concatenate(
        [
            [_PRIOR_CONSTANT, _PRIOR_SHORTNESS],
            np.full(style, _PRIOR_SHORTNESS / style),
            np.full(style, _PRIOR_STYLE / style),
            np.full(content, _PRIOR_CONTENT / content),
            np.full(products, _PRIOR_PRODUCTS / content / style),
        ]
    ).astype(np.float32)


def _standard(values: Array) -> tuple[Array, Array]:
    return values.mean(axis=0), values.std(axis=0) + 1e-3


def _main_axes(values: Array, count: int) -> Array:
    """The first principal axes of the rows, shape (columns, count)."""
    axes: Array = np.linalg.svd(values, full_matrices=False)[2][:count].T
    return axes.astype(np.float32)


def _weighted_mean(values: Array, weight: Array) -> Array:
    mean: Array = np.average(values, axis=0, weights=weight)
    return mean
