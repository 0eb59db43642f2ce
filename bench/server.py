"""Measure speaking sessions on the real server: deadlines and windows against a queue.

    python -m bench.server [--rounds 4] [--seconds 120] [--out bench/results/server.md]

The container's process runs with WebSockets and the real model. The modes take turns, so that a
drift of the machine's speed affects both of them alike. The client models playback. The cost of the
work is measured before and after, and `bench.scheduling` simulates the sessions with it.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from websockets.asyncio.client import ClientConnection, connect

from bench import ROOT
from bench.playback import Chunk, duration_s, first_sound_s, underrun_s
from bench.report import argument_parser, document, machine, publish
from bench.scheduling import (
    QUEUE,
    WINDOWS,
    Costs,
    Outcome,
    Spoken,
    Strategy,
    outcomes_table,
    simulate,
)
from bench.turns import POOL, Turn, turns
from kokoro_model.manifest import default_model_dir
from kokoro_voice.audio import Trimmer
from kokoro_voice.onnx_model import Cancellation
from kokoro_voice.synthesizer import Synthesizer
from kokoro_voice.text import SENTENCE_PAUSE_S, Segment
from kokoro_voice.timing import last_sound
from kokoro_voice.voices import Voices
from kokoro_voice.windows import CONTEXT_FRAMES, FRAME_SAMPLES, SpokenFrames

VOICE = "af_heart"
SESSIONS = 4
THREADS = 2
WINDOW_FRAMES = (20, 64, 128)


@dataclass(frozen=True)
class Mode:
    """A server to measure, and the strategy with which it is simulated."""

    strategy: Strategy
    module: str
    settings: dict[str, str]


MODES = [
    Mode(WINDOWS, "kokoro_server", {}),
    Mode(
        QUEUE,
        "bench.first_come",
        {"KOKORO_GRANULARITY": "sentence", "KOKORO_ADMISSION_HEADROOM": "0"},
    ),
]


# -- What work costs -------------------------------------------------------------------------


def measure(model_dir: Path) -> tuple[Costs, dict[str, Spoken]]:
    """Measure what work costs without other load, and how the model speaks the sentences of `POOL`.

    Args:
        model_dir: The model directory, built by `python -m kokoro_model`.
    """
    synthesizer = Synthesizer(model_dir, THREADS)
    engine, cancellation = synthesizer.engine, Cancellation()
    voice = Voices.in_directory(model_dir, VOICE).default
    timed: dict[str, list[tuple[int, float]]] = {"prosody": [], "whole": [], "window": []}
    pronounce_s: list[float] = []
    spoken: dict[str, Spoken] = {}
    for number, sentence in enumerate((POOL[0], *POOL)):
        began_s = time.perf_counter()
        (pronounced,) = synthesizer.pronounce(Segment(sentence, SENTENCE_PAUSE_S), voice).sentences
        phonemes = pronounced.phonemes
        pronounced_s = time.perf_counter()
        prosody = engine.prosody(phonemes, voice, 1.0, cancellation)
        prosody_s = time.perf_counter()
        samples, exact = engine.whole(prosody, cancellation)
        whole_s = time.perf_counter()
        frames = min(WINDOW_FRAMES[number % len(WINDOW_FRAMES)], prosody.frames - CONTEXT_FRAMES)
        engine.window(prosody, exact, CONTEXT_FRAMES, frames, cancellation)
        window_s = time.perf_counter()
        if number == 0:  # the first sentence takes longer than the following ones
            continue
        pronounce_s.append(pronounced_s - began_s)
        timed["prosody"].append((prosody.frames, prosody_s - pronounced_s))
        timed["whole"].append((prosody.frames, whole_s - prosody_s))
        timed["window"].append((frames + CONTEXT_FRAMES, window_s - whole_s))
        trimmer = Trimmer()
        left = len(trimmer.push(samples)) + len(trimmer.end())
        first = round(trimmer.dropped_samples / FRAME_SAMPLES)
        spoken[sentence] = Spoken(
            chars=len(sentence),
            frames=prosody.frames,
            spoken=SpokenFrames.of(prosody.token_frames, prosody.energy, last_sound(phonemes)),
            audible=(first, first + round(left / FRAME_SAMPLES)),
            pause_s=SENTENCE_PAUSE_S,
        )
    costs = {name: _linear(measured) for name, measured in timed.items()}
    return Costs(**costs, pronounce_s=float(np.median(pronounce_s))), spoken


def _linear(measured: list[tuple[int, float]]) -> tuple[float, float]:
    frames, seconds = zip(*measured, strict=True)
    slope, start = np.polyfit(frames, seconds, 1)
    return round(float(start), 4), round(float(slope), 6)


def mean(first: Costs, second: Costs) -> Costs:
    """Return the mean of two measurements, because the speed of a shared machine changes."""

    def linear(name: str) -> tuple[float, float]:
        start, slope = np.mean([getattr(first, name), getattr(second, name)], axis=0)
        return round(float(start), 4), round(float(slope), 6)

    pronounce_s = (first.pronounce_s + second.pronounce_s) / 2
    return Costs(linear("prosody"), linear("whole"), linear("window"), round(pronounce_s, 4))


# -- The real server -------------------------------------------------------------------------


@asynccontextmanager
async def serving(mode: Mode, model_dir: Path) -> AsyncIterator[str]:
    """Run a server in `mode`. The value is its WebSocket's address, once it is ready."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "container")])
    settings = {"KOKORO_MODEL_DIR": str(model_dir), "KOKORO_THREADS": str(THREADS)} | mode.settings
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", mode.module, "serve", "--host", "127.0.0.1", "--port", "0"),
        env=os.environ | {"PYTHONPATH": path} | settings,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        listening = json.loads(await process.stdout.readline())
        address = f"{listening['host']}:{listening['port']}"
        async with httpx.AsyncClient() as client:
            while True:
                if (await client.get(f"http://{address}/ping")).status_code == 200:
                    break
                await asyncio.sleep(0.2)
        yield f"ws://{address}/invocations-bidirectional-stream"
    finally:
        process.terminate()
        await process.wait()


