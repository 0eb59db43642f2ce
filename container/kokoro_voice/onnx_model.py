"""One ONNX model on ONNX Runtime, on whatever it is to run on. Its methods block."""

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
    # Every length of text is another shape. An exhaustive search for the best convolution, which is
    # the default, would measure each anew. Not measured on a GPU.
    "cuda": ("CUDAExecutionProvider", {"cudnn_conv_algo_search": "HEURISTIC"}),
}


class Cancellation:
    """Cancels one work item, before or while it runs, from any thread."""

    def __init__(self) -> None:
        self.options = ort.RunOptions()
        """What a run has to be started with."""

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return bool(self.options.terminate)

    def cancel(self) -> None:
        """Make the work end at its next graph node."""
        self.options.terminate = True


class OnnxModel:
    """A loaded model.

    Args:
        path: of the ONNX file.
        threads: threads of one run, where it runs on the CPU.
        provider: what it runs on.
        provider_options: more options of the provider; `bench.gpu` captures CUDA graphs with them.

    Raises:
        ModelError: the file is missing or damaged, or `provider` cannot be used.
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
        # Spinning workers would take the cores from everything else that runs here.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # The blocked layout of the level above is for images: it fills up the few channels of the
        # convolutions across phases to sixteen.
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
        options.log_severity_level = 4
        if provider != "cpu":
            # CUDA and cuDNN lie in Python packages, where the loader does not look.
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
        # ONNX Runtime warns of a provider it cannot use, and goes on with the CPU.
        if name not in self.session.get_providers():
            raise ModelError(
                f"{name} is not active, this would run on {self.session.get_providers()}: "
                "image variant, GPU, driver and CUDA version must fit"
            )
        self._outputs = [output.name for output in self.session.get_outputs()]

    @property
    def metadata(self) -> dict[str, str]:
        """What the file says about itself."""
        metadata: dict[str, str] = self.session.get_modelmeta().custom_metadata_map
        return metadata

    def run(self, inputs: Tensors, cancellation: Cancellation) -> Tensors:
        """Compute the outputs, by name, from the inputs.

        Raises:
            WorkCancelled: the work was cancelled.
        """
        try:
            outputs = self.session.run(self._outputs, inputs, cancellation.options)
        except ort_errors.Fail:
            if cancellation.cancelled:
                raise WorkCancelled from None
            raise
        return dict(zip(self._outputs, outputs, strict=True))
