"""Text to PCM without ever blocking the event loop.

Pronunciation and the engine each have one thread. A request has at most one piece of text (about a
sentence) in either queue, so the requests of all sessions take turns, piece by piece, however long
each of them is: at the engine, the listener who would run dry first is next.
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from kokoro_server import audio, text
from kokoro_server.admission import Demand
from kokoro_server.audio import Samples
from kokoro_server.engine import MAX_PHONEMES, Engine, ExecutionProvider
from kokoro_server.engine_queue import EngineQueue
from kokoro_server.g2p import Pronouncer
from kokoro_server.messages import ProtocolError
from kokoro_server.scheduler import Listener
from kokoro_server.voices import Voice


class Speech:
    """The loaded model and G2P, shared by all sessions.

    Args:
        model_dir: see `Engine`.
        threads: threads of one synthesis.
        provider: what the engine runs on.
    """

    def __init__(self, model_dir: Path, threads: int, provider: ExecutionProvider = "cpu") -> None:
        self.ready = False
        """Whether the model is loaded and has spoken once."""
        self._model_dir = model_dir
        self._threads = threads
        self._provider = provider
        self._g2p_thread = ThreadPoolExecutor(1, "g2p")
        self._queue = EngineQueue()

    async def load(self, voice: Voice) -> None:
        """Load everything and speak one sentence in `voice`, so that the first request is warm.

        Raises:
            ModelError: the model directory is incomplete or damaged, or the provider unusable.
        """
        nobodys = Demand(Listener(), 1.0, time.monotonic())
        self._engine, self._pronouncer = await asyncio.gather(
            self._queue.run(
                nobodys, lambda stop: Engine(self._model_dir, self._threads, self._provider)
            ),
            asyncio.get_running_loop().run_in_executor(self._g2p_thread, Pronouncer),
        )
        async for _ in self.pcm("This is warm.", voice, 1.0, nobodys):
            pass
        self.ready = True

    async def close(self) -> None:
        """Drop what waits and wait for the end of what runs."""
        await self._queue.close()
        await asyncio.to_thread(self._g2p_thread.shutdown, cancel_futures=True)

    async def pcm(
        self, words: str, voice: Voice, speed: float, demand: Demand
    ) -> AsyncGenerator[bytes]:
        """Speak `words`, piece by piece, each as soon as it is made.

        Cancelling the caller withdraws a waiting piece and stops a running one.

        Args:
            words: text of any length.
            voice: of voices that exist.
            speed: 0.5 to 2.
            demand: whose listener hears it; work and audio are added up in it.

        Yields:
            PCM (s16le, 24 kHz, mono) of one piece with the pause after it.

        Raises:
            ProtocolError: `unreadable`, there is nothing to say in `words`.
        """
        spoken = False
        demand.listener.wants(demand.arrived_s)
        for piece in text.pieces(words):
            phonemes = await self._phonemes(piece.text, voice)
            # Punctuation alone makes the model babble.
            parts = [
                part
                for part in text.split_phonemes(phonemes, MAX_PHONEMES)
                if any(phoneme.isalpha() for phoneme in part)
            ]
            for part in parts:
                trimmer = audio.Trimmer()
                speech = trimmer.push(await self._synthesise(part, voice, speed, demand))
                samples = np.concatenate([speech, trimmer.end()])
                pause_s = piece.pause_s if part is parts[-1] else text.WORD_PAUSE_S
                spoken = True
                pcm = audio.to_pcm(samples) + audio.to_pcm(audio.silence(pause_s / speed))
                demand.hand_out(audio.duration_s(len(pcm)), time.monotonic())
                yield pcm
        if not spoken:
            raise ProtocolError("unreadable", "text: there is nothing in it that can be spoken")

    async def _phonemes(self, words: str, voice: Voice) -> str:
        def pronounce() -> str:
            return self._engine.known(self._pronouncer.phonemes(words, voice.language))

        return await asyncio.get_running_loop().run_in_executor(self._g2p_thread, pronounce)

    async def _synthesise(
        self, phonemes: str, voice: Voice, speed: float, demand: Demand
    ) -> Samples:
        work = partial(self._engine.synthesise, phonemes, voice, speed)
        return await self._queue.run(demand, work)
