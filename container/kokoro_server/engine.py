"""The Kokoro model on ONNX Runtime: phonemes in, samples out.

The model runs in two parts: prosody for a whole sentence, then the generator for all of it or for
windows of frames. `model/split.py` makes the parts.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from kokoro_server.audio import Samples
from kokoro_server.voices import Voice
from kokoro_server.windows import CONTEXT_FRAMES

MAX_PHONEMES = 510
"""The model takes 512 tokens, one of padding at either end."""
FRAME_SAMPLES = 600
"""25 ms at 24 kHz: the model's unit of duration."""
_FEATURES_PER_FRAME, _HARMONICS_PER_FRAME = 2, 120
_STYLE_SIZE = 256

ExecutionProvider = Literal["cpu", "cuda"]
_PROVIDERS: dict[ExecutionProvider, tuple[str, dict[str, Any]]] = {
    "cpu": ("CPUExecutionProvider", {}),
    # Every length of text is another shape. An exhaustive search, which is the default, would
    # measure each anew. Not measured on a GPU.
    "cuda": ("CUDAExecutionProvider", {"cudnn_conv_algo_search": "HEURISTIC"}),
}


class ModelError(Exception):
    """The model cannot be loaded: a file is not what it should be, or there is no GPU to use."""


class StoppedError(Exception):
    """The synthesis was stopped from another thread."""


class Stop:
    """Stops one synthesis, before or while it runs, from any thread."""

    def __init__(self) -> None:
        self.options = ort.RunOptions()

    def set(self) -> None:
        """Make the synthesis end at its next graph node."""
        self.options.terminate = True


@dataclass(frozen=True)
class Prosody:
    """One sentence before it is sound: what the generator needs, for all of its frames.

    A frame is 25 ms, `FRAME_SAMPLES` samples.

    Arguments:
        token_frames: how long each token is, padding, phonemes, padding; int64, shape (n + 2,).
        features: the decoder's output, shape (1, 512, 2 * frames).
        harmonics: the harmonic source's spectrum, shape (1, 22, 120 * frames + 1).
        gain: the style's part of the generator's norms, shape (1, 9216, 1).
        bias: likewise.
        style: the style vector, shape (256,).
    """

    token_frames: npt.NDArray[np.int64]
    features: Samples
    harmonics: Samples
    gain: Samples
    bias: Samples
    style: Samples

    @property
    def frames(self) -> int:
        """The length of the sentence."""
        return int(self.token_frames.sum())


@dataclass(frozen=True)
class Statistics:
    """Mean and variance of what the generator's norms take in, over a whole sentence.

    Arguments:
        mean: of each channel of each norm in the graph's order, shape (8448,).
        variance: likewise.
    """

    mean: Samples
    variance: Samples


