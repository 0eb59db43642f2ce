"""Rewrite prosody for CPUs: the harmonic source's STFT as a convolution, with its rounding noise.

ONNX Runtime's STFT uses one thread and takes a sixth of prosody's time on two. It is linear, so a
convolution can do the same, alone in a thirtieth of it. But the model also hears the *phase* of
what is silent, which is nothing but rounding noise: with sines and cosines as filters the audio is
9 dB from the whole graph. So

- the filters are what the STFT makes of impulses. Most of its noise is linear, too, of twiddle
  factors that are not quite right; with these filters it is 37 dB;
- where what is left of the noise may decide between the phases π and -π, the STFT itself does.
  That is a fifth of the frames, mostly because of the first bin and the last, whose imaginary part
  is noise alone. With that it is more than 80 dB;
- a source that is off gives the same frame again and again. Its spectrum is known in advance: the
  convolution works on the difference from it.
"""

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx.helper import make_tensor_value_info

from kokoro_model.errors import ModelBuildError
from kokoro_model.graph import Graph, ModelWriter, attributes_of

_UNSURE_REAL, _UNSURE = 1e-7, 1e-6
"""Twice the largest difference between convolution and STFT, and more, in the imaginary part of the
first and the last bin, which are real, and of another."""
_BETWEEN = ("Reshape", "Pad", "Squeeze", "Transpose")
_VECTOR = 64
"""Values, of which the first is computed as those in the middle of a long signal are."""