async def run(url: str, seconds: float, seed: int, sessions: int = SESSIONS) -> Outcome:
    """Run sessions whose turns begin within the given seconds."""
    outcome = Outcome()
    until_s = time.monotonic() + seconds
    async with asyncio.TaskGroup() as tasks:
        for number in range(sessions):
            tasks.create_task(_session(url, turns(seed, number), until_s, outcome))
    return outcome


async def _session(url: str, to_come: Iterator[Turn], until_s: float, outcome: Outcome) -> None:
    async with connect(url, max_size=None) as websocket:
        for turn in to_come:
            if time.monotonic() + turn.silence_s > until_s:
                return
            await asyncio.sleep(turn.silence_s)
            began_s = time.monotonic()
            chunks = await _spoken(websocket, turn)
            if chunks is None:
                outcome.refused += 1
                continue
            gap_s = underrun_s(chunks)
            first_s = first_sound_s(chunks)
            audio_s = duration_s(chunks)
            outcome.first_sound_s.append(first_s - began_s)
            outcome.gaps_s.append(gap_s)
            outcome.audio_s += audio_s
            await asyncio.sleep(max(0.0, first_s + audio_s + gap_s - time.monotonic()))


async def _spoken(websocket: ClientConnection, turn: Turn) -> list[Chunk] | None:
    """Send a turn's sentences at their times. Return its audio, or None if it was refused.

    Raises:
        RuntimeError: The server answered with something other than speech or a refusal.
    """

    async def send() -> None:
        for number, sentence in enumerate(turn.sentences):
            await asyncio.sleep(max(0.0, began_s + turn.offsets_s[number] - time.monotonic()))
            await websocket.send(json.dumps({"text": sentence}))

    chunks: list[Chunk] = []
    complete = 0
    began_s = time.monotonic()
    sending = asyncio.create_task(send())
    try:
        async for frame in websocket:
            if isinstance(frame, bytes):
                chunks.append(Chunk.of_pcm(time.monotonic(), frame))
                continue
            event: dict[str, Any] = json.loads(frame)
            complete += event["type"] == "synthesis_complete"
            if complete == len(turn.sentences):
                return chunks
            if event["type"] == "error":
                if event["code"] == "busy" and not chunks:
                    return None
                raise RuntimeError(f"the server answered {event}")
        raise RuntimeError("the server closed the connection")
    finally:
        sending.cancel()


