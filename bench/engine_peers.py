"""Run one Kokoro engine in its own environment, for ``bench.engine``.

    python engine_peers.py NAME MODEL_DIR FILES_DIR THREADS

It imports a peer's package only if NAME is that peer. Of the project, it imports the trimmer and,
for ``window`` and ``sentence``, the server's code from text to PCM.

Every line of output is JSON. The first line is the version of ONNX Runtime, printed when the engine
is warm. Each line of standard input is a string to speak. The answer is a list of ``[at_s, PCM in
base64]``, with ``at_s`` in seconds since the line arrived.
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
"""The pause after each sentence of a peer, the same as the server's."""

Samples = npt.NDArray[np.float32]
Speak = Callable[[str], AsyncGenerator[Samples]]
"""Yields the audio of a text in chunks, each with the model's silence around it."""


def whole_graph(model_dir: Path) -> Path:
    """Return the path of the published graph, from which our graphs are cut."""
    return model_dir / "kokoro-v1.0.fp32.onnx"


def kokoro_onnx(model_dir: Path, files: Path, threads: int) -> Speak:
    """Return kokoro-onnx without its own trimming. It takes 510 phonemes at once."""
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
    """Return kokoro-pi without trimming, with the float graph that it makes from ours.

    The text is cut as in its server.
    """
    import onnx
    from kokoro_pi import graph, paths
    from kokoro_pi.server import Engine, split_for_streaming

    if not (files / "models.json").exists():
        library = paths.prebuilt_library()
        if library is None:
            raise SystemExit("kokoro-pi: it has no compiled operators for this machine")
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
    """Return fastkokoro without trimming; ``strategy`` says how it cuts the text."""
    os.environ |= {
        "FASTKOKORO_MODEL_PATH": str(whole_graph(model_dir)),
        "FASTKOKORO_VOICES_PATH": str(files / VOICES_FILE),
        "FASTKOKORO_ONNX_INTRA_OP_NUM_THREADS": str(threads),
        "FASTKOKORO_STREAM_STRATEGY": strategy,
        # Each chunk is one frame, instead of several frames of 0.2 s that arrive at the same time.
        "FASTKOKORO_STREAM_AUDIO_FRAME_MS": "60000",
        # Its trimming cannot be switched off, but with these values it removes nothing.
        "FASTKOKORO_RUNTIME_TAIL_TRIM_MS": "0",
        "FASTKOKORO_RUNTIME_PART_TRIM_PADDING_MS": "60000",
    }
    from fastkokoro import FastKokoro

    engine = FastKokoro()

    async def speak(text: str) -> AsyncGenerator[Samples]:
        engine._phonemize_cache.clear()  # the same text is spoken in every round
        async for pcm in engine.create_stream(text, voice=VOICE, lang="en-us"):
            yield np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32767)

    return speak


OURS: dict[str, Literal["window", "sentence"]] = {"window": "window", "sentence": "sentence"}
PEERS: dict[str, Callable[[Path, Path, int], Speak]] = {
    "kokoro-onnx": kokoro_onnx,
    "kokoro-pi": kokoro_pi,
    "fastkokoro": partial(fastkokoro, "sentence"),
    "fastkokoro-adaptive": partial(fastkokoro, "adaptive"),
}


class Peer:
    """A peer whose chunks are trimmed by our trimmer and followed by a pause."""

    def __init__(self, speak: Speak, pause_s: float) -> None:
        self._speak = speak
        self._pause = silence(pause_s)

    async def pcm(self, text: str) -> AsyncGenerator[bytes]:
        """Yield the PCM of ``text``."""
        async for samples in self._speak(text):
            trimmer = Trimmer()
            yield to_pcm(np.concatenate([trimmer.push(samples), trimmer.end(), self._pause]))


class Ours:
    """The server's code from text to PCM, without the server around it."""

    def __init__(self, model_dir: Path, threads: int, granularity: Literal["window", "sentence"]):
        from kokoro_server.engine_queue import EngineQueue
        from kokoro_server.scheduler import Scheduler
        from kokoro_server.synthesis import Speech
        from kokoro_voice.synthesizer import Synthesizer
        from kokoro_voice.voices import Voices

        self._granularity = granularity
        self._voice = Voices.in_directory(model_dir, VOICE).default
        self._speech = Speech(Synthesizer(model_dir, threads), EngineQueue(Scheduler()))

    async def warm_up(self) -> None:
        """Warm up as the server does before its first request."""
        await self._speech.warm_up(self._voice, self._granularity)

    async def pcm(self, text: str) -> AsyncGenerator[bytes]:
        """Yield the PCM of ``text`` for a new listener."""
        from kokoro_server.playback import Listener
        from kokoro_server.utterance import SpeechRequest, Utterance

        request = SpeechRequest("", text, self._voice, granularity=self._granularity)
        utterance = Utterance(request, Listener(), time.monotonic())
        utterance.begin(time.monotonic())
        async for chunk in self._speech.speak(utterance):
            yield chunk.pcm


async def main(name: str, model_dir: Path, files: Path, threads: int) -> None:
    """Warm the engine up, then speak each line of standard input."""
    # What a package prints must not get between the answers.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(message: object) -> None:
        print(json.dumps(message), file=replies, flush=True)

    engine: Peer | Ours
    if granularity := OURS.get(name):
        engine = Ours(model_dir, threads, granularity)
        await engine.warm_up()
    else:
        # A pause would be wrong after a chunk that ends inside a sentence.
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
