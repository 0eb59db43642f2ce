"""The Kokoro model on ONNX Runtime: phonemes in, samples out.

The model runs as two subgraphs. Prosody runs once for a whole sentence. Then the generator runs for
all of its frames, or for windows of them. `kokoro_model/split.py` cuts the subgraphs out.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kokoro_voice.audio import Samples
from kokoro_voice.errors import ModelError
from kokoro_voice.onnx_model import Cancellation, ExecutionProvider, OnnxModel, Tensors
from kokoro_voice.voices import Voice
from kokoro_voice.windows import CONTEXT_FRAMES, FRAME_SAMPLES

MAX_PHONEMES = 510
"""The model takes 512 tokens, of which the first and the last are padding."""
_FEATURES_PER_FRAME, _HARMONICS_PER_FRAME = 2, 120
_STYLE_SIZE = 256
_GPU_SHAPE_STEP = 16
"""On a GPU, windows are extended to a multiple of this many frames."""


@dataclass(frozen=True)
class Prosody:
    """The generator's input for all frames of one sentence.

    A frame is 25 ms, `FRAME_SAMPLES` samples.

    Attributes:
        token_frames: The length of each token (padding, phonemes, padding) in frames; int64,
            shape (n + 2,).
        energy: The energy that the model predicts, as the logarithm of a magnitude, shape
            (2 * frames,).
        features: The decoder's output, shape (1, 512, 2 * frames).
        harmonics: The harmonic source's spectrum, shape (1, 22, 120 * frames + 1).
        gain: The gains of the generator's norms, which the style determines, shape (1, 9216, 1).
        bias: The biases of the same norms, shape (1, 9216, 1).
        style: The style vector, shape (256,).
    """

    token_frames: npt.NDArray[np.int64]
    energy: Samples
    features: Samples
    harmonics: Samples
    gain: Samples
    bias: Samples
    style: Samples

    @property
    def frames(self) -> int:
        """The length of the sentence, in frames."""
        return int(self.token_frames.sum())


@dataclass(frozen=True)
class NormStatistics:
    """Mean and variance of the inputs of the generator's norms over a whole sentence.

    Attributes:
        mean: The mean of each channel of each norm, in the graph's order, shape (8448,).
        variance: The variance of the same channels, shape (8448,).
    """

    mean: Samples
    variance: Samples


@dataclass(frozen=True)
class Window:
    """The frames of a sentence from `start` to `end` (exclusive), and how to decode them."""

    prosody: Prosody
    norm_statistics: NormStatistics
    start: int
    end: int


class Engine:
    """The loaded model. Its methods block.

    Args:
        model_dir: Directory with the model's graphs, `vocab.json` (phoneme to token) and
            `voices/NAME.bin` (float32 little-endian, shape (510, 1, 256)).
        threads: The number of threads of one synthesis.
        provider: The execution provider: CPU or CUDA.
        own_styles: Voices that are not in the model directory: their names, and their styles of
            shape (510, 256).

    Raises:
        ModelError: A file is missing or invalid, or `provider` cannot be used.
    """

    def __init__(
        self,
        model_dir: Path,
        threads: int,
        provider: ExecutionProvider = "cpu",
        own_styles: Mapping[str, Samples] | None = None,
    ) -> None:
        self._voices_dir = model_dir / "voices"
        self._styles: dict[str, Samples] = dict(own_styles or {})
        vocab_file = model_dir / "vocab.json"
        try:
            self._tokens: dict[str, int] = json.loads(vocab_file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"{vocab_file}: {error}") from error
        # For CPUs the build writes the same graphs in another form.
        device = "-cpu" if provider == "cpu" else ""
        self._prosody, self._generator_exact, self.generator = (
            OnnxModel(model_dir / f"{name}{device}.onnx", threads, provider)
            for name in ("prosody", "generator-exact", "generator")
        )
        """`generator` decodes windows. `bench.gpu` replaces it with one that uses CUDA graphs."""
        self._shape_step = 1 if provider == "cpu" else _GPU_SHAPE_STEP
        self.model_sha256 = self.generator.metadata.get("source_sha256", "")
        """Hash of the graph that these subgraphs were cut from; it identifies the model."""

    def known(self, phonemes: str) -> str:
        """Return `phonemes` without the characters that the model has no token for."""
        return "".join(phoneme for phoneme in phonemes if phoneme in self._tokens)

    def prosody(
        self, phonemes: str, voice: Voice, speed: float, cancellation: Cancellation
    ) -> Prosody:
        """Compute the generator's input for a sentence.

        Args:
            phonemes: 1 to `MAX_PHONEMES` characters, all of which the model knows (see `known`).
            voice: A voice, or mix, whose components are in the model directory.
            speed: 1.0 is the voice's own speed; 2.0 takes about half the time.
            cancellation: Ends the work early.

        Raises:
            ModelError: The voice's file is missing or has the wrong size.
            WorkCancelled: The work was cancelled.
        """
        tokens = [self._tokens[phoneme] for phoneme in phonemes]
        style = self._style(voice, len(tokens))
        outputs = self._prosody.run(
            {
                "tokens": np.array([[0, *tokens, 0]], dtype=np.int64),
                "style": style.reshape(1, _STYLE_SIZE),
                "speed": np.array([speed], dtype=np.float32),
            },
            cancellation,
        )
        return Prosody(**outputs, style=style)

    def whole(self, prosody: Prosody, cancellation: Cancellation) -> tuple[Samples, NormStatistics]:
        """Decode all frames of a sentence with its own norm statistics.

        Returns:
            The audio, 24 kHz float, shape (600 * frames,), with the model's silence around it; and
            the norm statistics.

        Raises:
            WorkCancelled: The work was cancelled.
        """
        outputs = self._generator_exact.run(
            generator_inputs(prosody, 0, prosody.frames), cancellation
        )
        mean, variance = (outputs[name][0, :, 0] for name in ("mean", "variance"))
        return outputs["audio"][0], NormStatistics(mean, variance)

    def window(
        self,
        prosody: Prosody,
        norm_statistics: NormStatistics,
        start: int,
        end: int,
        cancellation: Cancellation,
    ) -> Samples:
        """Decode the frames from `start` to `end` (exclusive) with `norm_statistics`.

        Returns:
            24 kHz float audio, shape (600 * (end - start),). Concatenated windows equal the
            decoding of all frames at once.

        Raises:
            WorkCancelled: The work was cancelled.
        """
        return self.windows([Window(prosody, norm_statistics, start, end)], cancellation)[0]

    def windows(self, windows: Sequence[Window], cancellation: Cancellation) -> list[Samples]:
        """Decode windows of several sentences in one run, each as `window` would.

        Raises:
            WorkCancelled: The work was cancelled.
            ValueError: The windows differ in length once their context is included.
        """
        ranges = [self._with_context(window) for window in windows]
        if len({last - first for first, last in ranges}) != 1:
            raise ValueError(
                "windows of one run must have the same length with their context, got the frame "
                f"ranges {ranges}"
            )
        inputs = [
            generator_inputs(window.prosody, *frames) | _norms(window.norm_statistics)
            for window, frames in zip(windows, ranges, strict=True)
        ]
        batch = {name: np.concatenate([one[name] for one in inputs]) for name in inputs[0]}
        audio = self.generator.run(batch, cancellation)["audio"]
        return [
            samples[FRAME_SAMPLES * (window.start - first) : FRAME_SAMPLES * (window.end - first)]
            for window, (first, _), samples in zip(windows, ranges, audio, strict=True)
        ]

    def _with_context(self, window: Window) -> tuple[int, int]:
        """Return the frames to decode for `window`. On a GPU, more context rounds up the length."""
        frames = window.prosody.frames
        first = max(0, window.start - CONTEXT_FRAMES)
        last = min(frames, window.end + CONTEXT_FRAMES)
        length = -(-(last - first) // self._shape_step) * self._shape_step
        last = min(frames, first + length)
        return max(0, last - length), last

    def _style(self, voice: Voice, phonemes: int) -> Samples:
        """Return the weighted mean of the components' styles for a text of `phonemes` phonemes."""
        style = np.zeros(_STYLE_SIZE, np.float32)
        for name, share in voice.components:
            # Row n - 1 holds the style for n phonemes.
            style += np.float32(share) * self._styles_of(name)[phonemes - 1]
        return style

    def _styles_of(self, name: str) -> Samples:
        if name not in self._styles:
            path = self._voices_dir / f"{name}.bin"
            try:
                self._styles[name] = np.fromfile(path, dtype="<f4").reshape(
                    MAX_PHONEMES, _STYLE_SIZE
                )
            except (OSError, ValueError) as error:
                raise ModelError(f"{path}: {error}") from error
        return self._styles[name]


def _norms(norm_statistics: NormStatistics) -> Tensors:
    return {
        "mean": norm_statistics.mean.reshape(1, -1, 1),
        "variance": norm_statistics.variance.reshape(1, -1, 1),
    }


def generator_inputs(prosody: Prosody, start: int, end: int) -> Tensors:
    """Return the inputs that both generators share, for frames `start` to `end` of `prosody`."""
    features = slice(_FEATURES_PER_FRAME * start, _FEATURES_PER_FRAME * end)
    harmonics = slice(_HARMONICS_PER_FRAME * start, _HARMONICS_PER_FRAME * end + 1)
    return {
        "features": np.ascontiguousarray(prosody.features[:, :, features]),
        "harmonics": np.ascontiguousarray(prosody.harmonics[:, :, harmonics]),
        "gain": prosody.gain,
        "bias": prosody.bias,
    }
