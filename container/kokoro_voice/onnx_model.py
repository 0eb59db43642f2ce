"""One ONNX model, loaded in ONNX Runtime on CPU or GPU. Its methods block."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy.typing as npt
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

from kokoro_voice.errors import ModelError, WorkCancelled

ExecutionProvider = Literal["cpu", "cuda"]
Tensors = dict[str, npt.NDArray[Any]]

_PROVIDERS: dict[ExecutionProvider, tuple[str, dict[str, str]]] = {
    "cpu": ("CPUExecutionProvider", {}),
    # Each length of text gives another shape. By default cuDNN would search exhaustively for the
    # best convolution for each of them. Not measured on a GPU.
    "cuda": ("CUDAExecutionProvider", {"cudnn_conv_algo_search": "HEURISTIC"}),
}


class Cancellation:
    """Cancels one unit of work, before or while it runs, from any thread."""

    def __init__(self) -> None:
        self.options = ort.RunOptions()
        """Run options that the work has to be started with."""

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` has been called."""
        return bool(self.options.terminate)

    def cancel(self) -> None:
        """End the work at its next graph node."""
        self.options.terminate = True


class OnnxModel:
    """A loaded model.

    Args:
        path: Path of the ONNX file.
        threads: The number of threads of one run on the CPU.
        provider: The execution provider: CPU or CUDA.
        provider_options: More options for the provider; `bench.gpu` enables CUDA graphs with them.

    Raises:
        ModelError: The file is missing or damaged, or `provider` cannot be used.
    """

    def __init__(
        self,
        path: Path,
        threads: int,
        provider: ExecutionProvider,
        provider_options: Mapping[str, str] | None = None,
    ) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Spinning workers would take CPU time from everything else that runs on these cores.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # The next optimization level uses a blocked layout that is meant for images. It would pad
        # the few channels of the convolutions across phases to sixteen.
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.log_severity_level = 4
        if provider != "cpu":
            # CUDA and cuDNN come as Python packages, where the dynamic loader does not search.
            ort.preload_dlls()
        name, defaults = _PROVIDERS[provider]
        providers = [(name, defaults | dict(provider_options or {}))]
        try:
            self.session = ort.InferenceSession(str(path), options, providers=providers)
        except (
            ort_errors.Fail,
            ort_errors.InvalidGraph,
            ort_errors.InvalidProtobuf,
            ort_errors.NoSuchFile,
        ) as error:
            raise ModelError(f"{path}: {error}") from error
        # If a provider cannot be used, ONNX Runtime only warns and falls back to the CPU.
        if name not in self.session.get_providers():
            raise ModelError(
                f"{name} is not active, only {', '.join(self.session.get_providers())} can be "
                "used; check the image variant, the GPU, its driver and the CUDA version"
            )
        self._outputs = [output.name for output in self.session.get_outputs()]

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata stored in the file."""
        metadata: dict[str, str] = self.session.get_modelmeta().custom_metadata_map
        return metadata

    def run(self, inputs: Tensors, cancellation: Cancellation) -> Tensors:
        """Compute the outputs by name.

        Raises:
            WorkCancelled: The work was cancelled.
        """
        try:
            outputs = self.session.run(self._outputs, inputs, cancellation.options)
        except ort_errors.Fail:
            if cancellation.cancelled:
                raise WorkCancelled from None
            raise
        return dict(zip(self._outputs, outputs, strict=True))
