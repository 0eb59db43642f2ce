"""Prediction of the statistics of the generator's norms from the generator's input.

The generator normalizes each channel by its mean and variance over the whole sentence (adaptive
instance norm, https://arxiv.org/abs/1703.06868). A window alone does not contain them. However, the
generator's input is known for the whole sentence before decoding, and sentence means of fixed
functions of it predict the statistics well. The predictor is a ridge regression on these means. Its
coefficients are a table, fitted to sentences of all voices that were decoded whole. The package
`kokoro_calibration` makes the table; `docs/streaming.md` reports its accuracy.
"""

import zipfile
from collections import OrderedDict, deque
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from kokoro_voice.engine import NormStatistics, Prosody
from kokoro_voice.errors import ModelError
from kokoro_voice.languages import LANGUAGES
from kokoro_voice.voices import Voice
from kokoro_voice.windows import WINDOW_LIMITS

TABLE_PATH = Path(__file__).with_name("norm_statistics.npz")

Array = npt.NDArray[np.float32]

SENTENCES_TO_LEARN = 5
"""A voice without calibration is predicted once this many of its sentences were decoded whole."""
LEARNED_VOICES = 32
_LEARNED_SENTENCES = 8
"""8 sentences of 72 kB are kept for each of 32 voices: 18 MB."""

DECODER_STYLE_SIZE = 128
"""The part of the style vector that the decoder reads; the prosody reads the rest."""
LEAKY_SLOPE = 0.1
"""Slope of the generator's first activation for negative inputs."""
VARIANCE_FLOOR = 1e-5
"""The epsilon of the norms. Differences between variances below it have no effect."""
_LOGARITHM_RANGE = 3.0
_SHORTNESS_FRAMES = 40
"""The length of a sentence with shortness 1: one second, about three words."""


class Provenance(BaseModel):
    """The origin of a table, and the errors of its predictions."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: str
    """Date of the calibration, ISO 8601."""
    model_sha256: str
    """Hash of the graph that the model's subgraphs were cut from."""
    texts_sha256: str
    """Hash of `kokoro_calibration/texts.toml`."""
    versions: dict[str, str]
    """Versions of the packages that decoded the sentences and fitted the table."""
    voices: tuple[str, ...]
    """The calibrated voices."""
    sentence_voices: tuple[str, ...] = ()
    """Calibrated voices whose sentences are decoded whole all the same, because `bench.quality`
    found their windows outside its limits."""
    sentences: int
    """The number of sentences that were decoded, over all voices."""
    speeds: tuple[float, ...]
    """The speeds that were used; each sentence was decoded at one of them."""
    mean_error: float
    """Absolute error of the predicted mean in units of the true standard deviation, averaged over
    the channels and over sentences left out of the fit (cross-validation by text)."""
    variance_error_db: float
    """Absolute error of the predicted variance in dB, averaged in the same way."""
    variance_error_p95_db: float
    """95th percentile, over the sentences, of the channels' average variance error."""

    def allows_windows(self, voice: Voice) -> bool:
        """Return whether sentences of `voice` may be decoded in windows.

        They may not if the voice is one of `sentence_voices`, or if no calibrated voice speaks its
        language: the table was not fitted to this language, so its predictions were not measured.
        """
        languages = {LANGUAGES[name[0]] for name in self.voices}
        return voice.name not in self.sentence_voices and voice.language in languages


@dataclass(frozen=True)
class Input:
    """The inputs of a prediction for one sentence, or for several along the first axis.

    Attributes:
        frames: The length, shape (n,).
        style: The part of the style vector that the decoder reads, shape (n, 128).
        content: `content` of the generator's input, shape (n, c).
    """

    frames: Array
    style: Array
    content: Array


