"""One ONNX graph on ONNX Runtime, on whatever it is to run on. Its methods block."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as ort_errors

ExecutionProvider = Literal["cpu", "cuda", "cuda-graphs", "tensorrt"]
Tensors = dict[str, npt.NDArray[Any]]

# Every length of text is another shape. An exhaustive search for the best convolution, which is the
# default, would measure each anew. Not measured on a GPU.
_CUDA = ("CUDAExecutionProvider", {"cudnn_conv_algo_search": "HEURISTIC"})
_PROVIDERS: dict[ExecutionProvider, list[tuple[str, dict[str, Any]]]] = {
    "cpu": [("CPUExecutionProvider", {})],
    "cuda": [_CUDA],
    "cuda-graphs": [(_CUDA[0], _CUDA[1] | {"enable_cuda_graph": "1"})],
    # Needs NVIDIA's TensorRT libraries, which the image does not have.
    "tensorrt": [("TensorrtExecutionProvider", {"trt_engine_cache_enable": "1"}), _CUDA],
}


class ModelError(Exception):
    """The model cannot be loaded: a file is not what it should be, or there is no GPU to use."""


class StoppedError(Exception):
    """The work was stopped from another thread."""


class Stop:
    """Stops one piece of work, before or while it runs, from any thread."""

    def __init__(self) -> None:
        self.options = ort.RunOptions()

    def set(self) -> None:
        """Make the work end at its next graph node."""
        self.options.terminate = True


class Graph:
    """A loaded graph.

    Args:
        path: of the ONNX file.
        threads: threads of one run, where it runs on the CPU.
        provider: what it runs on.

    Raises:
        ModelError: the file is missing or damaged, or `provider` cannot be used.
    """

    def __init__(self, path: Path, threads: int, provider: ExecutionProvider) -> None:
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
        try:
            self.session = ort.InferenceSession(str(path), options, providers=_PROVIDERS[provider])
        except (
            ort_errors.Fail,
            ort_errors.InvalidGraph,
            ort_errors.InvalidProtobuf,
            ort_errors.NoSuchFile,
        ) as error:
            raise ModelError(f"{path}: {error}") from error
        # ONNX Runtime warns of a provider it cannot use, and goes on with the CPU.
        name = _PROVIDERS[provider][0][0]
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

    def run(self, inputs: Tensors, stop: Stop) -> Tensors:
        """The outputs, by name, for the inputs.

        Raises:
            StoppedError: `stop` was set.
        """
        try:
            outputs = self.session.run(self._outputs, inputs, stop.options)
        except ort_errors.Fail:
            if stop.options.terminate:
                raise StoppedError from None
            raise
        return dict(zip(self._outputs, outputs, strict=True))


@dataclass(frozen=True)
class _Binding:
    """Inputs and outputs of one shape, at addresses that stay."""

    number: int
    inputs: dict[str, ort.OrtValue]
    io: ort.IOBinding


class BoundGraph:
    """A graph that keeps its inputs and outputs on the device, one set for each shape.

    That is what CUDA graphs need: the first run of a shape is captured, the next ones replay it
    without the CPU's part in launching its kernels.
    https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html#using-cuda-graphs-preview
    The shapes must be few, since none is ever given up. Not run on a GPU yet.

    Args:
        graph: all of it must run on the device.
        device: `cuda`, or `cpu`, where it brings nothing but can be tested.
    """

    def __init__(self, graph: Graph, device: Literal["cuda", "cpu"]) -> None:
        self._session = graph.session
        self._device = device
        self._bindings: dict[tuple[tuple[int, ...], ...], _Binding] = {}

    def run(self, inputs: Tensors, stop: Stop) -> Tensors:
        """As `Graph.run`."""
        shapes = tuple(inputs[name].shape for name in sorted(inputs))
        binding = self._bindings.get(shapes)
        if binding is None:
            binding = self._bindings[shapes] = self._bound(inputs, len(self._bindings))
        for name, value in inputs.items():
            binding.inputs[name].update_inplace(value)
        stop.options.add_run_config_entry("gpu_graph_id", str(binding.number))
        self._session.run_with_iobinding(binding.io, stop.options)
        outputs = (output.name for output in self._session.get_outputs())
        return dict(zip(outputs, binding.io.copy_outputs_to_cpu(), strict=True))

    def _bound(self, inputs: Tensors, number: int) -> _Binding:
        io = self._session.io_binding()
        values = {
            name: ort.OrtValue.ortvalue_from_numpy(value, self._device, 0)
            for name, value in inputs.items()
        }
        for name, value in values.items():
            io.bind_ortvalue_input(name, value)
        # One run outside any capture (-1), to learn the shapes of the outputs.
        for output in self._session.get_outputs():
            io.bind_output(output.name, self._device)
        options = ort.RunOptions()
        options.add_run_config_entry("gpu_graph_id", "-1")
        self._session.run_with_iobinding(io, options)
        shapes = [output.shape() for output in io.get_outputs()]
        io.clear_binding_outputs()
        for output, shape in zip(self._session.get_outputs(), shapes, strict=True):
            room = ort.OrtValue.ortvalue_from_shape_and_type(shape, np.float32, self._device, 0)
            io.bind_ortvalue_output(output.name, room)
        return _Binding(number, values, io)