def for_cpu(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same prosody for CPUs; its inputs and outputs stay as they are.

    The result depends on nothing but `model`.

    Args:
        model: `prosody` of a `SplitModel`.

    Raises:
        ModelBuildError: it is not built as that is; the place is named.
    """
    graph = Graph(model.graph)
    writer = ModelWriter(model)
    stft = next((node for node in graph.nodes if node.op_type == "STFT"), None)
    if stft is None:
        raise ModelBuildError("prosody without an STFT of the harmonic source")
    transposed, *gathers = _taken_apart(graph, stft)
    outputs = [gather.output[0] for gather in gathers]
    for node in graph.nodes:
        if node is stft:
            _write_stft(writer, model, graph, stft, outputs)
        elif node.output[0] not in (transposed.output[0], *outputs):
            writer.copy(node, {})
    return writer.model(model.graph.input, model.graph.output)


def _taken_apart(graph: Graph, stft: onnx.NodeProto) -> list[onnx.NodeProto]:
    """The nodes that transpose the spectrum, and take the real and the imaginary part out of it."""
    transposed = graph.consumer(stft.output[0], "Transpose")
    gathers = sorted(
        graph.consumers(transposed.output[0], "Gather"),
        key=lambda node: int(graph.constant(node.input[1])),
    )
    if (
        [int(graph.constant(node.input[1])) for node in gathers] != [0, 1]
        or [attributes_of(node).get("axis") for node in gathers] != [3, 3]
        or attributes_of(transposed).get("perm") != [0, 2, 1, 3]
    ):
        raise ModelBuildError(f"{stft.output[0]!r}: not taken apart as expected")
    return [transposed, *gathers]


def _write_stft(
    writer: ModelWriter,
    model: onnx.ModelProto,
    graph: Graph,
    stft: onnx.NodeProto,
    outputs: list[str],
) -> None:
    """Real and imaginary part, `outputs`, each of shape (1, bins, frames)."""
    signal, step_name, window, size_name = stft.input
    step, size = (int(graph.constant(name)) for name in (step_name, size_name))
    silence = _silence(model, graph, signal)
    frames = np.vstack([np.eye(size, dtype=np.float32), np.full((1, size), silence, np.float32)])
    spectra = _run_alone(model, stft, frames)[:, 0]
    bins = spectra.shape[1]
    # Real values, then imaginary ones; shape (2 * bins, size + 1).
    responses = spectra.transpose(2, 1, 0).reshape(2 * bins, size + 1)
    unsure = np.full((1, bins, 1), _UNSURE, np.float32)
    unsure[:, [0, -1]] = _UNSURE_REAL
    silent = np.maximum(responses[:bins, -1], np.abs(responses[bins:, -1]))
    least_of_silence = (silent / unsure.ravel()).min()

    for name, value in (
        ("stft_filters", responses[:, None, :-1]),
        ("stft_of_silence", responses[:, -1]),
        ("silence", silence),
        ("unsure", unsure),
        ("one", 1.0),
        ("least_of_silence", least_of_silence),
        ("nearly_silent", 1e-4 * least_of_silence),
    ):
        writer.constant(name, value)
    for name, integers in (
        ("axis_0", [0]),
        ("axis_1", [1]),
        ("axes_0_1", [0, 1]),
        ("first_frame", [0]),
        ("stft_bins", [bins, bins]),
        ("stft_step", step),
        ("stft_size", size),
        ("within_frame", np.arange(size)[None]),
        ("one_signal", [1, -1]),
        ("as_channels", [1, 2 * bins, -1]),
        ("for_each_channel", [1, 2 * bins, 1]),
    ):
        writer.constant(name, integers, np.int64)

    writer.add("Sub", [signal, "silence"], ["sound"])
    writer.add("Unsqueeze", ["sound", "axis_1"], ["sound_channel"])
    inputs = ["sound_channel", "stft_filters", "stft_of_silence"]
    writer.add("Conv", inputs, ["estimated"], strides=[step])
    _write_is_asked(writer)
    _write_asked_frames(writer, signal, window, size_name)
    writer.add("Split", ["spectrum", "stft_bins"], outputs, axis=1)


def _write_is_asked(writer: ModelWriter) -> None:
    """Which frames of `estimated` the STFT is asked for: `is_asked`."""
    add = writer.add
    # The phase jumps at the negative real numbers: a bin is sure if it is off them.
    add("Split", ["estimated", "stft_bins"], ["estimated_real", "estimated_imaginary"], axis=1)
    add("Abs", ["estimated_imaginary"], ["estimated_height"])
    add("Max", ["estimated_height", "estimated_real"], ["off_the_jump"])
    add("Div", ["off_the_jump", "unsure"], ["sure"])
    add("ReduceMin", ["sure", "axes_0_1"], ["least_sure"], keepdims=0)
    add("Less", ["least_sure", "one"], ["is_unsure"])
    # Another CPU's tanh may differ in the last bit of silence.
    add("Sub", ["least_sure", "least_of_silence"], ["off_silence"])
    add("Abs", ["off_silence"], ["far_off_silence"])
    add("Greater", ["far_off_silence", "nearly_silent"], ["is_sound"])
    add("And", ["is_unsure", "is_sound"], ["is_asked"])


def _write_asked_frames(writer: ModelWriter, signal: str, window: str, size_name: str) -> None:
    """`spectrum`: `estimated`, but what the STFT computes for the frames that it is asked for."""
    add = writer.add
    # The STFT of the frames that are asked for, put side by side; at least of one.
    add("NonZero", ["is_asked"], ["asked_places"])
    add("Squeeze", ["asked_places", "axis_0"], ["asked_or_none"])
    add("Concat", ["first_frame", "asked_or_none"], ["asked"], axis=0)
    add("Unsqueeze", ["asked", "axis_1"], ["asked_column"])
    add("Mul", ["asked_column", "stft_step"], ["asked_begins"])
    add("Add", ["asked_begins", "within_frame"], ["asked_samples"])
    add("Squeeze", [signal, "axis_0"], ["samples_only"])
    add("Gather", ["samples_only", "asked_samples"], ["asked_frames"])
    add("Reshape", ["asked_frames", "one_signal"], ["asked_signal"])
    add("STFT", ["asked_signal", "stft_size", window, size_name], ["asked_spectra"], onesided=1)
    add("Transpose", ["asked_spectra"], ["asked_parts"], perm=[0, 3, 2, 1])
    add("Reshape", ["asked_parts", "as_channels"], ["asked_channels"])
    add("Expand", ["asked", "for_each_channel"], ["asked_everywhere"])
    inputs = ["estimated", "asked_everywhere", "asked_channels"]
    add("ScatterElements", inputs, ["spectrum"], axis=2)


def _silence(model: onnx.ModelProto, graph: Graph, signal: str) -> np.float32:
    """The value of the source that is off: tanh of its bias, to the last bit."""
    node = graph.producer(signal, *_BETWEEN, "Tanh")
    while node.op_type != "Tanh":
        node = graph.producer(node.input[0], *_BETWEEN, "Tanh")
    add = graph.producer(node.input[0], "Add")
    for name in add.input:
        if name in graph.constants and graph.constant(name).size == 1:
            bias = np.full(_VECTOR, graph.constant(name), np.float32)
            return np.float32(_run_alone(model, node, bias)[0])
    raise ModelBuildError(f"{add.output[0]!r}: not the sum of a harmonic source and its bias")


def _run_alone(
    model: onnx.ModelProto, node: onnx.NodeProto, value: NDArray[np.float32]
) -> NDArray[np.float32]:
    """What ONNX Runtime makes of `value` as the first input of a node, the others constant."""
    writer = ModelWriter(model)
    writer.copy(node, {node.input[0]: "value"})
    (output,) = node.output
    alone = writer.model(
        [make_tensor_value_info("value", onnx.TensorProto.FLOAT, value.shape)],
        [make_tensor_value_info(output, onnx.TensorProto.FLOAT, None)],
    )
    session = onnxruntime.InferenceSession(
        alone.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return np.asarray(session.run([output], {"value": value})[0], np.float32)
