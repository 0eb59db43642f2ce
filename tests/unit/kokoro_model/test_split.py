"""The subgraphs together say what the whole graph says, in windows and in batches too."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray

from bench.speech_distance import snr_db
from kokoro_model import build, self_test
from kokoro_model.cpu_generator import for_cpu
from kokoro_model.errors import ModelBuildError
from kokoro_model.split import split

Tensors = dict[str, NDArray[np.float32]]


class Subgraphs:
    """The subgraphs, which can be run by name."""

    def __init__(self, model_dir: Path) -> None:
        for key, name in build.SPLIT_FILES.items():
            setattr(self, key, partial(self._run, onnxruntime.InferenceSession(model_dir / name)))

    @staticmethod
    def _run(session: onnxruntime.InferenceSession, inputs: Tensors) -> Tensors:
        names = [output.name for output in session.get_outputs()]
        wanted = {item.name: inputs[item.name] for item in session.get_inputs()}
        return dict(zip(names, session.run(names, wanted), strict=True))


@pytest.fixture(scope="module")
def subgraphs(model_dir: Path) -> Subgraphs:
    return Subgraphs(model_dir)


@pytest.fixture(scope="module")
def sentence(subgraphs: Subgraphs, model_dir: Path) -> Tensors:
    """All inputs and outputs of the generators for one sentence."""
    voice = model_dir / "voices" / f"{self_test.VOICE}.bin"
    vocabulary = json.loads((model_dir / "vocab.json").read_text("utf-8"))
    prosody = subgraphs.prosody(self_test.model_inputs(self_test.PHONEMES, voice, vocabulary))
    return prosody | subgraphs.generator_exact(prosody)


def window(sentence: Tensors, start: int, end: int) -> Tensors:
    return sentence | {
        "features": sentence["features"][:, :, 2 * start : 2 * end],
        "harmonics": sentence["harmonics"][:, :, 120 * start : 120 * end + 1],
    }


def test_the_parts_equal_the_whole(model_dir: Path) -> None:
    """With a slightly wrong norm or activation the model still speaks, in another voice."""
    built = build.BuiltManifest.model_validate_json((model_dir / "manifest.json").read_text())
    # Measured against the whole graph when the model was built, which fails below 60.
    assert built.self_test["split_snr_db"] >= 100
    assert built.self_test["split_cpu_snr_db"] >= 75


def test_the_energy_is_that_of_the_audio(sentence: Tensors) -> None:
    """Energy shows where speech begins. Pitch, which looks alike in the graph, does not."""
    levels = np.square(sentence["audio"].reshape(-1, 300)).mean(axis=1)
    heard = 10 * np.log10(levels + 1e-10)
    assert sentence["energy"].shape == heard.shape
    assert np.corrcoef(sentence["energy"], heard)[0, 1] >= 0.8


def test_durations_add_up_to_the_audio(sentence: Tensors) -> None:
    """Word times are calculated from the durations."""
    frames = sentence["features"].shape[2] // 2
    assert len(sentence["token_frames"]) == len(self_test.PHONEMES) + 2
    assert sentence["token_frames"].sum() == frames
    assert sentence["token_frames"].min() >= 1
    assert sentence["audio"].shape == (1, 600 * frames)


@pytest.mark.parametrize(("context", "least_db"), [(4, 90.0), (3, 50.0)])
def test_a_window_equals_its_part_of_the_sentence(
    subgraphs: Subgraphs, sentence: Tensors, context: int, least_db: float
) -> None:
    """A receptive field larger than the context would be audible at every join."""
    start, end = 40, 60
    decoded = subgraphs.generator(window(sentence, start - context, end + context))["audio"][0]
    inside = decoded[600 * context : -600 * context]
    assert snr_db(sentence["audio"][0, 600 * start : 600 * end], inside) >= least_db


def test_items_of_a_batch_do_not_mix(subgraphs: Subgraphs, sentence: Tensors) -> None:
    """In a batch of several sessions, each window must use its own statistics and style."""
    windows = [window(sentence, start, start + 24) for start in (20, 60)]
    windows[1] = windows[1] | {
        "gain": 0.9 * sentence["gain"],
        "mean": sentence["mean"] + 0.1,
        "variance": 1.2 * sentence["variance"],
    }
    alone = [subgraphs.generator(one)["audio"][0] for one in windows]
    names = ("features", "harmonics", "gain", "bias", "mean", "variance")
    batch = {name: np.concatenate([one[name] for one in windows]) for name in names}
    together = subgraphs.generator(batch)["audio"]
    assert together.shape == (2, 24 * 600)
    for one, expected in zip(together, alone, strict=True):
        assert snr_db(expected, one) >= 90


@pytest.mark.parametrize(("start", "end"), [(0, 21), (40, 60), (107, 130)])
def test_the_generator_for_cpus_equals_the_other(
    subgraphs: Subgraphs, sentence: Tensors, start: int, end: int
) -> None:
    """Signals are padded to whole tiles. The padding must not be audible at the ends."""
    for name in ("generator", "generator_exact"):
        expected = getattr(subgraphs, name)(window(sentence, start, end))
        found = getattr(subgraphs, f"{name}_cpu")(window(sentence, start, end))
        assert snr_db(expected["audio"], found["audio"]) >= 75
        assert snr_db(expected["audio"][:, -600:], found["audio"][:, -600:]) >= 60
        for statistics in expected.keys() - {"audio"}:
            assert snr_db(expected[statistics], found[statistics]) >= 75


def test_the_statistics_of_a_batch_do_not_mix(subgraphs: Subgraphs, sentence: Tensors) -> None:
    """Means are over phases and time. A mean over sentences, too, shows only in a batch."""
    windows = [window(sentence, start, start + 24) for start in (20, 60)]
    names = ("features", "harmonics", "gain", "bias")
    batch = {name: np.concatenate([one[name] for one in windows]) for name in names}
    together = subgraphs.generator_exact_cpu(batch)
    for index, one in enumerate(windows):
        alone = subgraphs.generator_exact_cpu(one)
        for name, expected in alone.items():
            assert snr_db(expected[0], together[name][index]) >= 75


def test_what_is_no_generator_is_not_rewritten_for_cpus(model_dir: Path) -> None:
    """Weights are scaled for Snake's output, so they would be wrong after anything else."""

    def generator() -> tuple[onnx.ModelProto, onnx.NodeProto]:
        model = onnx.load(model_dir / "generator.onnx")
        return model, next(node for node in model.graph.node if node.input[0] == "activated_0")

    model, convolution = generator()
    convolution.input[0] = "normed_0"
    with pytest.raises(ModelBuildError, match="'activated_0' is read by"):
        for_cpu(model)
    model, convolution = generator()
    another = model.graph.node.add()
    another.CopyFrom(convolution)
    another.input[0], another.output[0] = "normed_0", "another"
    with pytest.raises(ModelBuildError, match="'normed_0' is read by a convolution"):
        for_cpu(model)
    model, convolution = generator()
    next(item for item in convolution.attribute if item.name == "strides").ints[0] = 2
    with pytest.raises(ModelBuildError, match="cannot be written as a fast one"):
        for_cpu(model)


def test_another_model_is_refused(model_dir: Path) -> None:
    """A graph that only looks like Kokoro's must not become a generator that mumbles."""
    model = onnx.load(model_dir / "prosody.onnx")
    with pytest.raises(ModelBuildError, match="cannot split the graph: no ConvTranspose of 512"):
        split(model)


def test_names_do_not_matter(model_dir: Path) -> None:
    """Another export of the same model uses other names for nodes and tensors."""
    model = onnx.load(model_dir / "kokoro-v1.0.fp32.onnx")
    expected = split(model)
    kept = {value.name for value in [*model.graph.input, *model.graph.output]} | {""}

    def other(name: str) -> str:
        return name if name in kept else f"t{abs(hash(name))}"

    for node in model.graph.node:
        node.name = ""
        for names in (node.input, node.output):
            names[:] = [other(name) for name in names]
    for tensor in model.graph.initializer:
        tensor.name = other(tensor.name)
    found = split(model)
    for part in ("prosody", "generator", "generator_exact"):
        operators = [node.op_type for node in getattr(expected, part).graph.node]
        assert [node.op_type for node in getattr(found, part).graph.node] == operators
