"""Convert a dynamically quantised ONNX graph back to float32.

ONNX Runtime's dynamic quantisation stores each weight as integers ``q`` with a scale and a zero
point, and quantises the activations at run time. This is slow on CPUs without fast int8 products
and impossible on the CUDA provider. The weights it computes with are ``(q - zero_point) * scale``.
Here these floats are stored, and the activations stay float. The patterns are those that
``onnxruntime.quantization.quantize_dynamic`` writes:
https://github.com/microsoft/onnxruntime/tree/main/onnxruntime/python/tools/quantization/operators
(``matmul.py``, ``conv.py``, ``lstm.py``).
"""

from collections.abc import Sequence

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from kokoro_model.errors import ModelBuildError
from kokoro_model.graph import Graph, other_input

# Positions in the operators' input lists, see https://onnx.ai/onnx/operators/ and, for
# DynamicQuantizeLSTM, onnxruntime's docs/ContribOperators.md.
_INTEGER_WEIGHT, _INTEGER_WEIGHT_ZERO_POINT = 1, 3
_LSTM_FLOAT_INPUTS = slice(3, 8)


def dequantise(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the float32 equivalent of a dynamically quantised model.

    Inputs and outputs keep their names. The result depends only on `model`: the same input gives
    the same bytes. `model` is not changed.

    Raises:
        ModelBuildError: A quantised node is part of an unknown pattern. The message names the node.
    """
    result = onnx.ModelProto()
    result.CopyFrom(model)
    converter = _Converter(result.graph)
    nodes = [converter.convert(node) for node in result.graph.node]
    _replace_content(result.graph, nodes, converter.constants)
    used_domains = {node.domain for node in result.graph.node}
    imports = [entry for entry in result.opset_import if entry.domain in used_domains]
    del result.opset_import[:]
    result.opset_import.extend(imports)
    return result


class _Converter:
    """Finds each quantised pattern and its float replacement, by the last node of the pattern."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self._graph = Graph(graph)
        self.constants = self._graph.constants
        self._float_node: dict[str, onnx.NodeProto] = {}
        for node in self._graph.nodes:
            try:
                replacement = self._float(node)
            except ModelBuildError as error:
                raise ModelBuildError(
                    f"cannot dequantise {node.op_type} {node.name!r}: {error}"
                ) from None
            if replacement is not None:
                self._float_node[replacement.output[0]] = replacement

    def convert(self, node: onnx.NodeProto) -> onnx.NodeProto:
        """Return the float node that replaces `node`, or `node` itself."""
        return self._float_node.get(node.output[0], node)

    def _float(self, node: onnx.NodeProto) -> onnx.NodeProto | None:
        if node.op_type in ("ConvInteger", "MatMulInteger"):
            return self._float_product(node)
        if node.op_type == "DynamicQuantizeLSTM":
            return self._float_lstm(node)
        return None

    def _float_product(self, node: onnx.NodeProto) -> onnx.NodeProto:
        """Return the Conv or MatMul for ``Mul(Cast(integer product [+ bias]), scales)``."""
        source = self._graph.producer(node.input[0], "DynamicQuantizeLinear")
        inputs = [source.input[0]]
        last = self._graph.consumer(node.output[0], "Add", "Cast")
        bias: str | None = None
        if last.op_type == "Add":
            bias = self._float_bias(other_input(last, node.output[0]))
            last = self._graph.consumer(last.output[0], "Cast")
        cast_output = last.output[0]
        last = self._graph.consumer(cast_output, "Mul")
        # The factor is the product of the activation's scale and the weight's constant scale.
        scales = self._graph.producer(other_input(last, cast_output), "Mul")
        constant = [name for name in scales.input if name in self.constants]
        if len(constant) != 1:
            raise ModelBuildError("the weight's scale is not constant")

        is_conv = node.op_type == "ConvInteger"
        weight = node.input[_INTEGER_WEIGHT]
        shape = [1] * self._graph.constant(weight).ndim
        # Convolutions are quantised by output channel (axis 0), products by column (last axis).
        shape[0 if is_conv else -1] = -1
        has_zero_point = len(node.input) > _INTEGER_WEIGHT_ZERO_POINT
        zero_point = node.input[_INTEGER_WEIGHT_ZERO_POINT] if has_zero_point else ""
        inputs.append(
            self._add_constant(weight, self._weight(weight, constant[0], zero_point, shape))
        )
        if bias is not None:
            inputs.append(bias)
        replacement = helper.make_node(
            "Conv" if is_conv else "MatMul",
            inputs,
            [last.output[0]],
            name=node.name.removesuffix("_quant"),
        )
        replacement.attribute.extend(node.attribute)
        return replacement

    def _float_bias(self, name: str) -> str:
        """Return the bias as it was before division by the scales, floor and cast to integers."""
        for op_type in ("Reshape", "Cast", "Floor"):
            name = self._graph.producer(name, op_type).input[0]
        return str(self._graph.producer(name, "Div").input[0])

    def _float_lstm(self, node: onnx.NodeProto) -> onnx.NodeProto:
        """Return the LSTM for a DynamicQuantizeLSTM, whose weights are stored transposed."""
        x, w, r = node.input[:3]
        w_scale, w_zero_point, r_scale, r_zero_point = node.input[8:12]
        replacement = helper.make_node(
            "LSTM",
            [
                x,
                self._float_lstm_weight(w, w_scale, w_zero_point),
                self._float_lstm_weight(r, r_scale, r_zero_point),
                *node.input[_LSTM_FLOAT_INPUTS],
            ],
            list(node.output),
            name=node.name.removesuffix("_quant"),
        )
        replacement.attribute.extend(node.attribute)
        return replacement

    def _float_lstm_weight(self, name: str, scale: str, zero_point: str) -> str:
        """Convert an LSTM's integer weights to floats.

        The shape changes from (directions, input, 4 * hidden) to (directions, 4 * hidden, input).
        Scale and zero point have the shape (directions,) or, by channel, (directions, 4 * hidden).
        """
        shape = [len(self._graph.constant(name)), 1, -1]
        weight = self._weight(name, scale, zero_point, shape)
        return self._add_constant(name, weight.transpose(0, 2, 1))

    def _weight(
        self, name: str, scale: str, zero_point: str, shape: list[int]
    ) -> NDArray[np.float32]:
        """Convert integers to floats. Scale and zero point, if any, are reshaped to `shape`."""
        weight = self._graph.constant(name).astype(np.float32)
        if zero_point:
            weight -= self._graph.constant(zero_point).astype(np.float32).reshape(shape)
        return weight * self._graph.constant(scale).astype(np.float32).reshape(shape)

    def _add_constant(self, quantised_name: str, value: NDArray[np.float32]) -> str:
        name = quantised_name.removesuffix("_quantized") + "_dequantised"
        tensor = numpy_helper.from_array(np.ascontiguousarray(value), name)
        known = self.constants.setdefault(name, tensor)
        if known.raw_data != tensor.raw_data:
            raise ModelBuildError(f"{quantised_name}: used with two different scales")
        return name


def _replace_content(
    graph: onnx.GraphProto,
    nodes: Sequence[onnx.NodeProto],
    constants: dict[str, onnx.TensorProto],
) -> None:
    """Reduce `graph` to those of `nodes` and `constants` that its outputs need."""
    needed = {output.name for output in graph.output}
    kept: list[onnx.NodeProto] = []
    for node in reversed(nodes):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
    # Copy the messages, because clearing a repeated field invalidates those taken from it.
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in reversed(kept)]
    tensors = [
        onnx.TensorProto.FromString(tensor.SerializeToString())
        for name, tensor in constants.items()
        if name in needed
    ]
    del graph.node[:]
    graph.node.extend(kept)
    del graph.initializer[:]
    graph.initializer.extend(tensors)
    # Remove inferred types, because their tensors may be gone.
    del graph.value_info[:]
