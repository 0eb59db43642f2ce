"""Rewrite prosody for CPUs: compute the harmonic source's STFT by a convolution, noise included.

ONNX Runtime's STFT uses one thread and takes a sixth of prosody's time on two. It is linear, so a
convolution can compute it, in a thirtieth of that time. However, the model also depends on the
*phase* of silent bins, which is only rounding noise. With sines and cosines as filters, the audio
is at 9 dB signal to noise, compared with the whole graph. Therefore:

- The filters are the STFT's responses to impulses. Most of its noise comes from inexact twiddle
  factors and is linear, too. With these filters the audio is at 37 dB.
- Where the remaining noise may decide between the phases π and -π, the STFT itself is used. That is
  a fifth of the frames, mostly because of the first and last bins, whose imaginary part is noise
  alone. With it the audio is at more than 80 dB.
- While the source is off, it gives the same frame again and again, with a spectrum that is known in
  advance. The convolution works on the difference from that.
"""

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx.helper import make_tensor_value_info

from kokoro_model.errors import ModelBuildError
from kokoro_model.graph import Graph, ModelWriter, attributes_of

_UNSURE_REAL, _UNSURE = 1e-7, 1e-6
"""At least twice the largest difference between convolution and STFT: in the imaginary parts of the
first and last bins, which are real, and in those of the other bins."""
_BETWEEN = ("Reshape", "Pad", "Squeeze", "Transpose")
_VECTOR = 64
"""Length of a vector whose first value is computed like those in the middle of a long signal."""


def for_cpu(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the same prosody, rewritten for CPUs, with the same inputs and outputs.

    The result depends only on `model`.

    Args:
        model: `prosody` of a `SplitModel`.

    Raises:
        ModelBuildError: The structure is not that of prosody. The message names the place.
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
    """Return the nodes that transpose the spectrum and extract its real and imaginary parts."""
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
    """Write the real and imaginary parts to `outputs`, each of shape (1, bins, frames)."""
    signal, step_name, window, size_name = stft.input
    step, size = (int(graph.constant(name)) for name in (step_name, size_name))
    silence = _silence(model, graph, signal)
    frames = np.vstack([np.eye(size, dtype=np.float32), np.full((1, size), silence, np.float32)])
    spectra = _run_alone(model, stft, frames)[:, 0]
    bins = spectra.shape[1]
    # The real parts, then the imaginary ones; shape (2 * bins, size + 1).
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
    """Write `is_asked`: the frames of `estimated` for which the STFT is used."""
    add = writer.add
    # The phase jumps at the negative real numbers. A bin that is away from them is certain.
    add("Split", ["estimated", "stft_bins"], ["estimated_real", "estimated_imaginary"], axis=1)
    add("Abs", ["estimated_imaginary"], ["estimated_height"])
    add("Max", ["estimated_height", "estimated_real"], ["off_the_jump"])
    add("Div", ["off_the_jump", "unsure"], ["sure"])
    add("ReduceMin", ["sure", "axes_0_1"], ["least_sure"], keepdims=0)
    add("Less", ["least_sure", "one"], ["is_unsure"])
    # On another CPU, tanh may differ in the last bit, and so may the value of silence.
    add("Sub", ["least_sure", "least_of_silence"], ["off_silence"])
    add("Abs", ["off_silence"], ["far_off_silence"])
    add("Greater", ["far_off_silence", "nearly_silent"], ["is_sound"])
    add("And", ["is_unsure", "is_sound"], ["is_asked"])


def _write_asked_frames(writer: ModelWriter, signal: str, window: str, size_name: str) -> None:
    """Write `spectrum`: `estimated`, with the STFT's results where `is_asked` holds."""
    add = writer.add
    # The STFT runs on the selected frames side by side. There is always at least one.
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
    """Return the exact value of the source while it is off: the tanh of its bias."""
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
    """Run one node of `model` on its own with `value` as first input; the others are constant."""
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
