"""Fit the table that `kokoro_voice.norm_statistics` uses: a reduced-rank ridge regression."""

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from kokoro_calibration.collect import SPEEDS, Sample, load, projection, texts_sha256
from kokoro_voice.engine import NormStatistics
from kokoro_voice.norm_statistics import (
    VARIANCE_FLOOR,
    Array,
    Basis,
    Input,
    NormStatisticsTable,
    Provenance,
    Regression,
    standardise,
)

RANK = 200
"""The number of components of the predicted statistics."""
SENTENCE_VOICES = ("af_jessica", "bf_alice", "hf_alpha")
"""Voices outside the loudness limits of `bench.quality`, by one or two of their four sentences."""
_FOLDS = 4

# Prior variances of the coefficients, one for each group of variables. Chosen by cross-validation.
# Half or twice as much makes hardly any difference, except that the harmonic source deserves more
# weight than its 66 features have among 896 others.
_PRIOR_CONSTANT, _PRIOR_SHORTNESS, _PRIOR_STYLE, _PRIOR_CONTENT = 1e3, 1, 100, 3
_HARMONIC_FEATURES, _HARMONIC_GAIN = 66, 8.0
_NOISE = 0.2
"""Variance of the random part of the statistics, for a sentence of average length."""


def fit(data_dir: Path, model_sha256: str, out: Path) -> Provenance:
    """Fit a table to the results in `data_dir` and write it.

    Args:
        data_dir: The directory where `collect` stored its results.
        model_sha256: Hash of the model that decoded them.
        out: The file to write.

    Returns:
        The provenance that is stored in the table.

    Raises:
        OSError: A file cannot be read or written.
    """
    samples = load(data_dir)
    errors = cross_validate(samples)
    provenance = Provenance(
        date=datetime.now(UTC).date().isoformat(),
        model_sha256=model_sha256,
        texts_sha256=texts_sha256(),
        versions={name: version(name) for name in ("misaki", "numpy", "onnxruntime")},
        voices=tuple(sorted({sample.voice for sample in samples})),
        sentence_voices=SENTENCE_VOICES,
        sentences=len(samples),
        speeds=tuple(sorted(set(SPEEDS))),
        mean_error=round(float(errors[:, 0].mean()), 4),
        variance_error_db=round(float(errors[:, 1].mean()), 3),
        variance_error_p95_db=round(float(np.percentile(errors[:, 1], 95)), 3),
    )
    directions, offset = projection()
    NormStatisticsTable(provenance, directions, offset, regression(samples)).save(out)
    return provenance


def regression(samples: Sequence[Sample], rank: int = RANK) -> Regression:
    """Fit the regression to all `samples`, weighted by their lengths.

    Its rank is reduced as in Izenman, Reduced-rank regression for the multivariate linear model
    (1975): to the principal axes of the full regression's predictions.
    """
    inputs = input_of(samples)
    weight = inputs.frames / inputs.frames.mean()
    means = np.stack([sample.mean for sample in samples])
    variances = np.stack([sample.variance for sample in samples])
    mean = np.average(means, axis=0, weights=weight)
    logarithms = np.log(variances + VARIANCE_FLOOR) / 2
    deviation = np.exp(np.average(logarithms, axis=0, weights=weight))
    targets = standardise(means, variances, mean, deviation)

    basis = _basis(inputs)
    root = np.sqrt(weight)[:, None]
    prior = np.sqrt(_prior(basis))
    variables = (root * basis.variables(inputs) * prior).astype(np.float64)
    coefficients = np.linalg.solve(
        variables.T @ variables + _NOISE * np.eye(len(prior)), variables.T @ (root * targets)
    )
    predicted = variables @ coefficients
    # The principal axes, from the smaller of the two Gram matrices; the largest first.
    _, axes = np.linalg.eigh(predicted @ predicted.T)
    components = np.linalg.qr((axes[:, ::-1][:, :rank].T @ predicted).T)[0].T
    weights = prior[:, None] * (coefficients @ components.T)
    return Regression(
        basis,
        weights.astype(np.float32),
        components.astype(np.float32),
        mean.astype(np.float32),
        deviation.astype(np.float32),
    )


def input_of(samples: Sequence[Sample]) -> Input:
    """Return the inputs of predictions for `samples`."""
    return Input(
        np.array([sample.frames for sample in samples], np.float32),
        np.stack([sample.style for sample in samples]),
        np.stack([sample.content for sample in samples]),
    )


def errors_of(predicted: NormStatistics, sample: Sample) -> tuple[float, float]:
    """Return the absolute errors of a prediction, averaged over the channels.

    The error of the mean is in true standard deviations, that of the variance in decibels.
    """
    deviation = np.sqrt(sample.variance + VARIANCE_FLOOR)
    ratio = (predicted.variance + VARIANCE_FLOOR) / (sample.variance + VARIANCE_FLOOR)
    return (
        float(np.mean(np.abs(predicted.mean - sample.mean) / deviation)),
        float(np.mean(np.abs(10 * np.log10(ratio)))),
    )


def cross_validate(samples: Sequence[Sample]) -> Array:
    """Return `errors_of` each sample, shape (samples, 2), predicted without its fold's texts."""
    errors = np.zeros((len(samples), 2), np.float32)
    for fold in range(_FOLDS):
        fitted = regression([s for s in samples if s.number % _FOLDS != fold])
        left_out = [place for place, s in enumerate(samples) if s.number % _FOLDS == fold]
        predictions = fitted.standardised(input_of([samples[place] for place in left_out]))
        for place, prediction in zip(left_out, predictions, strict=True):
            errors[place] = errors_of(fitted.statistics(prediction), samples[place])
    return errors


def _basis(inputs: Input) -> Basis:
    style_mean, style_scale = _standard(inputs.style)
    content_mean, content_scale = _standard(inputs.content)
    content_scale[-_HARMONIC_FEATURES:] /= _HARMONIC_GAIN
    return Basis(style_mean, style_scale, content_mean, content_scale)


def _prior(basis: Basis) -> Array:
    """Return the prior variance of each variable of `Basis.variables`, in order, shape (v,)."""
    style, content = len(basis.style_mean), len(basis.content_mean)
    return np.concatenate(
        [
            [_PRIOR_CONSTANT, _PRIOR_SHORTNESS],
            np.full(style, _PRIOR_SHORTNESS / style),
            np.full(style, _PRIOR_STYLE / style),
            np.full(content, _PRIOR_CONTENT / content),
        ]
    ).astype(np.float32)


def _standard(values: Array) -> tuple[Array, Array]:
    return values.mean(axis=0), values.std(axis=0) + 1e-3
