"""The statistics of the generator's norms, predicted from the generator's input.

The generator normalises each channel by its mean and variance over the whole sentence (adaptive
instance norm, https://arxiv.org/abs/1703.06868). A window cannot know them, but the generator's
input is known for the whole sentence before decoding, and sentence means of fixed features of that
input tell them well. The features are those of a ridge regression whose coefficients, a table, come
from whole decodes of all voices: `kokoro_calibration/` makes it, `docs/streaming.md` says
how good it is.
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
from kokoro_voice.voices import Voice
from kokoro_voice.windows import WINDOW_LIMITS

TABLE_PATH = Path(__file__).with_name("norm_statistics.npz")

Array = npt.NDArray[np.float32]

SENTENCES_TO_LEARN = 5
"""So many sentences of a voice without calibration are decoded whole before one is predicted."""
LEARNED_VOICES = 32
_LEARNED_SENTENCES = 8
"""What is kept: 8 of 72 kB for each of 32 voices are 18 MB."""

DECODER_STYLE_SIZE = 128
"""The rest of the style vector is for the prosody."""
LEAKY_SLOPE = 0.1
"""Of the generator's first activation."""
VARIANCE_FLOOR = 1e-5
"""The norms' epsilon: below it a variance makes no difference."""
_LOGARITHM_RANGE = 3.0
_SHORTNESS_FRAMES = 40
"""The length of a sentence whose shortness is 1: a second, about three words."""


class Provenance(BaseModel):
    """Where a table comes from, and how far its predictions were from the truth."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: str
    """Of the calibration, ISO 8601."""
    model_sha256: str
    """Of the graph that was cut into the model's subgraphs."""
    texts_sha256: str
    """Of `kokoro_calibration/texts.toml`."""
    versions: dict[str, str]
    """Of the packages that decoded and fitted."""
    voices: tuple[str, ...]
    """Those that are calibrated."""
    sentence_voices: tuple[str, ...] = ()
    """Those of them that are decoded whole all the same: `bench.quality` found windows of theirs
    outside its limits."""
    sentences: int
    """Decoded in all, over all voices."""
    speeds: tuple[float, ...]
    """One of them for each sentence."""
    mean_error: float
    """Mean over channels and sentences left out of the fit (cross-validation by text) of the
    distance of predicted and true mean, in true standard deviations."""
    variance_error_db: float
    """The same of predicted to true variance, absolute."""
    variance_error_p95_db: float
    """95th percentile over the sentences of the channels' mean."""


@dataclass(frozen=True)
class Input:
    """What a prediction starts from: one sentence, or several along the first axis.

    Attributes:
        frames: the length, shape (n,).
        style: what the decoder reads of the style vector, shape (n, 128).
        content: `content` of the generator's input, shape (n, c).
    """

    frames: Array
    style: Array
    content: Array


def content(features: Array, harmonics: Array, projection: Array, offset: Array) -> Array:
    """Sentence means of fixed functions of the generator's input.

    Means of activated channels decide the means behind the first convolutions; random projections,
    rectified and squared, stand for what later layers make of them (random features,
    https://papers.nips.cc/paper/3182-random-features-for-large-scale-kernel-machines).

    Args:
        features: the decoder's output, shape (1, 512, 2 * frames).
        harmonics: the harmonic source's spectrum, shape (1, 22, 120 * frames + 1).
        projection: random directions, shape (512, r + q): r to be rectified, q to be squared.
        offset: of the rectified ones, shape (r,).

    Returns:
        Shape (512 + r + q + 66,).
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
    """Makes an `Input` the variables that the regression is linear in.

    Attributes:
        style_mean, style_scale: standardise the style, shape (128,).
        content_mean, content_scale: standardise the content, shape (c,).
    """

    style_mean: Array
    style_scale: Array
    content_mean: Array
    content_scale: Array

    def variables(self, inputs: Input) -> Array:
        """Shape (n, 1 + 1 + 128 + 128 + c).

        They are 1; how short the sentence is, alone and times the style, because silence at its
        ends weighs more in a short one; the style and the content.
        """
        style = (inputs.style - self.style_mean) / self.style_scale
        content_ = (inputs.content - self.content_mean) / self.content_scale
        one = np.ones((len(style), 1), np.float32)
        shortness = (_SHORTNESS_FRAMES / inputs.frames)[:, None].astype(np.float32)
        return np.hstack([one, shortness, shortness * style, style, content_])


@dataclass(frozen=True)
class Regression:
    """Statistics of the norms from an `Input`, in the terms of one calibration.

    Attributes:
        basis: makes the variables.
        weights: of the variables in each component, shape (v, r).
        components: of the standardised statistics, shape (r, 2 * channels): means, from `mean` in
            units of `deviation`, then natural logarithms of deviations in the same units.
        mean: over all calibrated sentences, shape (channels,).
        deviation: likewise, the geometric mean; a deviation is the root of a variance.
    """

    basis: Basis
    weights: Array
    components: Array
    mean: Array
    deviation: Array

    def standardised(self, inputs: Input) -> Array:
        """The prediction in standardised terms, shape (n, 2 * channels)."""
        components = self.basis.variables(inputs) @ self.weights
        return np.asarray(components @ self.components, np.float32)

    def standardise(self, true: NormStatistics) -> Array:
        """True statistics in the same terms, shape (2 * channels,)."""
        return standardise(true.mean, true.variance, self.mean, self.deviation)

    def statistics(self, standardised: Array) -> NormStatistics:
        """The statistics that `standardised`, shape (2 * channels,), stands for."""
        means, logarithms = np.split(standardised, 2)
        # Far outside of what was calibrated a line leads anywhere.
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
    """True statistics, shape (..., channels), in a `Regression`'s terms, (..., 2 * channels)."""
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


