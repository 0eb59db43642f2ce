"""Rewrite the generator for CPUs: fewer multiplications, and all large operations multi-threaded.

Its convolutions take 87 % of the time and run as fast as matrix products. `fast_convolution.py`
explains how they need half as many multiplications. All signals between two of them are kept in
four phases.

ONNX Runtime computes Sin on one thread. Beside the faster convolutions, this takes a fifth of the
time on two threads. So Snake's ``y + sin²(y)`` is computed by operations that use all threads: with
``t = y/π - floor(y/π)`` and ``s = t (1 - t)``, ``sin(πt)`` is ``s (a + b s + c s²)`` within 8e-6.
"""

from dataclasses import dataclass

import numpy as np
import onnx

from kokoro_model.errors import ModelBuildError
from kokoro_model.fast_convolution import MAX_TAPS, PHASES, FastConvolution
from kokoro_model.graph import Graph, ModelWriter, attributes_of

SINE = (3.14221714, 3.12655597, 1.21780158)
"""The coefficients a, b and c. They minimise the largest error; they were found by least squares,
reweighted until the extreme errors were equal."""
_ELEMENTWISE = ("Add", "Div", "Mul", "Sin", "Sub")
# Gain and bias are divided by π, so that a norm computes y/π. The polynomial is computed divided by
# c, because its highest coefficient is then 1. So the result of Snake is divided by c², and the
# weights of the convolution after it are multiplied by c².
_NORM_FACTOR, _SNAKE_FACTOR = 1 / np.pi, SINE[2] ** 2


