"""Measure the engine on a GPU: latency, speed and number of sessions, in at most ten minutes.

    python -m bench.gpu [--providers cuda cuda-graphs …] [--small] [--out bench/results/gpu.md]

It needs an environment with ``container/requirements-gpu.txt`` and, to build the model,
``container/kokoro_model/requirements.txt``. With ``--providers cpu --small`` it runs anywhere. That
shows only that it works.
"""

import asyncio
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple, get_args

import numpy as np
import onnxruntime as ort

from bench import server
from bench.engine import LENGTHS, ONE, THREE, built_model
from bench.playback import Chunk, duration_s, first_sound_s
from bench.report import argument_parser, document, publish, spread, table
from bench.scheduling import WINDOWS
from kokoro_server.engine_queue import EngineQueue
from kokoro_server.messages import Granularity
from kokoro_server.playback import Listener
from kokoro_server.scheduler import Scheduler
from kokoro_server.synthesis import Speech
from kokoro_server.utterance import SpeechRequest, Utterance
from kokoro_voice.engine import Engine, Prosody, Window, generator_inputs
from kokoro_voice.onnx_model import Cancellation, ExecutionProvider, OnnxModel, Tensors
from kokoro_voice.synthesizer import Synthesizer
from kokoro_voice.text import Segment
from kokoro_voice.voices import Voice, Voices
from kokoro_voice.windows import FRAME_S

THREADS = 2
SEED = 5
CUDA_GRAPHS = "cuda-graphs"
"""The engine on `cuda` with captured windows. The server has no setting for it."""


class Sizes(NamedTuple):
    """How much is measured: rounds, texts, batch sizes, lengths and sessions."""

    rounds: int = 10
    texts: tuple[str, ...] = (*LENGTHS, ONE, THREE)
    batches: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    windows_frames: tuple[int, ...] = (24, 56, 184)
    """With the four frames of context on each side, these are multiples of 16."""
    sentences_frames: tuple[int, ...] = (60, 90, 120, 150, 180)
    sessions: tuple[int, ...] = (8, 32, 64, 128)
    sessions_s: float = 30.0


SMALL = Sizes(1, LENGTHS[:2], (1, 2), (24,), (60, 90), (1, 2), 10.0)


# -- One call --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Binding:
    """The inputs and outputs for one set of shapes, at fixed addresses."""

    number: int
    inputs: dict[str, ort.OrtValue]
    io: ort.IOBinding


class CapturedModel(OnnxModel):
    """A model that keeps its inputs and outputs on the device, one set for each input shape.

    CUDA graphs need that: the first run with a shape is captured, and the next runs replay it, so
    that the CPU does not have to launch each kernel.
    https://onnxruntime.ai/docs/execution-providers/CUDA-ExecutionProvider.html#using-cuda-graphs-preview
    There must be few shapes, because none is ever released. It has not run on a GPU yet.

    Args:
        path: The ONNX file. All of the model must run on the device.
        threads: See `OnnxModel`.
        device: `cuda`; or `cpu`, where it saves nothing but can be tested.
    """

    def __init__(self, path: Path, threads: int, device: ExecutionProvider) -> None:
        super().__init__(
            path, threads, device, {"enable_cuda_graph": "1"} if device == "cuda" else {}
        )
        self._device = device
        self._bindings: dict[tuple[tuple[int, ...], ...], _Binding] = {}

    def run(self, inputs: Tensors, cancellation: Cancellation) -> Tensors:
        """Run the model, see `OnnxModel.run`."""
        shapes = tuple(inputs[name].shape for name in sorted(inputs))
        binding = self._bindings.get(shapes)
        if binding is None:
            binding = self._bindings[shapes] = self._bound(inputs, len(self._bindings))
        for name, value in inputs.items():
            binding.inputs[name].update_inplace(value)
        cancellation.options.add_run_config_entry("gpu_graph_id", str(binding.number))
        self.session.run_with_iobinding(binding.io, cancellation.options)
        outputs = (output.name for output in self.session.get_outputs())
        return dict(zip(outputs, binding.io.copy_outputs_to_cpu(), strict=True))

    def _bound(self, inputs: Tensors, number: int) -> _Binding:
        io = self.session.io_binding()
        values = {
            name: ort.OrtValue.ortvalue_from_numpy(value, self._device, 0)
            for name, value in inputs.items()
        }
        for name, value in values.items():
            io.bind_ortvalue_input(name, value)
        # This run is not captured (-1). It shows the shapes of the outputs.
        for output in self.session.get_outputs():
            io.bind_output(output.name, self._device)
        options = ort.RunOptions()
        options.add_run_config_entry("gpu_graph_id", "-1")
        self.session.run_with_iobinding(io, options)
        shapes = [output.shape() for output in io.get_outputs()]
        io.clear_binding_outputs()
        for output, shape in zip(self.session.get_outputs(), shapes, strict=True):
            room = ort.OrtValue.ortvalue_from_shape_and_type(shape, np.float32, self._device, 0)
            io.bind_ortvalue_output(output.name, room)
        return _Binding(number, values, io)


