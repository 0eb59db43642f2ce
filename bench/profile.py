"""Where the engine's time goes, and what was tried to make it less.

    python -m bench.profile [--out bench/results/profile.md]

Everything is measured side by side in one process, round after round, on the real model and one
sentence of five seconds. On a machine that does something else, read the ratios.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from bench.publish import publish
from kokoro_server.windows import CONTEXT_FRAMES, FRAME_S, LEAST_FRAMES
from model.manifest import default_model_dir

PHONEMES = "plˈiz kˈɔl mˌi bˈæk təmˈɑɹO mˈɔɹnɪŋ bəfˈɔɹ nˈIn, bəkˈʌz ðə mˈitɪŋ stˈɑɹts ˈɜɹli."
ROUNDS = 5
Tensors = dict[str, NDArray[np.float32]]


def session(
    model: Path, threads: int = 2, *, spinning: bool = False, profile: bool = False
) -> ort.InferenceSession:
    """`model` on the CPU."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spinning else "0")
    # Spinning between runs would slow down what is measured next.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(tempfile.gettempdir()) / "first-sentence-profile")
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run(model: ort.InferenceSession, tensors: Tensors) -> Tensors:
    """The outputs by name; of `tensors` it takes what it has as inputs."""
    names = [output.name for output in model.get_outputs()]
    inputs = {item.name: tensors[item.name] for item in model.get_inputs()}
    return dict(zip(names, model.run(names, inputs), strict=True))


def sentence(model_dir: Path) -> Tensors:
    """All inputs of all graphs, for one sentence."""
    vocabulary = json.loads((model_dir / "vocab.json").read_text("utf-8"))
    tokens = [vocabulary[phoneme] for phoneme in PHONEMES]
    styles = np.fromfile(model_dir / "voices" / "af_heart.bin", "<f4").reshape(510, 256)
    tensors: Tensors = {
        "tokens": np.array([[0, *tokens, 0]], np.int64),
        "style": styles[len(tokens) - 1 : len(tokens)],
        "speed": np.ones(1, np.float32),
    }
    tensors |= run(session(model_dir / "prosody.onnx"), tensors)
    return tensors | run(session(model_dir / "generator-exact.onnx"), tensors)


def window(tensors: Tensors, frames: int) -> Tensors:
    """The beginning of the sentence."""
    return tensors | {
        "features": np.ascontiguousarray(tensors["features"][:, :, : 2 * frames]),
        "harmonics": np.ascontiguousarray(tensors["harmonics"][:, :, : 120 * frames + 1]),
    }