def for_cpu(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the same generator, rewritten for CPUs, with the same inputs and outputs.

    The result depends only on `model`.

    Args:
        model: Either generator of a `SplitModel`.

    Raises:
        ModelBuildError: The structure is not that of these generators. The message names the place.
    """
    return _Rewriting(model).model()


@dataclass(frozen=True)
class _Extent:
    """The number of samples of a signal in phases, whose last tile is padded to four samples.

    Attributes:
        samples: Name of the number of samples, shape (1,).
        mask: Name of a mask that is 1 for samples and 0 for padding, shape (1, 4, 1, M).
    """

    samples: str
    mask: str


class _Rewriting:
    """Rewrites a generator node by node.

    A tensor that is computed in phases, or per channel, keeps its name. A tensor that is converted
    to phases, or that gets the axis of phases, is called `NAME_phased`. One that is converted back
    is called `NAME_joined`.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        self._model = model
        self._graph = Graph(model.graph)
        self._writer = ModelWriter(model)
        self._fast = {node.output[0] for node in self._graph.nodes if _is_fast(node, self._graph)}
        """Outputs of the convolutions that are written as fast ones."""
        self._per_channel = self._find_per_channel()
        self._in_phases = self._find_in_phases()
        self._renamed: dict[str, str] = {}
        """Maps a name to the name of its phased counterpart."""
        self._joined: dict[str, str] = {}
        """Maps a signal in phases to the name of the same signal out of phases."""
        self._extents: dict[str, _Extent] = {}
        """Maps a signal in phases to its extent."""
        self._written: set[str] = set()
        """Outputs of Snake's other nodes. All of Snake is written at its sine."""
        self._activated: set[str] = set()
        """Outputs of Snake activations."""

    def model(self) -> onnx.ModelProto:
        """Return the rewritten model, see `for_cpu`."""
        writer = self._writer
        for name, integers in (
            ("phase_axis", [1]),
            ("first_sample_of_all", [0]),
            ("axis_of_time", [2]),
            ("phases", [PHASES]),
            ("no_other_padding", [0] * 5),
            ("one_and_one", [1, 1]),
            ("into_tiles", [0, 0, -1, PHASES]),
            ("out_of_tiles", [0, 0, -1]),
        ):
            writer.constant(name, integers, np.int64)
        writer.constant("one", np.ones((1, 1, 1)))
        for name, value in (
            ("norm_factor", _NORM_FACTOR),
            ("snake_linear", np.pi / _SNAKE_FACTOR),
            ("snake_0", SINE[0] / SINE[2]),
            ("snake_1", SINE[1] / SINE[2]),
        ):
            writer.constant(name, value)
        for value in self._model.graph.input:
            if value.name in self._per_channel:
                self._write_input(value.name)
        for value in self._model.graph.output:
            if value.name in self._per_channel:
                self._renamed[value.name] = f"{value.name}_phased"
        for node in self._graph.nodes:
            self._write(node)
        for value in self._model.graph.output:
            if value.name in self._per_channel:
                writer.add("Squeeze", [f"{value.name}_phased", "phase_axis"], [value.name])
        return writer.model(self._model.graph.input, self._model.graph.output)

    def _find_per_channel(self) -> set[str]:
        """Return the tensors with one value per channel and no time axis."""
        found = {
            value.name
            for value in self._model.graph.input
            if value.type.tensor_type.shape.dim[-1].dim_value == 1
        }
        for node in self._graph.nodes:
            inputs = [name for name in node.input if name not in self._graph.constants]
            if node.op_type == "ReduceMean" or (inputs and found.issuperset(inputs)):
                found.update(node.output)
        return found

    def _find_in_phases(self) -> set[str]:
        """Return the inputs and outputs of fast convolutions and all element-wise relatives."""
        found: set[str] = set()
        size = -1
        while size != len(found):
            size = len(found)
            for node in self._graph.nodes:
                if node.output[0] in self._fast:
                    found.update((node.input[0], node.output[0]))
                elif node.op_type in _ELEMENTWISE and node.output[0] not in self._per_channel:
                    tied = {*self._signals(node), node.output[0]}
                    if tied & found:
                        found |= tied
        return found

    def _signals(self, node: onnx.NodeProto) -> list[str]:
        """Return the inputs of an element-wise operation that have a time axis."""
        known = self._per_channel.union(self._graph.constants)
        return [name for name in node.input if name not in known]

    def _write(self, node: onnx.NodeProto) -> None:
        attributes = attributes_of(node)
        (output, *more) = node.output
        if output in self._written:
            return
        if node.op_type == "ReduceMean":
            self._write_mean(node.input[0], output)
        elif output in self._fast:
            self._write_convolution(node)
        elif output in self._per_channel:
            if "axis" in attributes:
                attributes["axis"] += 1
            outputs = [self._renamed.get(name, name) for name in (output, *more)]
            inputs = [self._renamed.get(name, name) for name in node.input]
            self._writer.add(node.op_type, inputs, outputs, **attributes)
        elif node.op_type == "Sin" and output in self._in_phases:
            self._write_snake(node)
        elif node.op_type in _ELEMENTWISE and output in self._in_phases:
            inputs = [self._renamed.get(name, name) for name in node.input]
            self._extents[output] = self._extents[self._signals(node)[0]]
            self._writer.add(node.op_type, inputs, [output], **attributes)
        else:
            self._writer.copy(node, {name: self._as_it_was(name) for name in node.input})
            if output in self._in_phases:
                self._into_phases(output)

    def _write_input(self, name: str) -> None:
        source = name
        if name in ("gain", "bias"):
            source = f"{name}_scaled"
            self._writer.add("Mul", [name, "norm_factor"], [source])
        self._writer.add("Unsqueeze", [source, "phase_axis"], [f"{name}_phased"])
        self._renamed[name] = f"{name}_phased"

    def _write_snake(self, sine: onnx.NodeProto) -> None:
        """Write Snake, which begins with `sine`, and mark its other nodes as written."""
        (half_turns,), (sine_output,) = sine.input, sine.output
        square = self._graph.consumer(sine_output, "Mul")
        add = self._graph.consumer(square.output[0], "Add")
        (output,) = add.output
        behind = self._graph.consumer(output, "Conv").output[0]
        if behind not in self._fast:
            raise ModelBuildError(f"{behind!r}: a convolution that cannot be written as a fast one")
        if half_turns not in add.input or list(square.input) != [sine_output] * 2:
            raise ModelBuildError(f"{output!r}: not a Snake activation")
        writer = self._writer
        fraction, parabola = f"{output}_fraction", f"{output}_parabola"
        writer.add("Floor", [half_turns], [f"{output}_floor"])
        writer.add("Sub", [half_turns, f"{output}_floor"], [fraction])
        writer.add("Mul", [fraction, fraction], [f"{output}_fraction_2"])
        writer.add("Sub", [fraction, f"{output}_fraction_2"], [parabola])
        writer.add("Add", [parabola, "snake_1"], [f"{output}_sum_1"])
        writer.add("Mul", [f"{output}_sum_1", parabola], [f"{output}_product_1"])
        writer.add("Add", [f"{output}_product_1", "snake_0"], [f"{output}_sum_0"])
        writer.add("Mul", [f"{output}_sum_0", parabola], [f"{output}_sine"])
        writer.add("Mul", [f"{output}_sine", f"{output}_sine"], [f"{output}_square"])
        writer.add("Mul", [half_turns, "snake_linear"], [f"{output}_linear"])
        writer.add("Add", [f"{output}_linear", f"{output}_square"], [output])
        self._written.update((square.output[0], output))
        self._activated.add(output)
        self._extents[output] = self._extents[half_turns]

    def _into_phases(self, name: str) -> None:
        writer = self._writer
        samples = f"{name}_samples"
        writer.add("Shape", [name], [f"{name}_shape"])
        writer.add("Gather", [f"{name}_shape", "axis_of_time"], [samples])
        writer.add("Neg", [samples], [f"{name}_negative"])
        writer.add("Mod", [f"{name}_negative", "phases"], [f"{name}_fill"])
        writer.add("Concat", ["no_other_padding", f"{name}_fill"], [f"{name}_padding"], axis=0)
        writer.add("Concat", ["one_and_one", samples], [f"{name}_ones_shape"], axis=0)
        writer.add("Expand", ["one", f"{name}_ones_shape"], [f"{name}_ones"])
        for source, target in ((name, f"{name}_phased"), (f"{name}_ones", f"{name}_mask")):
            writer.add("Pad", [source, f"{name}_padding"], [f"{source}_filled"])
            writer.add("Reshape", [f"{source}_filled", "into_tiles"], [f"{source}_tiles"])
            writer.add("Transpose", [f"{source}_tiles"], [target], perm=[0, 3, 1, 2])
        self._renamed[name] = f"{name}_phased"
        self._joined[name] = name
        self._extents[name] = _Extent(samples, f"{name}_mask")

    def _as_it_was(self, name: str) -> str:
        """Return `name` out of phases, converting it if necessary."""
        if name not in self._extents:
            return name
        if name not in self._joined:
            writer = self._writer
            writer.add("Transpose", [name], [f"{name}_tiles"], perm=[0, 2, 3, 1])
            writer.add("Reshape", [f"{name}_tiles", "out_of_tiles"], [f"{name}_filled"])
            end = self._extents[name].samples
            inputs = [f"{name}_filled", "first_sample_of_all", end, "axis_of_time"]
            writer.add("Slice", inputs, [f"{name}_joined"])
            self._joined[name] = f"{name}_joined"
        return self._joined[name]

    def _write_mean(self, source: str, output: str) -> None:
        writer, extent = self._writer, self._extents[source]
        count = f"{output}_count"
        axes = writer.constant("phase_and_time_axes", [1, 3], np.int64)
        phased = self._renamed.get(source, source)
        writer.add("Mul", [phased, extent.mask], [f"{output}_masked"])
        writer.add("ReduceSum", [f"{output}_masked", axes], [f"{output}_sum"])
        writer.add("Cast", [extent.samples], [count], to=onnx.TensorProto.FLOAT)
        writer.add("Div", [f"{output}_sum", count], [self._renamed.get(output, output)])

    def _write_convolution(self, node: onnx.NodeProto) -> None:
        source, weight, bias = node.input
        (output,) = node.output
        if source not in self._activated:
            raise ModelBuildError(
                f"{source!r} is read by a convolution, but is not a Snake activation"
            )
        fast = FastConvolution.of(
            self._graph.constant(weight) * np.float32(_SNAKE_FACTOR),
            self._graph.constant(bias),
            _dilation(node),
        )
        writer, extent = self._writer, self._extents[source]
        points, channels = fast.evaluation.shape[0], len(fast.products_bias)
        constants = {
            name: writer.constant(f"{output}_{name}", getattr(fast, name))
            for name in ("evaluation", "products", "products_bias", "interpolation")
        }
        side_by_side = writer.constant(f"side_by_side_{channels}", [0, channels, -1], np.int64)
        by_point = writer.constant(
            f"by_point_{points}_{channels}", [0, points, channels // points, -1], np.int64
        )
        before, after = fast.evaluation_pads
        writer.add("Mul", [self._renamed.get(source, source), extent.mask], [f"{output}_masked"])
        writer.add(
            "Conv",
            [f"{output}_masked", constants["evaluation"]],
            [f"{output}_at_points"],
            pads=[0, before, 0, after],
        )
        writer.add("Reshape", [f"{output}_at_points", side_by_side], [f"{output}_factors"])
        writer.add(
            "Conv",
            [f"{output}_factors", constants["products"], constants["products_bias"]],
            [f"{output}_multiplied"],
            dilations=[fast.dilation],
            group=points,
        )
        writer.add("Reshape", [f"{output}_multiplied", by_point], [f"{output}_coefficients"])
        writer.add("Conv", [f"{output}_coefficients", constants["interpolation"]], [output])
        self._extents[output] = extent


def _is_fast(node: onnx.NodeProto, graph: Graph) -> bool:
    """Return whether `node` is a convolution that can, and should, be written as a fast one."""
    if node.op_type != "Conv" or len(node.input) != 3:
        return False
    attributes = attributes_of(node)
    out_channels, in_channels, *taps = graph.constant(node.input[1]).shape
    dilation = _dilation(node)
    pad = dilation * (taps[0] // 2)
    return (
        out_channels == in_channels
        and len(taps) == 1
        and 3 <= taps[0] <= MAX_TAPS
        and taps[0] % 2 == dilation % 2 == 1
        and attributes.get("group", 1) == 1
        and attributes.get("strides", [1]) == [1]
        and attributes.get("pads", [0, 0]) == [pad, pad]
    )


def _dilation(conv: onnx.NodeProto) -> int:
    return int(attributes_of(conv).get("dilations", [1])[0])
