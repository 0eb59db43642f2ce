"""Dequantising must give the very weights the quantised graph stands for, and still compute."""

from collections.abc import Mapping

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import ArrayLike, NDArray
from onnx import TensorProto, helper, numpy_helper

from kokoro_model.dequantise import dequantise
from kokoro_model.errors import ModelBuildError

FLOAT = TensorProto.FLOAT
RANDOM = np.random.default_rng(7)

# Quantised weights as the quantiser stores them: integers, scale, zero point.
MATMUL_Q = RANDOM.integers(-128, 128, (6, 4)).astype(np.int8)
MATMUL_SCALE = np.array([0.01, 0.02, 0.03, 0.04], np.float32)  # by column
MATMUL_ZERO = np.array([3, -5, 0, 7], np.int8)
CONV_Q = RANDOM.integers(0, 256, (5, 4, 3)).astype(np.uint8)
CONV_SCALE = np.float32(0.02)
CONV_ZERO = np.uint8(120)
CONV_BIAS = RANDOM.normal(0, 1, 5).astype(np.float32)
LSTM_HIDDEN = 3
LSTM_W_Q = RANDOM.integers(-128, 128, (2, 4, 4 * LSTM_HIDDEN)).astype(np.int8)
LSTM_W_SCALE = np.array([0.005, 0.007], np.float32)  # by direction
LSTM_W_ZERO = np.array([4, -9], np.int8)
LSTM_R_Q = RANDOM.integers(-128, 128, (2, LSTM_HIDDEN, 4 * LSTM_HIDDEN)).astype(np.int8)
LSTM_R_SCALE = np.full((2, 4 * LSTM_HIDDEN), 0.006, np.float32)  # by direction and channel
LSTM_R_ZERO = np.zeros((2, 4 * LSTM_HIDDEN), np.int8)


def model_of(
    nodes: list[onnx.NodeProto],
    constants: Mapping[str, ArrayLike],
    inputs: dict[str, list[int]],
    outputs: dict[str, list[int]],
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in outputs.items()],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def quantised_matmul() -> onnx.ModelProto:
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["x_q", "x_s", "x_z"]),
        helper.make_node(
            "MatMulInteger", ["x_q", "w_quantized", "x_z", "w_z"], ["y_i"], name="mm_quant"
        ),
        helper.make_node("Cast", ["y_i"], ["y_f"], to=FLOAT),
        helper.make_node("Mul", ["x_s", "w_s"], ["scales"]),
        helper.make_node("Mul", ["y_f", "scales"], ["y"]),
    ]
    constants = {"w_quantized": MATMUL_Q, "w_s": MATMUL_SCALE, "w_z": MATMUL_ZERO}
    return model_of(nodes, constants, {"x": [2, 6]}, {"y": [2, 4]})


def quantised_conv() -> onnx.ModelProto:
    """A convolution with the integer bias that onnxruntime's quantiser writes."""
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["x_q", "x_s", "x_z"]),
        helper.make_node("Mul", ["x_s", "w_s"], ["scales"]),
        helper.make_node("ConvInteger", ["x_q", "w_quantized", "x_z", "w_z"], ["y_i"], pads=[1, 1]),
        helper.make_node("Div", ["bias", "scales"], ["bias_d"]),
        helper.make_node("Floor", ["bias_d"], ["bias_r"]),
        helper.make_node("Cast", ["bias_r"], ["bias_i"], to=TensorProto.INT32),
        helper.make_node("Reshape", ["bias_i", "bias_shape"], ["bias_q"]),
        helper.make_node("Add", ["y_i", "bias_q"], ["y_b"]),
        helper.make_node("Cast", ["y_b"], ["y_f"], to=FLOAT),
        helper.make_node("Mul", ["y_f", "scales"], ["y"]),
    ]
    constants = {
        "w_quantized": CONV_Q,
        "w_s": CONV_SCALE,
        "w_z": CONV_ZERO,
        "bias": CONV_BIAS,
        "bias_shape": np.array([1, -1, 1], np.int64),
    }
    return model_of(nodes, constants, {"x": [1, 4, 9]}, {"y": [1, 5, 9]})


def quantised_lstm() -> onnx.ModelProto:
    node = helper.make_node(
        "DynamicQuantizeLSTM",
        ["x", "w_quantized", "r_quantized", *[""] * 5, "w_s", "w_z", "r_s", "r_z"],
        ["y"],
        domain="com.microsoft",
        direction="bidirectional",
        hidden_size=LSTM_HIDDEN,
    )
    constants = {
        "w_quantized": LSTM_W_Q,
        "w_s": LSTM_W_SCALE,
        "w_z": LSTM_W_ZERO,
        "r_quantized": LSTM_R_Q,
        "r_s": LSTM_R_SCALE,
        "r_z": LSTM_R_ZERO,
    }
    return model_of([node], constants, {"x": [5, 1, 4]}, {"y": [5, 2, 1, LSTM_HIDDEN]})


