"""Measure where the engine's time goes, and compare settings that might reduce it.

    python -m bench.profile [--out bench/results/profile.md]

All variants are measured in one process, in interleaved rounds, with the real model and one
sentence of five seconds. On a machine that is busy with other work, only the ratios are meaningful.
"""

import json
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from bench.report import argument_parser, document, publish, table
from kokoro_model.manifest import default_model_dir
from kokoro_model.self_test import model_inputs
from kokoro_voice.decoding import Decoding
from kokoro_voice.windows import FRAME_S, SpokenFrames

PHONEMES = "plˈiz kˈɔl mˌi bˈæk təmˈɑɹO mˈɔɹnɪŋ bəfˈɔɹ nˈIn, bəkˈʌz ðə mˈitɪŋ stˈɑɹts ˈɜɹli."
ROUNDS = 5
Tensors = dict[str, NDArray[np.float32]]


def session(
    model: Path,
    threads: int = 2,
    *,
    blocked_layout: bool = False,
    spinning: bool = False,
    profile: bool = False,
) -> ort.InferenceSession:
    """Return a session that runs `model` on the CPU."""
    options = ort.SessionOptions()
    if not blocked_layout:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "1" if spinning else "0")
    # Spinning between runs would slow down the next measurement.
    options.add_session_config_entry("session.force_spinning_stop", "1")
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(tempfile.gettempdir()) / "first-sentence-profile")
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run(model: ort.InferenceSession, tensors: Tensors) -> Tensors:
    """Run the model and return its outputs by name. It takes its inputs from `tensors` by name."""
    names = [output.name for output in model.get_outputs()]
    inputs = {item.name: tensors[item.name] for item in model.get_inputs()}
    return dict(zip(names, model.run(names, inputs), strict=True))


def sentence(model_dir: Path) -> Tensors:
    """Return all inputs of all graphs for one sentence."""
    vocabulary = json.loads((model_dir / "vocab.json").read_text("utf-8"))
    tensors = model_inputs(PHONEMES, model_dir / "voices" / "af_heart.bin", vocabulary)
    tensors |= run(session(model_dir / "prosody.onnx"), tensors)
    return tensors | run(session(model_dir / "generator-exact.onnx"), tensors)


def window(tensors: Tensors, frames: int) -> Tensors:
    """Return the inputs for the first `frames` frames of the sentence."""
    return tensors | {
        "features": np.ascontiguousarray(tensors["features"][:, :, : 2 * frames]),
        "harmonics": np.ascontiguousarray(tensors["harmonics"][:, :, : 120 * frames + 1]),
    }


def first_frames(tensors: Tensors) -> int:
    """Return how many frames the server decodes first, including their context."""
    token_frames = tensors["token_frames"].astype(np.int64)
    spoken = SpokenFrames.of(token_frames, tensors["energy"], last_sound=len(PHONEMES) - 2)
    first = Decoding(int(token_frames.sum()), spoken, windowed=True).next()
    assert first is not None
    return first.work_frames


def side_by_side(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median seconds of each work, in `ROUNDS` interleaved rounds after a warm-up."""
    took_s: defaultdict[str, list[float]] = defaultdict(list)
    for number in range(ROUNDS + 1):
        for name, work in works.items():
            began_s = time.perf_counter()
            work()
            if number:
                took_s[name].append(time.perf_counter() - began_s)
    return {name: statistics.median(times) for name, times in took_s.items()}


def operators(model: Path, tensors: Tensors) -> list[tuple[str, float]]:
    """Return each operator's share of the total time with one thread, the largest first."""
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


def graphs_table(model_dir: Path, tensors: Tensors, audio_s: float) -> str:
    """Measure every graph on the whole sentence."""
    graphs = {
        "the graph as it is published": "kokoro-v1.0.fp32.onnx",
        "prosody as cut out": "prosody.onnx",
        "prosody for CPUs": "prosody-cpu.onnx",
        "generator as cut out, given statistics": "generator.onnx",
        "generator for CPUs, given statistics": "generator-cpu.onnx",
        "generator for CPUs, own statistics": "generator-exact-cpu.onnx",
    }
    sessions = {name: session(model_dir / file) for name, file in graphs.items()}
    took_s = side_by_side({name: partial(run, model, tensors) for name, model in sessions.items()})
    return table(
        "graph, 2 threads | seconds of work for a second of audio",
        [f"{name} | {took / audio_s:.3f}" for name, took in took_s.items()],
    )


def settings_table(model_dir: Path, tensors: Tensors, audio_s: float) -> str:
    """Measure the generator with several settings, on the sentence and on its first window."""
    first = window(tensors, first_frames(tensors))
    plain, for_cpu = model_dir / "generator.onnx", model_dir / "generator-cpu.onnx"
    settings = {
        "as cut out, 2 threads": session(plain),
        "as cut out, 1 thread": session(plain, threads=1),
        "for CPUs, 2 threads": session(for_cpu),
        "for CPUs, 2 threads, spinning during a run": session(for_cpu, spinning=True),
        "for CPUs, 2 threads, blocked layout (NCHWc)": session(for_cpu, blocked_layout=True),
        "for CPUs, 1 thread": session(for_cpu, threads=1),
        "for CPUs, 4 threads": session(for_cpu, threads=4),
    }
    took_s, first_s = (
        side_by_side({name: partial(run, model, inputs) for name, model in settings.items()})
        for inputs in (tensors, first)
    )
    return table(
        "generator | seconds of work for a second of audio | first window, s",
        [f"{name} | {took / audio_s:.3f} | {first_s[name]:.3f}" for name, took in took_s.items()],
    )


def report() -> str:
    """Measure, and return the results as Markdown."""
    model_dir = default_model_dir()
    tensors = sentence(model_dir)
    audio_s = tensors["features"].shape[2] // 2 * FRAME_S
    graphs = graphs_table(model_dir, tensors, audio_s)
    settings = settings_table(model_dir, tensors, audio_s)
    matrix = np.random.default_rng(0).normal(size=(2048, 2048)).astype(np.float32)
    product_s = side_by_side({"product": lambda: matrix @ matrix})["product"]
    profiled = {
        "as published": "kokoro-v1.0.fp32.onnx",
        "prosody as cut out": "prosody.onnx",
        "prosody for CPUs": "prosody-cpu.onnx",
        "generator as cut out": "generator.onnx",
        "generator for CPUs": "generator-cpu.onnx",
    }
    shares = {name: operators(model_dir / file, tensors)[:7] for name, file in profiled.items()}
    return document(
        "# Where the engine's time goes",
        f"`python -m bench.profile`, {date.today()}, ONNX Runtime {ort.__version__}. The figures "
        f"are medians of {ROUNDS} interleaved rounds with one sentence of {audio_s:.1f} s. Not "
        "measured on a GPU.",
        graphs,
        settings,
        "Each operator's share of the time, with one thread:",
        "\n".join(
            f"- {name}: {', '.join(f'{operator} {share:.1%}' for operator, share in largest)}"
            for name, largest in shares.items()
        ),
        "For comparison, since convolutions are matrix products: NumPy, with all its threads, "
        f"multiplies matrices at {2 * 2048**3 / product_s / 1e9:.0f} GFLOP/s here.",
    )


def main() -> None:
    """Measure, print the report, and write it if `--out` names a file."""
    arguments = argument_parser("profile", __doc__).parse_args()
    publish(report(), arguments.out)


if __name__ == "__main__":
    main()
