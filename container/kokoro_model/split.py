"""Cut Kokoro's graph into prosody and generator, and write the generator for windows.

*Prosody* (text encoder, durations, pitch, decoder) needs the whole sentence and is about a fifth of
the work on a CPU. The *generator* (iSTFTNet, https://arxiv.org/abs/2203.02395) is local, except for
its 44 adaptive instance norms, which use the mean and variance of the whole sentence. It is written
twice. `generator` takes these statistics as inputs, so it can decode any window of frames.
`generator_exact` computes them from its input and returns them.

Cuts and norms are found by the graph's structure. Another export of the same model, with other
names, works as well.

Each norm is followed by a Snake activation (https://arxiv.org/abs/2006.08195), ``x + sin²(ax) / a``
with a constant `a` for each channel, and by a convolution. If `a` is included in the norm's gain
and bias, the activation is ``(y + sin²(y)) / a``, and the division can be included in the
convolution's weights. This leaves five element-wise operations of fourteen.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.helper import make_tensor_value_info

from kokoro_model.errors import ModelBuildError
from kokoro_model.graph import Graph, ModelWriter, attributes_of, other_input

FEATURE_CHANNELS = 512
HARMONIC_CHANNELS = 22
_STYLE_SIZE = 256


@dataclass(frozen=True)
class SplitModel:
    """The three models that replace the whole one.

    A frame is 25 ms, 600 samples. B is the size of a batch, L the number of tokens, T of frames, N
    of the channels of all norms (9216 in Kokoro-82M) and S of the channels with statistics (8448,
    because three blocks share a norm's input).

    Attributes:
        prosody: From `tokens` int64 (1, L), `style` (1, 256) and `speed` (1,) to `features`
            (1, 512, 2T), `harmonics` (1, 22, 120T + 1), `token_frames` int64 (L,), the predicted
            `energy` (2T,), which is the logarithm of a magnitude, and the norms' `gain` and `bias`
            (1, N, 1), which the style determines.
        generator: From `features`, `harmonics`, `gain`, `bias`, `mean` and `variance` (B, S, 1) to
            `audio` (B, 600T).
        generator_exact: The same, but `mean` and `variance` are outputs instead of inputs.
    """

    prosody: onnx.ModelProto
    generator: onnx.ModelProto
    generator_exact: onnx.ModelProto


@dataclass(frozen=True)
class _Branch:
    """Gain and bias of a normalised input, and the activation and convolution that follow."""

    index: int
    gain: str
    bias: str
    slope: NDArray[np.float32]
    """Snake's constants, shape (channels,)."""
    activated: str
    conv: onnx.NodeProto


@dataclass(frozen=True)
class _Norm:
    """One instance norm. Blocks that normalise the same input share it."""

    index: int
    source: str
    epsilon: float
    branches: list[_Branch]


def split(model: onnx.ModelProto) -> SplitModel:
    """Split the float32 graph of Kokoro-82M with the inputs `tokens`, `style` and `speed`.

    The result depends only on `model`.

    Raises:
        ModelBuildError: The structure is not that of Kokoro's graph. The message names the place.
    """
    try:
        cut = _Cut(model)
        return SplitModel(cut.prosody(), cut.generator(exact=False), cut.generator(exact=True))
    except ModelBuildError as error:
        raise ModelBuildError(f"cannot split the graph: {error}") from None


class _Cut:
    """Finds where to cut, and writes the three models."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._model = model
        self._graph = graph = Graph(model.graph)
        self._features = _features(graph)
        self._harmonics = _harmonics(graph)
        self._inverse_stft = _inverse_stft(graph)
        in_generator = graph.reached_from([self._features, self._harmonics])
        self._norms: list[_Norm] = []
        self._branches: list[_Branch] = []
        for node in graph.nodes:
            if node.op_type == "ReduceMean" and node.output[0] in in_generator:
                self._find_norm(node)
        if not self._norms or len({norm.epsilon for norm in self._norms}) != 1:
            raise ModelBuildError("the generator's instance norms are missing or differ in epsilon")

    def prosody(self) -> onnx.ModelProto:
        """Write prosody, see `SplitModel`."""
        (rounded,) = (node for node in self._graph.nodes if node.op_type == "Round")
        durations = self._graph.consumer(rounded.output[0], "Clip").output[0]
        energy = _energy(self._graph, self._features, self._harmonics)
        wanted = [self._features, self._harmonics, durations, energy]
        wanted += [name for branch in self._branches for name in (branch.gain, branch.bias)]
        writer = ModelWriter(self._model)
        for node in self._graph.needed_for(wanted, ()):
            writer.copy(node, {})
        for branch in self._branches:
            k = branch.index
            slope = writer.constant(f"slope_{k}", branch.slope.reshape(1, -1, 1))
            writer.add("Mul", [branch.gain, slope], [f"gain_{k}"])
            writer.add("Mul", [branch.bias, slope], [f"bias_{k}"])
        for name in ("gain", "bias"):
            writer.add("Concat", _numbered(name, self._branches), [name], axis=1)
        writer.add("Identity", [self._features], ["features"])
        writer.add("Identity", [self._harmonics], ["harmonics"])
        flat = writer.constant("flat", [-1], np.int64)
        writer.add("Reshape", [durations, flat], ["durations_flat"])
        writer.add("Cast", ["durations_flat"], ["token_frames"], to=TensorProto.INT64)
        writer.add("Reshape", [energy, flat], ["energy"])
        return writer.model(
            [
                make_tensor_value_info("tokens", TensorProto.INT64, [1, "L"]),
                make_tensor_value_info("style", TensorProto.FLOAT, [1, _STYLE_SIZE]),
                make_tensor_value_info("speed", TensorProto.FLOAT, [1]),
            ],
            [
                *self._described(1, "features", "harmonics", "gain", "bias"),
                make_tensor_value_info("token_frames", TensorProto.INT64, ["L"]),
                make_tensor_value_info("energy", TensorProto.FLOAT, ["2T"]),
            ],
        )

    def generator(self, *, exact: bool) -> onnx.ModelProto:
        """Write a generator, see `SplitModel`."""
        writer = ModelWriter(self._model)
        writer.constant("epsilon", self._norms[0].epsilon)
        writer.constant("time_axis", [2], np.int64)
        sizes = [len(branch.slope) for branch in self._branches]
        writer.constant("branch_channels", sizes, np.int64)
        for name in ("gain", "bias"):
            names = _numbered(name, self._branches)
            writer.add("Split", [name, "branch_channels"], names, axis=1)
        if not exact:
            sizes = [len(norm.branches[0].slope) for norm in self._norms]
            writer.constant("norm_channels", sizes, np.int64)
            writer.add("Add", ["variance", "epsilon"], ["variance_epsilon"])
            writer.add("Sqrt", ["variance_epsilon"], ["deviation"])
            for name in ("mean", "deviation"):
                writer.add("Split", [name, "norm_channels"], _numbered(name, self._norms), axis=1)
        self._write_body(writer, exact=exact)
        self._write_audio(writer)
        outputs = [make_tensor_value_info("audio", TensorProto.FLOAT, ["B", "600T"])]
        inputs = self._described("B", "features", "harmonics", "gain", "bias")
        statistics = self._described("B", "mean", "variance")
        if exact:
            for name in ("mean", "variance"):
                writer.add("Concat", _numbered(name, self._norms), [name], axis=1)
            outputs += statistics
        else:
            inputs += statistics
        return writer.model(inputs, outputs)

    def _find_norm(self, reduce_mean: onnx.NodeProto) -> None:
        """Record the norm that begins with `reduce_mean`, unless that computes its variance."""
        graph = self._graph
        mean = reduce_mean.output[0]
        if graph.consumers(mean, "Sub", "Add")[0].op_type == "Add":
            return
        centred = graph.consumer(mean, "Sub").output[0]
        squared = graph.consumers(centred, "Mul", "Pow", "Div")[0].output[0]
        variance = graph.consumer(squared, "ReduceMean").output[0]
        add_epsilon = graph.consumer(variance, "Add")
        epsilon = graph.constant(other_input(add_epsilon, variance)).item()
        deviation = graph.consumer(add_epsilon.output[0], "Sqrt").output[0]
        normal = graph.consumer(deviation, "Div").output[0]
        branches = []
        for multiply in graph.consumers(normal, "Mul"):
            branches.append(self._branch(normal, multiply))
            self._branches.append(branches[-1])
        self._norms.append(_Norm(len(self._norms), reduce_mean.input[0], epsilon, branches))

    def _branch(self, normal: str, multiply: onnx.NodeProto) -> _Branch:
        graph = self._graph
        add = graph.consumer(multiply.output[0], "Add")
        normed = add.output[0]
        phase = next(
            node for node in graph.consumers(normed, "Mul", "Add") if node.op_type == "Mul"
        )
        slope = graph.constant(other_input(phase, normed)).ravel()
        square = graph.consumer(graph.consumer(phase.output[0], "Sin").output[0], "Pow").output[0]
        divide = graph.consumer(square, "Mul")
        reciprocal = graph.constant(other_input(divide, square)).ravel()
        activated = graph.consumer(divide.output[0], "Add").output[0]
        # In some exports it is 1 / (a + 1e-9), and `a` is small in a few channels.
        if not np.allclose(reciprocal * slope, 1.0, atol=1e-3):
            raise ModelBuildError(f"{activated!r}: not a Snake activation")
        return _Branch(
            index=len(self._branches),
            gain=other_input(multiply, normal),
            bias=other_input(add, multiply.output[0]),
            slope=slope.astype(np.float32),
            activated=activated,
            conv=graph.consumer(activated, "Conv"),
        )

    def _write_body(self, writer: ModelWriter, *, exact: bool) -> None:
        """Write everything from the two cuts to the input of the inverse STFT."""
        renamed = {self._features: "features", self._harmonics: "harmonics"}
        inputs = {*renamed, *(branch.activated for branch in self._branches)}
        wanted = [self._inverse_stft.output[0], *(norm.source for norm in self._norms)]
        norm_of = {norm.source: norm for norm in self._norms}
        branch_of = {branch.conv.output[0]: branch for branch in self._branches}
        for node in self._graph.needed_for(wanted, inputs):
            if (branch := branch_of.get(node.output[0])) is not None:
                weight = self._graph.constant(node.input[1]) / branch.slope[None, :, None]
                name = writer.constant(f"weight_{branch.index}", weight)
                renamed |= {node.input[1]: name, branch.activated: f"activated_{branch.index}"}
            writer.copy(node, renamed)
            if (norm := norm_of.get(node.output[0])) is not None:
                _write_norm(writer, norm, exact=exact)

    def _write_audio(self, writer: ModelWriter) -> None:
        """Write overlap and trimming as in the original: half an STFT frame is cut off either end.

        The original also divides the window's sum out of the first ten remaining samples. They are
        in the silence before the speech, so this is left out.
        """
        attributes = attributes_of(self._inverse_stft)
        (size,), (hop,) = attributes["kernel_shape"], attributes["strides"]
        writer.constant("first_sample", [size // 2], np.int64)
        writer.constant("end_sample", [-(size // 2)], np.int64)
        writer.constant("channel_axis", [1], np.int64)
        writer.constant("overlap", size / hop)
        overlapped = self._inverse_stft.output[0]
        writer.add("Slice", [overlapped, "first_sample", "end_sample", "time_axis"], ["trimmed"])
        writer.add("Squeeze", ["trimmed", "channel_axis"], ["samples"])
        writer.add("Mul", ["samples", "overlap"], ["audio"])

    def _described(self, batch: int | str, *names: str) -> list[onnx.ValueInfoProto]:
        branch_channels = sum(len(branch.slope) for branch in self._branches)
        channels = sum(len(norm.branches[0].slope) for norm in self._norms)
        shapes: dict[str, list[int | str]] = {
            "features": [FEATURE_CHANNELS, "2T"],
            "harmonics": [HARMONIC_CHANNELS, "120T+1"],
            "gain": [branch_channels, 1],
            "bias": [branch_channels, 1],
            "mean": [channels, 1],
            "variance": [channels, 1],
        }
        return [
            make_tensor_value_info(name, TensorProto.FLOAT, [batch, *shapes[name]])
            for name in names
        ]


def _features(graph: Graph) -> str:
    """Return the decoder's output, which the first upsampling reads through a leaky ReLU."""
    for node in graph.nodes:
        if node.op_type == "ConvTranspose" and _in_channels(graph, node) == FEATURE_CHANNELS:
            return str(graph.producer(node.input[0], "LeakyRelu").input[0])
    raise ModelBuildError(f"no ConvTranspose of {FEATURE_CHANNELS} channels")


def _in_channels(graph: Graph, node: onnx.NodeProto) -> int:
    # The decoder has a depthwise one, which is not an upsampling of the generator.
    groups = attributes_of(node).get("group", 1)
    return graph.constant(node.input[1]).shape[0] if groups == 1 else 0


def _harmonics(graph: Graph) -> str:
    """Return magnitude and phase of the harmonic source: the first Concat after the STFT."""
    for stft in graph.nodes:
        if stft.op_type == "STFT":
            behind = graph.reached_from([stft.output[0]])
            for node in graph.nodes:
                if node.op_type == "Concat" and node.output[0] in behind:
                    return str(node.output[0])
    raise ModelBuildError("no STFT of the harmonic source")


def _energy(graph: Graph, features: str, harmonics: str) -> str:
    """Return, of the curves of pitch and energy, the one that the harmonic source does not need."""
    curves = [
        node.output[0]
        for node in graph.needed_for([features, harmonics], ())
        if node.op_type == "Conv"
        and graph.constant(node.input[1]).shape[0] == 1
        and graph.constant(node.input[1]).shape[1] > 1
    ]
    for_harmonics = {name for node in graph.needed_for([harmonics], ()) for name in node.output}
    energies = [name for name in curves if name not in for_harmonics]
    if len(curves) != 2 or len(energies) != 1:
        raise ModelBuildError(f"pitch and energy expected, found {curves}")
    return str(energies[0])


def _inverse_stft(graph: Graph) -> onnx.NodeProto:
    """Return the last ConvTranspose. Its filters are the window times sines and cosines."""
    last: onnx.NodeProto = [node for node in graph.nodes if node.op_type == "ConvTranspose"][-1]
    if graph.constant(last.input[1]).shape[:2] != (HARMONIC_CHANNELS, 1):
        raise ModelBuildError(f"{last.output[0]!r}: not an inverse STFT")
    return last


def _write_norm(writer: ModelWriter, norm: _Norm, *, exact: bool) -> None:
    """Write the norm of `norm.source`, and the activation of each of its branches."""
    x, n = norm.source, norm.index
    if exact:
        writer.add("ReduceMean", [x, "time_axis"], [f"mean_{n}"], keepdims=1)
        writer.add("Sub", [x, f"mean_{n}"], [f"centred_{n}"])
        writer.add("Mul", [f"centred_{n}", f"centred_{n}"], [f"squared_{n}"])
        writer.add("ReduceMean", [f"squared_{n}", "time_axis"], [f"variance_{n}"], keepdims=1)
        writer.add("Add", [f"variance_{n}", "epsilon"], [f"variance_epsilon_{n}"])
        writer.add("Sqrt", [f"variance_epsilon_{n}"], [f"deviation_{n}"])
    for branch in norm.branches:
        k = branch.index
        writer.add("Div", [f"gain_{k}", f"deviation_{n}"], [f"scale_{k}"])
        if exact:
            # Use the centred input. Subtracting the mean from the product would cost precision.
            writer.add("Mul", [f"centred_{n}", f"scale_{k}"], [f"scaled_{k}"])
            writer.add("Add", [f"scaled_{k}", f"bias_{k}"], [f"normed_{k}"])
        else:
            writer.add("Mul", [f"mean_{n}", f"scale_{k}"], [f"scaled_mean_{k}"])
            writer.add("Sub", [f"bias_{k}", f"scaled_mean_{k}"], [f"shift_{k}"])
            writer.add("Mul", [x, f"scale_{k}"], [f"scaled_{k}"])
            writer.add("Add", [f"scaled_{k}", f"shift_{k}"], [f"normed_{k}"])
        writer.add("Sin", [f"normed_{k}"], [f"sine_{k}"])
        writer.add("Mul", [f"sine_{k}", f"sine_{k}"], [f"square_{k}"])
        writer.add("Add", [f"normed_{k}", f"square_{k}"], [f"activated_{k}"])


def _numbered(name: str, of: Sequence[_Branch] | Sequence[_Norm]) -> list[str]:
    return [f"{name}_{one.index}" for one in of]
