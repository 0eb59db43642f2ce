"""Compare Kokoro engines, ours and its peers: time to first sound and speed.

    python -m bench.engine [--rounds 7] [--only NAME …] [--out bench/results/engine.md]

Every engine runs in its own process. Each peer has its own environment, which uv creates on first
use in the user's cache. All engines speak the same texts in the same voice, with the same weights,
the same number of threads and our trimmer. They take turns with each text in each round, so that a
drift of the machine's speed affects all of them alike.
"""

import base64
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from bench import ROOT
from bench.peer_environments import CACHE, environment
from bench.playback import Chunk, duration_s, first_sound_s, underrun_s
from bench.report import argument_parser, document, machine, publish, spread, table

THREADS = 2
OURS = {"window": "ours, windows", "sentence": "ours, whole sentences"}


class Peer(NamedTuple):
    """The packages of a peer, its licence, and a remark on how it is run."""

    requirements: list[str]
    licence: str
    remark: str
    cuts_sentences: bool = False
    """Whether it speaks each phrase of a sentence as if it were a sentence."""

    @property
    def package(self) -> str:
        """The name of the peer's package, without its version."""
        return self.requirements[0].split("==")[0].removesuffix("[cpu]")

    @property
    def version(self) -> str:
        """The version of the peer's package."""
        return self.requirements[0].split("==")[1]


_FASTKOKORO = ["fastkokoro[cpu]==0.7.0", "onnxruntime==1.32.0"], "its package names none"
PEERS = {
    "kokoro-onnx": Peer(
        ["kokoro-onnx==0.6.1", "onnxruntime==1.32.0"],
        "MIT",
        "`create_stream`. It takes up to 510 phonemes at once, so here all three sentences.",
    ),
    "fastkokoro": Peer(
        *_FASTKOKORO,
        "`create_stream` with the strategy `sentence`, its default, on our graph instead of its "
        "own half-precision export. Its operators for AdaIN, which have to be compiled, are off, "
        "as by default.",
    ),
    "fastkokoro-adaptive": Peer(
        *_FASTKOKORO,
        "the same with the strategy `adaptive`, which on a CPU cuts phrases of at most four words.",
        cuts_sentences=True,
    ),
    "kokoro-pi": Peer(
        ["kokoro-pi==1.2.0"],
        "MIT",
        "the variant `float`, made from our graph by its own rewrites and with its compiled "
        "operator. The text is cut as in its server. Its faster variant `int8` is for ARM.",
    ),
}
ONE = "The ferry leaves at half past eight, so please bring your ticket and a warm coat."
THREE = (
    "Thank you for calling the harbor office this morning. "
    f"{ONE} "
    "If the wind gets any stronger, we will send you a message before seven."
)
LENGTHS = (
    "See you tomorrow.",
    "I have put it in your calendar.",
    "The next train to the airport leaves from platform four at noon.",
    "Your parcel was handed to the driver this morning and should be with you before the shops "
    "close tonight.",
    "If you would rather have the meeting on Thursday, I can move it to the afternoon, but then "
    "the larger room is taken and we would have to do without the big projector.",
)


class Take(NamedTuple):
    """The times of one text that was spoken once, in seconds since the engine received it."""

    first_sound_s: float
    total_s: float
    underrun_s: float
    audio_s: float

    @property
    def real_time_factor(self) -> float:
        """Seconds of work for each second of audio."""
        return self.total_s / self.audio_s