def served_voices() -> tuple[str, ...]:
    """Return the names of the voices that the server serves, sorted; this needs no model.

    All voices whose language is served are calibrated, so these are the voices of the committed
    table. `Voices(list(served_voices()), default).resolve(name)` checks a voice or a mix of voices.

    Raises:
        ModelError: The committed table is missing or damaged.
    """
    return tuple(sorted(read_provenance().voices))


class NormStatisticsTable:
    """Predicts the statistics of sentences, and learns voices that were not calibrated.

    Not thread-safe: use one from one thread.

    Args:
        provenance: where the rest comes from.
        projection: of `content`.
        offset: of `content`.
        regression: what was fitted.
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
            path: usually `TABLE_PATH`.
            model_sha256: of the model that is used, see `Engine.model_sha256`.

        Raises:
            ModelError: the file is missing or damaged, or belongs to another model.
        """
        try:
            with np.load(path, allow_pickle=False) as arrays:
                content_ = dict(arrays)
            provenance = Provenance.model_validate_json(str(content_.pop("provenance")))
            expected = {"projection", "offset", *_BASIS_ARRAYS, *_REGRESSION_ARRAYS}
            if content_.keys() != expected:
                different = ", ".join(sorted(content_.keys() ^ expected))
                raise ModelError(f"{path}: these are missing or unknown: {different}")
        except _UNREADABLE as error:
            raise ModelError(f"{path}: not a table of statistics: {error}") from error
        if provenance.model_sha256 != model_sha256:
            raise ModelError(
                f"{path}: calibrated for the model {provenance.model_sha256[:12]}, this one is "
                f"{model_sha256[:12] or 'unknown'}; `make calibrate` makes a table for it"
            )
        wide = {name: array.astype(np.float32) for name, array in content_.items()}
        basis = Basis(**{name: wide[name] for name in _BASIS_ARRAYS})
        rest = {name: wide[name] for name in _REGRESSION_ARRAYS}
        return cls(provenance, wide["projection"], wide["offset"], Regression(basis=basis, **rest))

    def save(self, path: Path) -> None:
        """Write what `load` reads, in half precision where the table is large."""
        arrays = {"projection": self._projection, "offset": self._offset}
        arrays |= vars(self._regression.basis) | vars(self._regression)
        del arrays["basis"]
        stored: dict[str, Any] = {
            name: array.astype(np.float16 if array.ndim == 2 else np.float32)
            for name, array in arrays.items()
        }
        np.savez_compressed(path, provenance=self.provenance.model_dump_json(), **stored)

    def input(self, prosody: Prosody) -> Input:
        """What a prediction for this sentence starts from."""
        means = content(prosody.features, prosody.harmonics, self._projection, self._offset)
        return Input(
            np.array([prosody.frames], np.float32),
            prosody.style[None, :DECODER_STYLE_SIZE],
            means[None],
        )

    def predict(self, prosody: Prosody, voice: Voice) -> NormStatistics | None:
        """The statistics of a sentence that has not been decoded.

        Returns:
            None if `voice` is not calibrated, and too few of its sentences were learned.
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
        """Whether what is predicted of `voice` is good enough, see `Provenance.sentence_voices`."""
        return voice.name not in self.provenance.sentence_voices

    def learn(self, prosody: Prosody, voice: Voice, exact: NormStatistics) -> None:
        """Remember the exact statistics of a sentence that was decoded whole.

        A calibrated voice has nothing to learn, and short sentences, which are never predicted,
        would take the place of longer ones. Of many voices, those that learned something last are
        kept.
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
    """How far predictions for one voice were from the truth, and what follows for the next.

    Ridge regression again, of the residuals of a few sentences, so in its dual form
    (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equation 2.25): most of
    a residual is the voice's own, some depends on length and content.
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
        """What to add to a standardised prediction, shape (2 * channels,)."""
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


# Prior variances, relative to that of the voice's own residual. Measured with voices left out of
# the calibration, see docs/streaming.md.
_LEARNED_SHORTNESS, _LEARNED_CONTENT, _LEARNED_NOISE = 0.1, 0.02, 0.01