def content(features: Array, harmonics: Array, projection: Array, offset: Array) -> Array:
    """Compute sentence means of fixed functions of the generator's input.

    The means after the first convolutions depend on the means of the activated channels. Random
    projections, rectified and squared, stand for what later layers compute from them (random
    features, https://papers.nips.cc/paper/3182-random-features-for-large-scale-kernel-machines).

    Args:
        features: The decoder's output, shape (1, 512, 2 * frames).
        harmonics: The harmonic source's spectrum, shape (1, 22, 120 * frames + 1).
        projection: Random directions, shape (512, r + q): r to be rectified, q to be squared.
        offset: Offsets of the rectified directions, shape (r,).

    Returns:
        The means, shape (512 + r + q + 66,).
    """
    columns = features[0].T
    projected = columns @ projection
    rectified = len(offset)
    spectrum = harmonics[0]
    return np.concatenate(
        [
            np.where(columns > 0, columns, LEAKY_SLOPE * columns).mean(axis=0),
            np.maximum(projected[:, :rectified] + offset, 0).mean(axis=0),
            np.square(projected[:, rectified:]).mean(axis=0),
            spectrum.mean(axis=1),
            np.square(spectrum).mean(axis=1),
            np.abs(spectrum).mean(axis=1),
        ]
    ).astype(np.float32)


@dataclass(frozen=True)
class Basis:
    """Turns an `Input` into the variables in which the regression is linear.

    Attributes:
        style_mean, style_scale: Standardise the style, shape (128,).
        content_mean, content_scale: Standardise the content, shape (c,).
    """

    style_mean: Array
    style_scale: Array
    content_mean: Array
    content_scale: Array

    def variables(self, inputs: Input) -> Array:
        """Return the variables, shape (n, 1 + 1 + 128 + 128 + c).

        They are a constant 1; the sentence's shortness, alone and multiplied by the style, because
        silence at the ends weighs more in a short sentence; the style; and the content.
        """
        style = (inputs.style - self.style_mean) / self.style_scale
        content_ = (inputs.content - self.content_mean) / self.content_scale
        one = np.ones((len(style), 1), np.float32)
        shortness = (_SHORTNESS_FRAMES / inputs.frames)[:, None].astype(np.float32)
        return np.hstack([one, shortness, shortness * style, style, content_])


@dataclass(frozen=True)
class Regression:
    """Predicts the statistics of the norms from an `Input`, in standardised terms.

    Attributes:
        basis: Computes the variables.
        weights: The weight of each variable in each component, shape (v, r).
        components: Components of the standardised statistics, shape (r, 2 * channels): first the
            means, relative to `mean` and in units of `deviation`; then the natural logarithms of
            the standard deviations in units of `deviation`.
        mean: The average mean over all calibrated sentences, shape (channels,).
        deviation: The geometric mean of the standard deviations over all calibrated sentences,
            shape (channels,).
    """

    basis: Basis
    weights: Array
    components: Array
    mean: Array
    deviation: Array

    def standardised(self, inputs: Input) -> Array:
        """Return the prediction in standardised terms, shape (n, 2 * channels)."""
        components = self.basis.variables(inputs) @ self.weights
        return np.asarray(components @ self.components, np.float32)

    def standardise(self, true: NormStatistics) -> Array:
        """Convert true statistics to the same terms, shape (2 * channels,)."""
        return standardise(true.mean, true.variance, self.mean, self.deviation)

    def statistics(self, standardised: Array) -> NormStatistics:
        """Convert `standardised`, shape (2 * channels,), to statistics."""
        means, logarithms = np.split(standardised, 2)
        # A linear prediction may be arbitrarily wrong far outside of the calibrated range.
        logarithms = np.clip(logarithms, -_LOGARITHM_RANGE, _LOGARITHM_RANGE)
        deviations = self.deviation * np.exp(logarithms)
        return NormStatistics(
            (self.mean + self.deviation * means).astype(np.float32),
            np.maximum(np.square(deviations) - VARIANCE_FLOOR, 0).astype(np.float32),
        )