def times_ms(call: Callable[[], object], rounds: int) -> list[float]:
    """Return how long each call takes in milliseconds, after two calls to warm up."""
    times = []
    for _ in range(2 + rounds):
        started_s = time.monotonic()
        call()
        times.append(1000 * (time.monotonic() - started_s))
    return times[2:]


def subgraphs_line(engine: Engine, phonemes: str, voice: Voice, sizes: Sizes) -> str:
    """Measure the two subgraphs of the model, each on a whole sentence."""
    cancellation = Cancellation()
    prosody = engine.prosody(phonemes, voice, 1.0, cancellation)
    audio_s = prosody.frames * FRAME_S
    prosody_ms = times_ms(lambda: engine.prosody(phonemes, voice, 1.0, cancellation), sizes.rounds)
    whole_ms = times_ms(lambda: engine.whole(prosody, cancellation), sizes.rounds)
    return (
        f"A sentence of {audio_s:.1f} s: prosody {spread(prosody_ms)} ms, generator "
        f"{spread(whole_ms)} ms."
    )


def batches_table(engine: Engine, prosody: Prosody, sizes: Sizes) -> str:
    """Measure the generator on batches of windows of the same length."""
    rows = []
    _, exact = engine.whole(prosody, Cancellation())
    for frames in sizes.windows_frames:
        for batch in sizes.batches:
            windows = [Window(prosody, exact, 8, 8 + frames)] * batch
            taken_ms = times_ms(partial(engine.windows, windows, Cancellation()), sizes.rounds)
            speed = 1000 * batch * frames * FRAME_S / statistics.median(taken_ms)
            rows.append(f"{frames} | {batch} | {spread(taken_ms)} | {speed:.0f}")
    return table("frames of a window | windows in a run | ms | seconds of audio in a second", rows)


def searches_table(model_dir: Path, prosody: Prosody, sizes: Sizes, on_gpu: bool) -> str:
    """Measure what the search for convolution algorithms costs with alternating lengths."""
    rows = []
    for search in ("EXHAUSTIVE", "HEURISTIC", "DEFAULT") if on_gpu else ("(CPU)",):
        provider = ("CUDAExecutionProvider", {"cudnn_conv_algo_search": search})
        session = ort.InferenceSession(
            model_dir / f"generator-exact{'' if on_gpu else '-cpu'}.onnx",
            providers=[provider if on_gpu else "CPUExecutionProvider"],
        )
        taken_ms: list[float] = []
        for _ in range(1 + sizes.rounds):
            for frames in sizes.sentences_frames:
                inputs = generator_inputs(prosody, 0, frames)
                started_s = time.monotonic()
                session.run(None, inputs)
                taken_ms.append(1000 * (time.monotonic() - started_s))
        first = len(sizes.sentences_frames)
        rows.append(f"{search} | {spread(taken_ms[:first])} | {spread(taken_ms[first:])}")
    return table("cudnn_conv_algo_search | each length for the first time, ms | again, ms", rows)


# -- Speech ----------------------------------------------------------------------------------


async def texts_table(speech: Speech, voice: Voice, sizes: Sizes) -> str:
    """Measure first sound and total for one listener, with texts of several lengths."""
    rows = []
    for text in sorted(sizes.texts, key=len):
        first_ms: dict[Granularity, list[float]] = {"window": [], "sentence": []}
        total_ms: dict[Granularity, list[float]] = {"window": [], "sentence": []}
        audio_s = 0.0
        for number in range(2 + sizes.rounds):
            for granularity in first_ms:
                started_s = time.monotonic()
                request = SpeechRequest("", text, voice, granularity=granularity)
                utterance = Utterance(request, Listener(), started_s)
                utterance.begin(started_s)
                chunks = [
                    Chunk.of_pcm(time.monotonic(), chunk.pcm)
                    async for chunk in speech.speak(utterance)
                ]
                audio_s = duration_s(chunks)
                if number >= 2:
                    first_ms[granularity].append(1000 * (first_sound_s(chunks) - started_s))
                    total_ms[granularity].append(1000 * (chunks[-1].at_s - started_s))
        rows.append(
            f"{len(text.split())} | {audio_s:.1f} "
            f"| {spread(first_ms['window'])} | {spread(first_ms['sentence'])} "
            f"| {spread(total_ms['window'])} | {spread(total_ms['sentence'])} "
            f"| {statistics.median(total_ms['window']) / 1000 / audio_s:.3f}"
        )
    return table(
        "words | audio, s | first sound, ms: windows | whole sentences | total, ms: windows "
        "| whole sentences | real-time factor",
        rows,
    )