class Engine:
    """The loaded model. Its methods block.

    Args:
        model_dir: folder with the model's parts, `vocab.json` (phoneme to token) and
            `voices/NAME.bin` (float32 little-endian, shape (510, 1, 256)).
        threads: threads of one synthesis.
        provider: what it runs on.

    Raises:
        ModelError: a file is missing or is not what it should be, or `provider` cannot be used.
    """

    def __init__(self, model_dir: Path, threads: int, provider: ExecutionProvider = "cpu") -> None:
        self._voices_dir = model_dir / "voices"
        self._styles: dict[str, Samples] = {}
        vocab_file = model_dir / "vocab.json"
        try:
            self._tokens: dict[str, int] = json.loads(vocab_file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"{vocab_file}: {error}") from error
        self._prosody = _Graph(model_dir / "prosody.onnx", threads, provider)
        self._generator = _Graph(model_dir / "generator.onnx", threads, provider)
        self._generator_exact = _Graph(model_dir / "generator-exact.onnx", threads, provider)

    @property
    def model_sha256(self) -> str:
        """Of the graph that the parts were cut from: which model this is."""
        return self._generator.source_sha256

    def known(self, phonemes: str) -> str:
        """`phonemes` without the characters the model has no token for."""
        return "".join(phoneme for phoneme in phonemes if phoneme in self._tokens)

    def prosody(self, phonemes: str, voice: Voice, speed: float, stop: Stop) -> Prosody:
        """Everything about a sentence but its sound.

        Args:
            phonemes: 1 to `MAX_PHONEMES` characters, each `known`.
            voice: of voices in the model directory.
            speed: 1.0 is the voice's own; 2.0 takes about half the time.
            stop: ends the work early.

        Raises:
            ModelError: the voice's file is missing or has the wrong size.
            StoppedError: `stop` was set.
        """
        tokens = [self._tokens[phoneme] for phoneme in phonemes]
        style = self._style(voice, len(tokens))
        made = self._prosody.run(
            {
                "tokens": np.array([[0, *tokens, 0]], dtype=np.int64),
                "style": style.reshape(1, _STYLE_SIZE),
                "speed": np.array([speed], dtype=np.float32),
            },
            stop,
        )
        return Prosody(**made, style=style)

    def whole(self, prosody: Prosody, stop: Stop) -> tuple[Samples, Statistics]:
        """Decode all of a sentence with its own statistics.

        Returns:
            24 kHz float audio, shape (600 * frames,), with the model's silence around it; and the
            statistics.

        Raises:
            StoppedError: `stop` was set.
        """
        made = self._generator_exact.run(_given(prosody, 0, prosody.frames), stop)
        return made["audio"][0], Statistics(made["mean"][0, :, 0], made["variance"][0, :, 0])

    def window(
        self, prosody: Prosody, statistics: Statistics, start: int, end: int, stop: Stop
    ) -> Samples:
        """Decode the frames from `start` to `end` (exclusive) with given statistics.

        Returns:
            24 kHz float audio, shape (600 * (end - start),). Windows that are put together equal
            the decoding of all frames at once.

        Raises:
            StoppedError: `stop` was set.
        """
        first = max(0, start - CONTEXT_FRAMES)
        last = min(prosody.frames, end + CONTEXT_FRAMES)
        given = _given(prosody, first, last)
        given |= {
            "mean": statistics.mean.reshape(1, -1, 1),
            "variance": statistics.variance.reshape(1, -1, 1),
        }
        audio: Samples = self._generator.run(given, stop)["audio"][0]
        return audio[(start - first) * FRAME_SAMPLES : (end - first) * FRAME_SAMPLES]

    def _style(self, voice: Voice, phonemes: int) -> Samples:
        """The weighted mean of the parts' styles for a text of so many phonemes."""
        style = np.zeros(_STYLE_SIZE, np.float32)
        for name, share in voice.parts:
            # Row n-1 is for n phonemes.
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


class _Graph:
    """One of the model's graphs, loaded."""

    def __init__(self, path: Path, threads: int, provider: ExecutionProvider) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Spinning workers would take the cores from everything else that runs here.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 4
        name, provider_options = _PROVIDERS[provider]
        if provider == "cuda":
            # CUDA and cuDNN lie in Python packages, where the loader does not look.
            ort.preload_dlls()
        try:
            self._session = ort.InferenceSession(
                str(path), options, providers=[(name, provider_options)]
            )
        except (
            ort_errors.Fail,
            ort_errors.InvalidGraph,
            ort_errors.InvalidProtobuf,
            ort_errors.NoSuchFile,
        ) as error:
            raise ModelError(f"{path}: {error}") from error
        # ONNX Runtime warns of a provider it cannot use, and goes on with the CPU.
        if name not in self._session.get_providers():
            raise ModelError(
                f"{name} is not active, this would run on {self._session.get_providers()}: "
                "image variant, GPU, driver and CUDA version must fit"
            )
        self._outputs = [output.name for output in self._session.get_outputs()]
        metadata: dict[str, str] = self._session.get_modelmeta().custom_metadata_map
        self.source_sha256 = metadata.get("source_sha256", "")

    def run(self, inputs: dict[str, npt.NDArray[Any]], stop: Stop) -> dict[str, Any]:
        """The outputs by name.

        Raises:
            StoppedError: `stop` was set.
        """
        try:
            outputs = self._session.run(self._outputs, inputs, stop.options)
        except ort_errors.Fail:
            if stop.options.terminate:
                raise StoppedError from None
            raise
        return dict(zip(self._outputs, outputs, strict=True))


def _given(prosody: Prosody, start: int, end: int) -> dict[str, npt.NDArray[Any]]:
    """What both generators take, for the frames from `start` to `end`."""
    features = slice(_FEATURES_PER_FRAME * start, _FEATURES_PER_FRAME * end)
    harmonics = slice(_HARMONICS_PER_FRAME * start, _HARMONICS_PER_FRAME * end + 1)
    return {
        "features": np.ascontiguousarray(prosody.features[:, :, features]),
        "harmonics": np.ascontiguousarray(prosody.harmonics[:, :, harmonics]),
        "gain": prosody.gain,
        "bias": prosody.bias,
    }