def constants_of(model: onnx.ModelProto) -> dict[str, NDArray[np.generic]]:
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}


def run(model: onnx.ModelProto, x: NDArray[np.float32]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return np.asarray(session.run(None, {"x": x})[0])


def test_matmul_weights_are_exact() -> None:
    """Scale and zero point are per column. Applied per row, they give other weights."""
    result = dequantise(quantised_matmul())
    (node,) = result.graph.node
    weight = constants_of(result)[node.input[1]]
    expected = (MATMUL_Q.astype(np.float32) - MATMUL_ZERO) * MATMUL_SCALE
    assert node.op_type == "MatMul"
    assert weight.dtype == np.float32
    np.testing.assert_array_equal(weight, expected)
    x = RANDOM.normal(0, 1, (2, 6)).astype(np.float32)
    np.testing.assert_allclose(run(result, x), x @ expected, rtol=1e-5, atol=1e-5)


def test_conv_weights_and_bias_are_exact() -> None:
    """Unsigned integers must not wrap around below the zero point, nor the bias stay rounded."""
    result = dequantise(quantised_conv())
    (node,) = result.graph.node
    constants = constants_of(result)
    expected = (CONV_Q.astype(np.float32) - np.float32(120)) * CONV_SCALE
    np.testing.assert_array_equal(constants[node.input[1]], expected)
    np.testing.assert_array_equal(constants[node.input[2]], CONV_BIAS)
    x = RANDOM.normal(0, 1, (1, 4, 9)).astype(np.float32)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1)))
    columns = np.lib.stride_tricks.sliding_window_view(padded[0], 3, axis=1)
    direct = np.einsum("oik,ink->on", expected, columns) + CONV_BIAS[:, None]
    np.testing.assert_allclose(run(result, x)[0], direct, rtol=1e-4, atol=1e-4)


def test_lstm_weights_are_exact_and_transposed() -> None:
    """DynamicQuantizeLSTM stores (input, gates), LSTM (gates, input), with 1 or n scales."""
    result = dequantise(quantised_lstm())
    (node,) = result.graph.node
    constants = constants_of(result)
    w = (LSTM_W_Q.astype(np.float32) - LSTM_W_ZERO[:, None, None]) * LSTM_W_SCALE[:, None, None]
    r = LSTM_R_Q.astype(np.float32) * np.float32(0.006)
    np.testing.assert_array_equal(constants[node.input[1]], w.transpose(0, 2, 1))
    np.testing.assert_array_equal(constants[node.input[2]], r.transpose(0, 2, 1))


@pytest.mark.parametrize(
    ("model", "shape", "tolerance"),
    [
        (quantised_matmul(), (2, 6), 0.3),
        (quantised_conv(), (1, 4, 9), 0.2),
        (quantised_lstm(), (5, 1, 4), 0.05),
    ],
    ids=["matmul", "conv", "lstm"],
)
def test_the_graph_still_computes_what_it_did(
    model: onnx.ModelProto, shape: tuple[int, ...], tolerance: float
) -> None:
    """Gates or channels in another order would still have 'right' weights; the sound would not.

    The tolerance is what quantising the activations to 8 bits costs.
    """
    x = np.random.default_rng(3).normal(0, 1, shape).astype(np.float32)
    assert np.abs(run(dequantise(model), x) - run(model, x)).max() < tolerance


def test_nothing_quantised_is_left_and_the_source_is_untouched() -> None:
    """Dead quantised nodes and weights would double the size and keep the int8 kernels in use."""
    model = quantised_conv()
    before = model.SerializeToString()
    result = dequantise(model)
    assert model.SerializeToString() == before
    assert {tensor.data_type for tensor in result.graph.initializer} == {FLOAT}
    assert [entry.domain for entry in result.opset_import] == [""]
    onnx.checker.check_model(result, full_check=True)


def test_the_same_graph_gives_the_same_bytes() -> None:
    """The build compares a hash, so a varying order would make it fail at random."""
    first, second = dequantise(quantised_conv()), dequantise(quantised_conv())
    assert first.SerializeToString() == second.SerializeToString()


def test_an_unknown_pattern_is_named() -> None:
    """A graph from another quantiser must fail the build instead of being half converted."""
    model = quantised_matmul()
    del model.graph.initializer[1]  # the weight's scale
    model.graph.input.append(helper.make_tensor_value_info("w_s", FLOAT, [4]))
    with pytest.raises(ModelBuildError, match=r"MatMulInteger 'mm_quant': the weight's scale"):
        dequantise(model)