def side_by_side(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The median seconds of each, in `ROUNDS` interleaved rounds after one to warm up."""
    took_s: defaultdict[str, list[float]] = defaultdict(list)
    for number in range(ROUNDS + 1):
        for name, work in works.items():
            began_s = time.perf_counter()
            work()
            if number:
                took_s[name].append(time.perf_counter() - began_s)
    return {name: statistics.median(times) for name, times in took_s.items()}


def operators(model: Path, tensors: Tensors) -> list[tuple[str, float]]:
    """The share of each operator of the time of all, of one thread; the largest first."""
    profiled = session(model, threads=1, profile=True)
    for _ in range(3):
        run(profiled, tensors)
    file = Path(profiled.end_profiling())
    shortest: dict[tuple[str, str], float] = {}
    for event in json.loads(file.read_text()):
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            key = (event["args"]["op_name"], event["name"])
            shortest[key] = min(event["dur"], shortest.get(key, np.inf))
    file.unlink()
    total_us: defaultdict[str, float] = defaultdict(float)
    for (operator, _), took_us in shortest.items():
        total_us[operator] += took_us
    whole_us = sum(total_us.values())
    shares = [(operator, took_us / whole_us) for operator, took_us in total_us.items()]
    return sorted(shares, key=lambda item: -item[1])


def blocks(path: Path, channels: int, taps: int, *, two_dimensional: bool) -> None:
    """Write a graph of four blocks as the generator has them: affine, Snake, convolution.

    Convolutions over two dimensions, one of them of length 1, get ONNX Runtime's blocked layout
    (NCHWc); those over one do not.
    """
    generator = np.random.default_rng(0)
    shape = (channels, channels, *([1] if two_dimensional else []), taps)
    weight = (generator.normal(size=shape) / (channels * taps)).astype(np.float32)
    axes = [1, channels, *([1] if two_dimensional else []), 1]
    constants = [
        numpy_helper.from_array(weight, "weight"),
        numpy_helper.from_array(np.full(axes, 0.9, np.float32), "scale"),
    ]
    nodes = []
    last = "x"
    for k in range(4):
        nodes += [
            helper.make_node("Mul", [last, "scale"], [f"scaled{k}"]),
            helper.make_node("Add", [f"scaled{k}", "scale"], [f"normed{k}"]),
            helper.make_node("Sin", [f"normed{k}"], [f"sine{k}"]),
            helper.make_node("Mul", [f"sine{k}", f"sine{k}"], [f"square{k}"]),
            helper.make_node("Add", [f"normed{k}", f"square{k}"], [f"active{k}"]),
            helper.make_node(
                "Conv",
                [f"active{k}", "weight"],
                [f"y{k}"],
                kernel_shape=[1, taps] if two_dimensional else [taps],
                pads=[0, taps // 2, 0, taps // 2] if two_dimensional else [taps // 2, taps // 2],
            ),
        ]
        last = f"y{k}"
    dimensions = [1, channels, *([1] if two_dimensional else []), "N"]
    graph = helper.make_graph(
        nodes,
        "blocks",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dimensions)],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, dimensions)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    onnx.save(model, path)


def layouts(folder: Path) -> list[str]:
    """Rows of the table of layouts."""
    rows = []
    for channels, taps, samples in ((128, 11, 12_000), (128, 3, 12_000), (256, 7, 2_000)):
        works: dict[str, Callable[[], object]] = {}
        for two in (False, True):
            path = folder / f"{channels}-{taps}-{two}.onnx"
            blocks(path, channels, taps, two_dimensional=two)
            model = session(path)
            shape = (1, channels, *([1] if two else []), samples)
            x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
            works[str(two)] = lambda model=model, x=x: run(model, {"x": x})
        took_s = side_by_side(works)
        ratio = took_s["True"] / took_s["False"]
        rows.append(f"| {channels} channels, {taps} taps | {ratio:.2f} |")
    return rows


def report() -> str:
    """The results as Markdown."""
    model_dir = default_model_dir()
    tensors = sentence(model_dir)
    frames = tensors["features"].shape[2] // 2
    audio_s = frames * FRAME_S
    whole, prosody, exact, given = (
        model_dir / name
        for name in (
            "kokoro-v1.0.fp32.onnx",
            "prosody.onnx",
            "generator-exact.onnx",
            "generator.onnx",
        )
    )
    first = window(tensors, LEAST_FRAMES + 2 * CONTEXT_FRAMES)

    graphs = {"the graph as it is published": session(whole)}
    graphs |= {"prosody": session(prosody), "generator, own statistics": session(exact)}
    graphs["generator, given statistics"] = session(given)
    took_s = side_by_side(
        {name: lambda model=model: run(model, tensors) for name, model in graphs.items()}
    )
    graph_rows = [f"| {name} | {took / audio_s:.3f} |" for name, took in took_s.items()]

    settings = {
        "2 threads": session(given),
        "2 threads, spinning during a run": session(given, spinning=True),
        "1 thread": session(given, threads=1),
        "4 threads": session(given, threads=4),
    }
    took_s = side_by_side(
        {name: lambda model=model: run(model, tensors) for name, model in settings.items()}
    )
    first_s = side_by_side(
        {name: lambda model=model: run(model, first) for name, model in settings.items()}
    )
    setting_rows = [
        f"| {name} | {took / audio_s:.3f} | {first_s[name]:.3f} |" for name, took in took_s.items()
    ]

    matrix = np.random.default_rng(0).normal(size=(2048, 2048)).astype(np.float32)
    product_s = side_by_side({"product": lambda: matrix @ matrix})["product"]

    def table(model: Path) -> str:
        return ", ".join(f"{name} {share:.1%}" for name, share in operators(model, tensors)[:7])

    with tempfile.TemporaryDirectory() as folder:
        layout_rows = layouts(Path(folder))
    return "\n".join(
        [
            "# Where the engine's time goes",
            "",
            f"`python -m bench.profile`, {date.today()}, ONNX Runtime {ort.__version__}, medians "
            f"of {ROUNDS} interleaved rounds, one sentence of "
            f"{audio_s:.1f} s. Not measured on a GPU.",
            "",
            "| graph, 2 threads | seconds of work for a second of audio |",
            "| --- | --- |",
            *graph_rows,
            "",
            "| generator | seconds of work for a second of audio | first window, s |",
            "| --- | --- | --- |",
            *setting_rows,
            "",
            "Operators, one thread, share of the time:",
            "",
            f"- as published: {table(whole)}",
            f"- prosody: {table(prosody)}",
            f"- generator: {table(given)}",
            "",
            f"Matrix products, which convolutions are, run at {2 * 2048**3 / product_s / 1e9:.0f} "
            "GFLOP/s here in NumPy (all its threads).",
            "",
            "| blocks of affine, Snake and convolution | time in the blocked layout (NCHWc) "
            "relative to the plain one |",
            "| --- | --- |",
            *layout_rows,
            "",
        ]
    )


def main() -> None:
    """Measure and publish the report."""
    parser = argparse.ArgumentParser(prog="python -m bench.profile", description=__doc__)
    parser.add_argument("--out", type=Path, help="write the report to this file, too")
    options = parser.parse_args()
    publish(report(), options.out)


if __name__ == "__main__":
    main()
