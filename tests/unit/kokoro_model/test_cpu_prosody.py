"""Prosody for CPUs hears what the STFT hears, its rounding noise included."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from bench.speech_distance import snr_db
from kokoro_model.cpu_prosody import for_cpu
from kokoro_model.errors import ModelBuildError

BINS = 11
SENTENCES = [
    ("af_heart", "plˈiz kˈɔl mˌi bˈæk təmˈɑɹO bəfˈɔɹ nˈIn.", 1.0),
    ("am_michael", "ðə fˈɛɹi lˈivz æt hˈæf pˈæst ˈAt.", 0.65),
    ("hf_alpha", "ðə fˈɛɹi lˈivz æt hˈæf pˈæst ˈAt.", 1.5),
    ("bm_fable", "hɛlˈO ðˈɛɹ.", 1.0),
]


def session(model: onnx.ModelProto | Path) -> onnxruntime.InferenceSession:
    """A session with the server's options: the default ones are slower for this model."""
    content = model if isinstance(model, Path) else model.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


@pytest.fixture(scope="module")
def prosody(model_dir: Path) -> onnxruntime.InferenceSession:
    return session(model_dir / "prosody.onnx")


@pytest.fixture(scope="module")
def prosody_cpu(model_dir: Path) -> onnxruntime.InferenceSession:
    """Prosody for CPUs, with one more output: the frames that the STFT was asked for."""
    model = onnx.load(model_dir / "prosody-cpu.onnx")
    model.graph.output.add(name="asked")
    return session(model)


@pytest.fixture(scope="module")
def generator(model_dir: Path) -> onnxruntime.InferenceSession:
    return session(model_dir / "generator-exact-cpu.onnx")


@pytest.mark.parametrize(("voice", "phonemes", "speed"), SENTENCES)
def test_it_hears_the_same(
    model_dir: Path,
    prosody: onnxruntime.InferenceSession,
    prosody_cpu: onnxruntime.InferenceSession,
    generator: onnxruntime.InferenceSession,
    voice: str,
    phonemes: str,
    speed: float,
) -> None:
    """With other rounding, phases of silent bins change: 9 dB, heard as a rattle."""
    vocabulary = json.loads((model_dir / "vocab.json").read_text("utf-8"))
    tokens = [vocabulary[phoneme] for phoneme in phonemes]
    styles = np.fromfile(model_dir / "voices" / f"{voice}.bin", "<f4").reshape(510, 256)
    inputs = {
        "tokens": np.array([[0, *tokens, 0]], np.int64),
        "style": styles[len(tokens) - 1 : len(tokens)],
        "speed": np.array([speed], np.float32),
    }
    names = [output.name for output in prosody_cpu.get_outputs()]
    found = dict(zip(names, prosody_cpu.run(names, inputs), strict=True))
    asked = found.pop("asked")
    expected = dict(zip(found, prosody.run(list(found), inputs), strict=True))

    phases = np.abs(found["harmonics"] - expected["harmonics"])[0, BINS:]
    assert (phases > 1).sum() == 0
    for name in found.keys() - {"harmonics"}:
        assert np.array_equal(found[name], expected[name])
    # Were silence no longer known, it would be asked for, and this as slow as the other.
    assert len(asked) <= 0.35 * found["harmonics"].shape[2]

    given = [item.name for item in generator.get_inputs()]
    heard, audio = (
        generator.run(["audio"], {name: values[name] for name in given})[0]
        for values in (found, expected)
    )
    assert snr_db(audio, heard) >= 75


def test_what_is_no_prosody_is_not_rewritten(model_dir: Path) -> None:
    """A graph with another structure would be rewritten to one that speaks differently."""
    with pytest.raises(ModelBuildError, match="without an STFT"):
        for_cpu(onnx.load(model_dir / "generator.onnx"))

    model = onnx.load(model_dir / "prosody.onnx")
    (stft,) = (node for node in model.graph.node if node.op_type == "STFT")
    (transposed,) = (node for node in model.graph.node if stft.output[0] in node.input)
    transposed.attribute[0].ints[:] = [0, 1, 2, 3]
    with pytest.raises(ModelBuildError, match="not taken apart as expected"):
        for_cpu(model)

    model = onnx.load(model_dir / "prosody.onnx")
    (tanh,) = (
        node
        for node in model.graph.node
        if node.op_type == "Tanh" and "generator" in node.output[0]
    )
    tanh.op_type = "Sigmoid"
    with pytest.raises(ModelBuildError, match=r"comes from Sigmoid, .* or Tanh expected"):
        for_cpu(model)

    tanh.op_type = "Tanh"
    (add,) = (node for node in model.graph.node if tanh.input[0] in node.output)
    add.input[0] = add.input[1]
    with pytest.raises(ModelBuildError, match="not the sum of a harmonic source and its bias"):
        for_cpu(model)