async def sessions_table(model_dir: Path, provider: ExecutionProvider, sizes: Sizes) -> str:
    """Measure the server with more and more sessions, until one has an underrun or is refused."""
    rows = []
    settings: dict[str, str] = {"KOKORO_EXECUTION_PROVIDER": provider}
    async with server.serving(server.Mode(WINDOWS, "kokoro_server", settings), model_dir) as url:
        for sessions in sizes.sessions:
            started_s = time.monotonic()
            heard = await server.run(url, sizes.sessions_s, SEED, sessions)
            speed = heard.audio_s / (time.monotonic() - started_s)
            rows.append(
                f"{sessions} | {len(heard.gaps_s)} | {1000 * heard.first_sound(50):.0f} "
                f"| {1000 * heard.first_sound(95):.0f} | {heard.turns_with_gaps} "
                f"| {heard.refused} | {speed:.1f}"
            )
            if heard.turns_with_gaps or heard.refused:
                break
    return table(
        "sessions | replies | first sound, ms: median | 95th percentile | replies with underruns "
        "| refused | seconds of audio in a second",
        rows,
    )


# -- Report ----------------------------------------------------------------------------------


async def measured(provider: str, sizes: Sizes) -> list[str]:
    """Measure everything with one execution provider, or with captured windows, as Markdown."""
    model_dir = built_model()
    voice = Voices.in_directory(model_dir, "af_heart").default
    device: ExecutionProvider = "cpu" if provider == "cpu" else "cuda"
    synthesizer = Synthesizer(model_dir, THREADS, device)
    engine = synthesizer.engine
    if provider == CUDA_GRAPHS:
        engine.generator = CapturedModel(model_dir / "generator.onnx", THREADS, device)
    (pronounced,) = synthesizer.pronounce(Segment(LENGTHS[-1], 0.0), voice).sentences
    phonemes = pronounced.phonemes
    prosody = engine.prosody(phonemes, voice, 1.0, Cancellation())
    paragraphs = [
        f"## {provider}",
        subgraphs_line(engine, phonemes, voice, sizes),
        "The generator, with several windows in one run:",
        batches_table(engine, prosody, sizes),
    ]
    if provider != CUDA_GRAPHS:
        searches = searches_table(model_dir, prosody, sizes, provider == "cuda")
        paragraphs += ["Sentences of alternating lengths:", searches]
    speech = Speech(synthesizer, EngineQueue(Scheduler()))
    await speech.warm_up(voice, "window")
    paragraphs += ["One listener:", await texts_table(speech, voice, sizes)]
    await speech.close()
    if provider == CUDA_GRAPHS:
        return paragraphs
    sessions = await sessions_table(model_dir, device, sizes)
    return [*paragraphs, "Sessions in which caller and agent speak in turns:", sessions]


def gpu() -> str:
    """Return the GPU's name, memory and driver, or a text that says there is none."""
    if shutil.which("nvidia-smi") is None:
        return "**not measured on a GPU**"
    command = [
        "nvidia-smi",
        "--query-gpu=name,memory.total,driver_version",
        "--format=csv,noheader",
    ]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def main() -> None:
    """Measure, print the report, and write it if `--out` names a file."""
    parser = argument_parser("gpu", __doc__)
    parser.add_argument(
        "--providers",
        nargs="+",
        choices=[*get_args(ExecutionProvider), CUDA_GRAPHS],
        default=["cuda", CUDA_GRAPHS],
        help="the execution providers to measure; cuda-graphs is cuda with captured windows",
    )
    parser.add_argument("--small", action="store_true", help="a short run, to see that it works")
    arguments = parser.parse_args()
    paragraphs = []
    for provider in arguments.providers:
        print(f"{provider}: measuring", file=sys.stderr)
        paragraphs += asyncio.run(measured(provider, SMALL if arguments.small else Sizes()))
    report = document(
        "# The engine on a GPU",
        f"`python -m bench.gpu --providers {' '.join(arguments.providers)}"
        f"{' --small' if arguments.small else ''}`, {date.today()}, {gpu()}, ONNX Runtime "
        f"{ort.__version__}. Each figure is the median (minimum – maximum) of the rounds.",
        *paragraphs,
    )
    publish(report, arguments.out)


if __name__ == "__main__":
    main()