class Worker:
    """An engine in its own process; see ``engine_peers``. Use it as a context manager."""

    def __init__(self, name: str, model_dir: Path, files: Path) -> None:
        self._name = name
        python = Path(sys.executable)
        if name in PEERS:
            peer = PEERS[name]
            python = environment(peer.package, peer.requirements)
        script = Path(__file__).with_name("engine_peers.py")
        self._process = subprocess.Popen(
            [python, "-P", "-W", "ignore", script, name, model_dir, files, str(THREADS)],
            env=os.environ | {"PYTHONPATH": str(ROOT / "container")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.onnxruntime = ""

    def __enter__(self) -> Self:
        self.onnxruntime = self._reply()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def speak(self, text: str) -> Take:
        """Let the engine speak ``text``.

        Raises:
            RuntimeError: the process has ended.
        """
        assert self._process.stdin is not None
        print(json.dumps(text), file=self._process.stdin, flush=True)
        chunks = [Chunk.of_pcm(at_s, base64.b64decode(pcm)) for at_s, pcm in self._reply()]
        return Take(
            first_sound_s=first_sound_s(chunks),
            total_s=chunks[-1].at_s,
            underrun_s=underrun_s(chunks),
            audio_s=duration_s(chunks),
        )

    def _reply(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._name}: its process has ended")
        return json.loads(line)


Takes = dict[tuple[str, str], list[Take]]
"""By engine and text, in the order of the rounds."""


def run(rounds: int, peers: list[str]) -> tuple[Takes, dict[str, str]]:
    """Speak everything ``rounds`` times, after a round to warm up.

    Returns:
        The takes, and by engine the version of ONNX Runtime.
    """
    model_dir = built_model()
    files = CACHE / "kokoro" / model_dir.name
    files.mkdir(parents=True, exist_ok=True)
    styles: dict[str, Any] = {
        voice.stem: np.fromfile(voice, "<f4").reshape(510, 1, 256)
        for voice in (model_dir / "voices").glob("*.bin")
    }
    with (files / "voices-v1.0.bin").open("wb") as file:
        np.savez(file, **styles)
    names = [*OURS, *peers]
    takes: Takes = {}
    with ExitStack() as stack:
        workers = {name: stack.enter_context(Worker(name, model_dir, files)) for name in names}
        for number in range(rounds + 1):
            for text in (ONE, THREE, *LENGTHS):
                speakers = list(OURS) if text in LENGTHS else names
                turn = number % len(speakers)
                for name in speakers[turn:] + speakers[:turn]:
                    take = workers[name].speak(text)
                    if number:
                        takes.setdefault((name, text), []).append(take)
            print(f"round {number} of {rounds}", file=sys.stderr)
        return takes, {name: worker.onnxruntime for name, worker in workers.items()}


def built_model() -> Path:
    """Return the model directory, building it if it is missing."""
    command = [sys.executable, "-m", "kokoro_model"]
    done = subprocess.run(
        command, cwd=ROOT / "container", check=True, stdout=subprocess.PIPE, text=True
    )
    return Path(done.stdout.splitlines()[-1])


# -- Report ----------------------------------------------------------------------------------


def ratios(over: list[Take], under: list[Take], value: Callable[[Take], float]) -> list[float]:
    """Return the ratio of ``value`` between two engines in each round."""
    return [value(a) / value(b) for a, b in zip(over, under, strict=True)]


def peers_table(takes: Takes, peers: list[str], text: str) -> str:
    """Return the table of one text: first sound, total, and how much sooner ours is."""
    rows = []
    ours = takes["window", text]
    for name in (*OURS, *peers):
        of = takes[name, text]
        sooner = spread(ratios(of, ours, lambda take: take.first_sound_s))
        rows.append(
            f"{OURS.get(name, name)} | {spread([take.first_sound_s for take in of])} "
            f"| {'' if name == 'window' else f'{sooner} ×'} "
            f"| {spread([take.total_s for take in of])} "
            f"| {statistics.median(take.real_time_factor for take in of):.2f} "
            f"| {max(take.underrun_s for take in of):.2f} | {of[0].audio_s:.1f}"
        )
    return table(
        "engine | first sound, s | ours sooner by | total, s | real-time factor "
        "| underrun, s | audio, s",
        rows,
    )


def lengths_table(takes: Takes) -> str:
    """Return the table of our engine by sentence length, in windows and in whole sentences."""
    rows = []
    for text in sorted([*LENGTHS, ONE], key=len):
        windows, whole = takes["window", text], takes["sentence", text]
        rows.append(
            f"{len(text.split())} | {windows[0].audio_s:.1f} "
            f"| {spread([take.first_sound_s for take in windows])} "
            f"| {spread([take.first_sound_s for take in whole])} "
            f"| {spread([take.total_s for take in windows])} "
            f"| {spread([take.total_s for take in whole])} "
            f"| {spread(ratios(windows, whole, lambda take: take.total_s))} "
            f"| {statistics.median(take.real_time_factor for take in windows):.2f} "
            f"| {max(take.underrun_s for take in windows):.2f}"
        )
    return table(
        "words | audio, s | first sound, s: windows | whole | total, s: windows | whole "
        "| total's ratio | real-time factor | underrun, s",
        rows,
    )


def summary(takes: Takes, peers: list[str], text: str) -> str:
    """Compare ours in words with the earliest peer and with our own whole sentences."""
    ours, whole = takes["window", text], takes["sentence", text]
    longer = statistics.median(ratios(ours, whole, lambda take: take.total_s))
    words = f"The total of windows is {longer:.2f} times that of whole sentences."
    best = min(
        (name for name in peers if not PEERS[name].cuts_sentences),
        key=lambda name: statistics.median(take.first_sound_s for take in takes[name, text]),
        default=None,
    )
    if best is None:
        return words
    sooner = statistics.median(ratios(takes[best, text], ours, lambda take: take.first_sound_s))
    return (
        f"First sound comes {sooner:.1f} times sooner than from {best}, the earliest of the peers "
        f"that speak whole sentences. {words}"
    )


def report(takes: Takes, runtimes: dict[str, str], peers: list[str], rounds: int) -> str:
    """Return the results as Markdown."""
    only = "" if peers == list(PEERS) else f" --only {' '.join(peers)}"
    compared = []
    for title, text in (("One sentence", ONE), ("Three sentences", THREE)):
        compared += [f"## {title}", f"> {text}"]
        compared += [peers_table(takes, peers, text), summary(takes, peers, text)]
    how = [
        f"- **ours** (licence: Apache-2.0), ONNX Runtime {runtimes['window']}: the server's code "
        "from text to PCM, including the scheduler, without the network.",
        *(
            f"- **{name}** ({peer.package} {peer.version}; licence: {peer.licence}), ONNX Runtime "
            f"{runtimes[name]}: {peer.remark}"
            for name, peer in PEERS.items()
            if name in peers
        ),
        "- **Kokoro-FastAPI** was not measured: it is not on PyPI and needs PyTorch and weights in "
        "its own format.",
    ]
    return document(
        "# Kokoro engines, side by side",
        f"`python -m bench.engine --rounds {rounds}{only}`, {date.today()}, {machine()}; {THREADS} "
        "threads each. Each figure is the median (minimum – maximum) of the rounds; ratios are "
        "calculated within a round.",
        "All engines use the same weights, voice (`af_heart`) and texts. Times count from the "
        "text's arrival in the engine's process and include the engine's own pronunciation. First "
        "sound: the first sample that is above −40 dB relative to the loudest, after the same "
        "trimming for all. Total: the last sample. Real-time factor: total divided by the duration "
        "of the trimmed audio with its pauses of 0.3 s after each sentence. Underrun: for how long "
        "playback stops in all, if it starts at first sound; the worst of the rounds.",
        *compared,
        "## Ours, by the length of the sentence",
        lengths_table(takes),
        "## How each was run",
        "\n".join(how),
    )


def main() -> None:
    """Measure, print the report, and write it if `--out` names a file."""
    parser = argument_parser("engine", __doc__)
    parser.add_argument("--rounds", type=int, default=7, help="how often each text is spoken")
    parser.add_argument("--only", nargs="*", choices=PEERS, help="measure only these peers")
    arguments = parser.parse_args()
    peers = list(PEERS) if arguments.only is None else arguments.only
    takes, runtimes = run(arguments.rounds, peers)
    publish(report(takes, runtimes, peers, arguments.rounds), arguments.out)


if __name__ == "__main__":
    main()
