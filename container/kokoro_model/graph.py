"""Navigation in an ONNX graph, and extraction of subgraphs."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike, NDArray
from onnx import helper, numpy_helper

from kokoro_model.errors import ModelBuildError


class Graph:
    """Producers, consumers and constants of a graph, by tensor name."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.nodes = list(graph.node)
        self.constants: dict[str, onnx.TensorProto] = {
            tensor.name: tensor for tensor in graph.initializer
        }
        self._producer = {name: node for node in self.nodes for name in node.output}
        self._consumers: defaultdict[str, list[onnx.NodeProto]] = defaultdict(list)
        for node in self.nodes:
            for name in node.input:
                self._consumers[name].append(node)

    def constant(self, name: str) -> NDArray[Any]:
        """Return the value of the constant `name`.

        Raises:
            ModelBuildError: `name` is not a constant.
        """
        if name not in self.constants:
            raise ModelBuildError(f"{name!r} is not constant")
        return numpy_helper.to_array(self.constants[name])

    def producer(self, name: str, *op_types: str) -> onnx.NodeProto:
        """Return the node that produces `name`.

        Raises:
            ModelBuildError: There is none, or its type is not one of `op_types`.
        """
        node: onnx.NodeProto | None = self._producer.get(name)
        if node is None or node.op_type not in op_types:
            found = "no node" if node is None else node.op_type
            raise ModelBuildError(f"{name!r} comes from {found}, {' or '.join(op_types)} expected")
        return node

    def consumers(self, name: str, *op_types: str) -> list[onnx.NodeProto]:
        """Return the nodes that read `name`, each once, in the graph's order.

        Raises:
            ModelBuildError: There is none, or the type of one is not in `op_types`.
        """
        nodes = list({id(node): node for node in self._consumers[name]}.values())
        found = [node.op_type for node in nodes]
        if not nodes or set(found) - set(op_types):
            raise ModelBuildError(f"{name!r} is read by {found}, {' or '.join(op_types)} expected")
        return nodes

    def consumer(self, name: str, *op_types: str) -> onnx.NodeProto:
        """Return the only node that reads `name`.

        Raises:
            ModelBuildError: There is none, or more than one, or its type is not in `op_types`.
        """
        nodes = self.consumers(name, *op_types)
        if len(nodes) != 1:
            raise ModelBuildError(f"{name!r} is read by {len(nodes)} nodes, one expected")
        return nodes[0]

    def reached_from(self, names: Iterable[str]) -> set[str]:
        """Return `names` and all tensors that depend on one of them."""
        reached = set(names)
        for node in self.nodes:
            if reached.intersection(node.input):
                reached.update(node.output)
        return reached

    def needed_for(self, outputs: Iterable[str], inputs: Collection[str]) -> list[onnx.NodeProto]:
        """Return the nodes, in order, that compute `outputs` from `inputs` and constants."""
        needed = set(outputs) - set(inputs)
        nodes = []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                nodes.append(node)
                needed.update(name for name in node.input if name not in inputs)
        return nodes[::-1]


def other_input(node: onnx.NodeProto, name: str) -> str:
    """Return the input that is not `name` of a node with two inputs."""
    first, second = str(node.input[0]), str(node.input[1])
    return second if first == name else first


def attributes_of(node: onnx.NodeProto) -> dict[str, Any]:
    """Return the attributes of a node, by name."""
    return {item.name: helper.get_attribute_value(item) for item in node.attribute}


class ModelWriter:
    """Collects the nodes and constants of a new model.

    Args:
        source: The model that nodes are copied from.
    """

    def __init__(self, source: onnx.ModelProto) -> None:
        self._source = source
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def add(self, op_type: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        """Add a node of the ONNX operator `op_type`."""
        self._nodes.append(helper.make_node(op_type, inputs, outputs, **attributes))

    def copy(self, node: onnx.NodeProto, renamed: Mapping[str, str]) -> None:
        """Add a copy of `node` with its inputs `renamed`."""
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        del copy.input[:]
        copy.input.extend(renamed.get(name, name) for name in node.input)
        self._nodes.append(copy)

    def constant(self, name: str, value: ArrayLike, dtype: type[np.generic] = np.float32) -> str:
        """Add a constant and return its name."""
        array = np.asarray(value, dtype, order="C")
        self._constants[name] = numpy_helper.from_array(array, name)
        return name

    def model(
        self, inputs: Sequence[onnx.ValueInfoProto], outputs: Sequence[onnx.ValueInfoProto]
    ) -> onnx.ModelProto:
        """Return the model of all added nodes, with the source's constants that they read."""
        read = {name for node in self._nodes for name in node.input}
        constants = {
            tensor.name: tensor for tensor in self._source.graph.initializer if tensor.name in read
        } | self._constants
        content = helper.make_graph(
            self._nodes,
            "kokoro",
            inputs,
            outputs,
            [constants[name] for name in sorted(constants)],
        )
        domains = {node.domain for node in self._nodes}
        imports = [entry for entry in self._source.opset_import if entry.domain in domains]
        return helper.make_model(content, opset_imports=imports, ir_version=self._source.ir_version)