_BASIS_ARRAYS = {field.name for field in fields(Basis)}
_REGRESSION_ARRAYS = {field.name for field in fields(Regression)} - {"basis"}
_UNREADABLE = (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile)


def standardise(means: Array, variances: Array, mean: Array, deviation: Array) -> Array:
    """Convert statistics, shape (..., channels), to a `Regression`'s terms, (..., 2 * channels)."""
    deviations = np.sqrt(variances + VARIANCE_FLOOR)
    standard = [(means - mean) / deviation, np.log(deviations / deviation)]
    return np.concatenate(standard, axis=-1).astype(np.float32)


def read_provenance(path: Path = TABLE_PATH) -> Provenance:
    """Read the provenance of a table without the table itself; this needs no model.

    Raises:
        ModelError: The file is missing or damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return Provenance.model_validate_json(str(arrays["provenance"]))
    except _UNREADABLE as error:
        raise ModelError(f"{path}: not a table of statistics: {error}") from error


class NormStatisticsTable:
    """Predicts the statistics of sentences, and learns voices that were not calibrated.

    Not thread-safe: use an instance from one thread only.

    Args:
        provenance: The origin of the other arguments.
        projection: See `content`.
        offset: See `content`.
        regression: The fitted regression.
    """

    def __init__(
        self, provenance: Provenance, projection: Array, offset: Array, regression: Regression
    ) -> None:
        self.provenance = provenance
        self._projection = projection
        self._offset = offset
        self._regression = regression
        self._calibrated = frozenset(provenance.voices)
        self._learned: OrderedDict[str, _LearnedVoice] = OrderedDict()

    @classmethod
    def load(cls, path: Path, model_sha256: str) -> "NormStatisticsTable":
        """Read a table that `save` wrote.

        Args:
            path: Usually `TABLE_PATH`.
            model_sha256: Hash of the model in use, see `Engine.model_sha256`.

        Raises:
            ModelError: The file is missing or damaged, or belongs to another model.
        """
        try:
            with np.load(path, allow_pickle=False) as arrays:
                content_ = dict(arrays)
            provenance = Provenance.model_validate_json(str(content_.pop("provenance")))
            expected = {"projection", "offset", *_BASIS_ARRAYS, *_REGRESSION_ARRAYS}
            if content_.keys() != expected:
                different = ", ".join(sorted(content_.keys() ^ expected))
                raise ModelError(f"{path}: missing or unknown arrays: {different}")
        except _UNREADABLE as error:
            raise ModelError(f"{path}: not a table of norm statistics: {error}") from error
        if provenance.model_sha256 != model_sha256:
            raise ModelError(
                f"{path}: calibrated for the model {provenance.model_sha256[:12]}, but the model "
                f"in use is {model_sha256[:12] or 'unknown'}; run `make calibrate` to make a "
                "table for it"
            )
        wide = {name: array.astype(np.float32) for name, array in content_.items()}
        basis = Basis(**{name: wide[name] for name in _BASIS_ARRAYS})
        rest = {name: wide[name] for name in _REGRESSION_ARRAYS}
        return cls(provenance, wide["projection"], wide["offset"], Regression(basis=basis, **rest))

    def save(self, path: Path) -> None:
        """Write a table that `load` reads. Large arrays are stored in half precision."""
        arrays = {"projection": self._projection, "offset": self._offset}
        arrays |= vars(self._regression.basis) | vars(self._regression)
        del arrays["basis"]
        stored: dict[str, Any] = {
            name: array.astype(np.float16 if array.ndim == 2 else np.float32)
            for name, array in arrays.items()
        }
        np.savez_compressed(path, provenance=self.provenance.model_dump_json(), **stored)

    def input(self, prosody: Prosody) -> Input:
        """Compute the inputs of a prediction for a sentence."""
        means = content(prosody.features, prosody.harmonics, self._projection, self._offset)
        return Input(
            np.array([prosody.frames], np.float32),
            prosody.style[None, :DECODER_STYLE_SIZE],
            means[None],
        )

    def predict(self, prosody: Prosody, voice: Voice) -> NormStatistics | None:
        """Predict the statistics of a sentence that has not been decoded.

        Returns:
            The statistics, or None if `voice` is not calibrated and too few of its sentences have
            been learned.
        """
        learned = self._learned.get(voice.name)
        enough = learned is not None and len(learned) >= SENTENCES_TO_LEARN
        if voice.name not in self._calibrated and not enough:
            return None
        inputs = self.input(prosody)
        predicted = self._regression.standardised(inputs)[0]
        if learned is not None:
            predicted += learned.correction(inputs)
        return self._regression.statistics(predicted)

    def allows_windows(self, voice: Voice) -> bool:
        """Return whether predictions for `voice` are good enough; see `Provenance`."""
        return self.provenance.allows_windows(voice)

    def learn(self, prosody: Prosody, voice: Voice, exact: NormStatistics) -> None:
        """Remember the exact statistics of a sentence that was decoded whole.

        Sentences of calibrated voices are ignored. So are short sentences: they are never
        predicted, and they would displace longer ones. If there are too many voices, the one that
        has gone longest without learning is dropped.
        """
        if voice.name in self._calibrated or WINDOW_LIMITS.too_short(prosody.frames):
            return
        inputs = self.input(prosody)
        residual = self._regression.standardise(exact)
        residual -= self._regression.standardised(inputs)[0]
        learned = self._learned.setdefault(voice.name, _LearnedVoice(self._regression.basis))
        self._learned.move_to_end(voice.name)
        learned.add(inputs, residual)
        if len(self._learned) > LEARNED_VOICES:
            self._learned.popitem(last=False)


class _LearnedVoice:
    """Corrects the predictions for one voice by their errors in a few of its sentences.

    This is a ridge regression of the residuals. It is in dual form because there are few sentences
    (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equation 2.25). Most of
    a residual is specific to the voice; some of it depends on length and content.
    """

    def __init__(self, basis: Basis) -> None:
        self._basis = basis
        self._variables: deque[Array] = deque(maxlen=_LEARNED_SENTENCES)
        self._residuals: deque[Array] = deque(maxlen=_LEARNED_SENTENCES)
        self._noise: deque[float] = deque(maxlen=_LEARNED_SENTENCES)

    def __len__(self) -> int:
        return len(self._residuals)

    def add(self, inputs: Input, residual: Array) -> None:
        """Remember the `residual`, standardised truth minus prediction, of one sentence."""
        self._variables.append(self._own(inputs))
        self._residuals.append(residual)
        self._noise.append(_LEARNED_NOISE * _SHORTNESS_FRAMES / float(inputs.frames[0]))

    def correction(self, inputs: Input) -> Array:
        """Return the correction of a standardised prediction, shape (2 * channels,)."""
        variables = np.stack(self._variables)
        kernel = variables @ variables.T + np.diag(self._noise)
        weights = np.linalg.solve(kernel, variables @ self._own(inputs))
        return np.asarray(weights @ np.stack(self._residuals), np.float32)

    def _own(self, inputs: Input) -> Array:
        basis = self._basis
        content_ = (inputs.content[0] - basis.content_mean) / basis.content_scale
        content_ *= np.sqrt(_LEARNED_CONTENT / len(content_))
        shortness = np.sqrt(_LEARNED_SHORTNESS) * _SHORTNESS_FRAMES / inputs.frames
        return np.concatenate([[1.0], shortness, content_]).astype(np.float32)


# Prior variances relative to that of the voice's own residual. Measured with voices left out of the
# calibration, see docs/streaming.md.
_LEARNED_SHORTNESS, _LEARNED_CONTENT, _LEARNED_NOISE = 0.1, 0.02, 0.01
