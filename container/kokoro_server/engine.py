"""The Kokoro model on ONNX Runtime: phonemes in, samples out."""

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from kokoro_server.audio import Samples
from kokoro_server.voices import Voice

MODEL_FILE = "kokoro-v1.0.fp32.onnx"
MAX_PHONEMES = 510
"""The model takes 512 tokens, one of padding at either end."""
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


class Engine:
    """One loaded model. Its methods block.

    Args:
        model_dir: folder with the model, `vocab.json` (phoneme to token) and `voices/NAME.bin`
            (float32 little-endian, shape (510, 1, 256)).
        threads: threads of one synthesis.
        provider: what it runs on.

    Raises:
        ModelError: a file is missing or is not what it should be, or `provider` cannot be used.
    """

    def __init__(self, model_dir: Path, threads: int, provider: ExecutionProvider = "cpu") -> None:
        self._voices_dir = model_dir / "voices"
        self._styles: dict[str, Samples] = {}
        vocab_file, model_file = model_dir / "vocab.json", model_dir / MODEL_FILE
        try:
            self._tokens: dict[str, int] = json.loads(vocab_file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(f"{vocab_file}: {error}") from error
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
                str(model_file), options, providers=[(name, provider_options)]
            )
        except (
            ort_errors.Fail,
            ort_errors.InvalidGraph,
            ort_errors.InvalidProtobuf,
            ort_errors.NoSuchFile,
        ) as error:
            raise ModelError(f"{model_file}: {error}") from error
        # ONNX Runtime warns of a provider it cannot use, and goes on with the CPU.
        if name not in self._session.get_providers():
            raise ModelError(
                f"{name} is not active, this would run on {self._session.get_providers()}: "
                "image variant, GPU, driver and CUDA version must fit"
            )

    def known(self, phonemes: str) -> str:
        """`phonemes` without the characters the model has no token for."""
        return "".join(phoneme for phoneme in phonemes if phoneme in self._tokens)

    def synthesise(self, phonemes: str, voice: Voice, speed: float, stop: Stop) -> Samples:
        """Speak `phonemes`.

        Args:
            phonemes: 1 to `MAX_PHONEMES` characters, each `known`.
            voice: of voices in the model directory.
            speed: 1.0 is the voice's own; 2.0 takes about half the time.
            stop: ends the synthesis early.

        Returns:
            24 kHz float audio, shape (n,), with the model's silence around it.

        Raises:
            ModelError: the voice's file is missing or has the wrong size.
            StoppedError: `stop` was set.
        """
        tokens = [self._tokens[phoneme] for phoneme in phonemes]
        style = self._style(voice, len(tokens))
        inputs = {
            "tokens": np.array([[0, *tokens, 0]], dtype=np.int64),
            "style": style.reshape(1, _STYLE_SIZE),
            "speed": np.array([speed], dtype=np.float32),
        }
        try:
            (samples,) = self._session.run(None, inputs, stop.options)
        except ort_errors.Fail:
            if stop.options.terminate:
                raise StoppedError from None
            raise
        return np.asarray(samples, dtype=np.float32).ravel()

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