# -- Report ----------------------------------------------------------------------------------


def merged(outcomes: list[Outcome]) -> Outcome:
    """Merge the outcomes of several rounds."""
    return Outcome(
        first_sound_s=[value for one in outcomes for value in one.first_sound_s],
        gaps_s=[value for one in outcomes for value in one.gaps_s],
        refused=sum(one.refused for one in outcomes),
        audio_s=sum(one.audio_s for one in outcomes),
    )


def report(
    costs: Costs, real: dict[str, Outcome], simulated: dict[str, Outcome], command: str
) -> str:
    """Return the results as Markdown."""
    rows = {
        (SESSIONS, f"{name}: {kind}"): outcome
        for name in real
        for kind, outcome in (("real", real[name]), ("simulated", simulated[name]))
    }
    agreement = []
    for name, outcome in real.items():
        for label, percentile in (("median", 50), ("95th", 95)):
            ratio = simulated[name].first_sound(percentile) / outcome.first_sound(percentile)
            agreement.append(f"{name}, {label}: {ratio:.2f}")
    return document(
        "# Speaking sessions on one server",
        f"`{command}`, {date.today()}, {machine()}, {THREADS} threads; "
        f"{SESSIONS} sessions, {len(real[WINDOWS.name].gaps_s)} turns with deadlines and "
        f"{len(real[QUEUE.name].gaps_s)} without. First sound counts from the sending of a "
        "reply's first sentence. A gap is a buffer underrun: playback stops until more audio "
        "arrives.",
        outcomes_table(rows),
        "The simulation uses the cost of the work, measured before and after; this is the mean: "
        f"`{costs}`.",
        f"First sound, simulated divided by real: {'; '.join(agreement)}.",
    )


async def compare(model_dir: Path, rounds: int, seconds: float) -> dict[str, Outcome]:
    """Run all modes in turns, for `rounds` rounds."""
    outcomes: dict[str, list[Outcome]] = {mode.strategy.name: [] for mode in MODES}
    async with serving(MODES[0], model_dir) as first, serving(MODES[1], model_dir) as second:
        for number in range(rounds):
            for mode, url in zip(MODES, (first, second), strict=True):
                outcome = await run(url, seconds, seed=number)
                outcomes[mode.strategy.name].append(outcome)
                print(
                    f"round {number + 1}, {mode.strategy.name}: first sound "
                    f"{outcome.first_sound(50):.2f} s, 95th {outcome.first_sound(95):.2f} s, "
                    f"{outcome.turns_with_gaps} of {len(outcome.gaps_s)} turns with gaps",
                    file=sys.stderr,
                )
    return {name: merged(several) for name, several in outcomes.items()}


def main() -> None:
    """Measure, simulate, print the report, and write it if `--out` names a file."""
    parser = argument_parser("server", __doc__)
    parser.add_argument("--rounds", type=int, default=4, help="how often each mode is run")
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="seconds of a round, for each mode"
    )
    arguments = parser.parse_args()
    rounds, seconds = arguments.rounds, arguments.seconds
    model_dir = default_model_dir("packages")

    def measured() -> tuple[Costs, dict[str, Spoken]]:
        with ProcessPoolExecutor(1) as pool:  # the process's memory is freed with it
            costs, spoken = pool.submit(measure, model_dir).result()
        print(costs, file=sys.stderr)
        return costs, spoken

    before, spoken = measured()
    real = asyncio.run(compare(model_dir, rounds, seconds))
    costs = mean(before, measured()[0])

    def simulated(strategy: Strategy) -> Outcome:
        runs = [
            simulate(strategy, SESSIONS, costs, spoken.__getitem__, run_s=seconds, seed=number)
            for number in range(rounds)
        ]
        return merged(runs)

    command = f"python -m bench.server --rounds {rounds} --seconds {seconds:g}"
    simulations = {mode.strategy.name: simulated(mode.strategy) for mode in MODES}
    publish(report(costs, real, simulations, command), arguments.out)


if __name__ == "__main__":
    main()
