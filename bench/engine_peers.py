"""One Kokoro engine, driven in its own environment by ``bench.engine``.

    python engine_peers.py NAME MODEL_DIR FILES_DIR THREADS

A peer's package is imported only when its name is asked for; of the project it imports the
trimmer and, for ``window`` and ``sentence``, the server's own way from text to PCM. Every line of
its output is JSON: when it is warm, the version of ONNX Runtime; then, for each line of standard
input, a string to speak, the list of ``[at_s, PCM in base64]``, in seconds since the line came.
"""

import asyncio
import base64
import importlib.metadata
import json
import os
import shutil
import sys
import time
from collections.abc import AsyncGenerator, Callable
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from kokoro_server.codecs import to_pcm
from kokoro_voice.audio import Trimmer, silence

VOICE = "af_heart"
VOICES_FILE = "voices-v1.0.bin"
PAUSE_S = 0.3
"""After each sentence of a peer, as the server does it."""

Samples = npt.NDArray[np.float32]
Speak = Callable[[str], AsyncGenerator[Samples]]
"""Text to its audio, chunk by chunk, with the model's silence around each."""


def whole_graph(model_dir: Path) -> Path:
    """Return the graph from which ours are cut."""
    return model_dir / "kokoro-v1.0.fp32.onnx"


def kokoro_onnx(model_dir: Path, files: Path, threads: int) -> Speak:
    """kokoro-onnx, its own trimming off. It takes 510 phonemes at once, whatever ends in them."""
    import onnxruntime
    from kokoro_onnx import Kokoro

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        whole_graph(model_dir), options, providers=["CPUExecutionProvider"]
    )
    engine = Kokoro.from_session(session, str(files / VOICES_FILE))

    async def speak(text: str) -> AsyncGenerator[Samples]:
        async for samples, _ in engine.create_stream(text, VOICE, lang="en-us", trim=False):
            yield samples

    return speak


def kokoro_pi(model_dir: Path, files: Path, threads: int) -> Speak:
    """kokoro-pi, the float graph it makes of ours, the chunks its server streams, untrimmed."""
    import onnx
    from kokoro_pi import graph, paths
    from kokoro_pi.server import Engine, split_for_streaming

    if not (files / "models.json").exists():
        library = paths.prebuilt_library()
        if library is None:
            raise SystemExit("kokoro-pi: no compiled operators come with it for this machine")
        shutil.copyfile(library, files / paths.LIBRARY)
        fused, counts = graph.optimise(onnx.load(whole_graph(model_dir)))
        print(f"kokoro-pi: {counts}", file=sys.stderr)
        onnx.save(fused, files / "fused.onnx")
        variant = {"model": "fused.onnx", "custom_ops": [paths.LIBRARY], "backend": "float-fused"}
        (files / "models.json").write_text(json.dumps({"variants": {"float": variant}}))
    engine = Engine(files, variant="float", threads=threads, voice=VOICE)

    async def speak(text: str) -> AsyncGenerator[Samples]:
        for chunk in split_for_streaming(text):
            yield engine.synthesise(chunk, trim=False)

    return speak


def fastkokoro(strategy: str, model_dir: Path, files: Path, threads: int) -> Speak:
    """fastkokoro, untrimmed, its chunks cut as ``strategy`` says."""
    os.environ |= {
        "FASTKOKORO_MODEL_PATH": str(whole_graph(model_dir)),
        "FASTKOKORO_VOICES_PATH": str(files / VOICES_FILE),
        "FASTKOKORO_ONNX_INTRA_OP_NUM_THREADS": str(threads),
        "FASTKOKORO_STREAM_STRATEGY": strategy,
        # A chunk in one frame, not in frames of 0.2 s that come all at once.
        "FASTKOKORO_STREAM_AUDIO_FRAME_MS": "60000",
        # Its trimming has no switch; these keep all there is.
        "FASTKOKORO_RUNTIME_TAIL_TRIM_MS": "0",
        "FASTKOKORO_RUNTIME_PART_TRIM_PADDING_MS": "60000",
    }
    from fastkokoro import FastKokoro

    engine = FastKokoro()

    async def speak(text: str) -> AsyncGenerator[Samples]:
        engine._phonemize_cache.clear()  # the same text comes every round
        async for pcm in engine.create_stream(text, voice=VOICE, lang="en-us"):
            yield np.frombuffer(pcm, "<i2") / np.float32(32767)

    return speak


PEERS: dict[str, Callable[[Path, Path, int], Speak]] = {
    "kokoro-onnx": kokoro_onnx,
    "kokoro-pi": kokoro_pi,
    "fastkokoro": partial(fastkokoro, "sentence"),
    "fastkokoro-adaptive": partial(fastkokoro, "adaptive"),
}


class Peer:
    """A peer whose chunks get our trimming, and a pause behind each."""

    def __init__(self, speak: Speak, pause_s: float) -> None:
        self._speak = speak
        self._pause = silence(pause_s)

    async def pcm(self, text: str) -> AsyncGenerator[bytes]:
        """Speak ``text``."""
        async for samples in self._speak(text):
            trimmer = Trimmer()
            yield to_pcm(np.concatenate([trimmer.push(samples), trimmer.end(), self._pause]))


class Ours:
    """The server's way from text to PCM, without the server around it."""

    def __init__(self, model_dir: Path, threads: int, granularity: Literal["window", "sentence"]):
        from kokoro_server.engine_queue import EngineQueue
        from kokoro_server.scheduler import Scheduler
        from kokoro_server.synthesis import Speech
        from kokoro_voice.synthesizer import Synthesizer
        from kokoro_voice.voices import Voices

        self._granularity = granularity
        self._voice = Voices.in_directory(model_dir, VOICE).default
        self._speech = Speech(Synthesizer(model_dir, threads), EngineQueue(Scheduler()))

    async def load(self) -> None:
        """Warm the model up."""
        await self._speech.warm_up(self._voice, self._granularity)

    async def pcm(self, text: str) -> AsyncGenerator[bytes]:
        """Speak ``text`` to a listener of its own."""
        from kokoro_server.listener import Listener
        from kokoro_server.utterance import SpeechRequest, Utterance

        request = SpeechRequest("", text, self._voice, granularity=self._granularity)
        utterance = Utterance(request, Listener(), time.monotonic())
        utterance.begin(time.monotonic())
        async for chunk in self._speech.speak(utterance):
            yield chunk.pcm


async def main(name: str, model_dir: Path, files: Path, threads: int) -> None:
    """Get warm, then speak what standard input says."""
    # Whatever a package prints must not get between the answers.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(message: object) -> None:
        print(json.dumps(message), file=replies, flush=True)

    engine: Peer | Ours
    if name == "window" or name == "sentence":
        engine = Ours(model_dir, threads, name)
        await engine.load()
    else:
        # What is cut inside sentences has no place for a pause.
        pause_s = 0.0 if name == "fastkokoro-adaptive" else PAUSE_S
        engine = Peer(PEERS[name](model_dir, files, threads), pause_s)
    async for _ in engine.pcm("This sentence makes it warm."):
        pass
    reply(importlib.metadata.version("onnxruntime"))
    while line := await asyncio.to_thread(sys.stdin.readline):
        text = json.loads(line)
        started_s = time.monotonic()
        chunks = [(time.monotonic() - started_s, pcm) async for pcm in engine.pcm(text)]
        reply([[at_s, base64.b64encode(pcm).decode()] for at_s, pcm in chunks])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])))
