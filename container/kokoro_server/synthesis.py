"""Text to PCM without ever blocking the event loop.

Pronunciation and the engine each have one thread. A request has at most one segment of its text
(about a sentence) in either queue, so the requests of all sessions take turns, segment by segment,
however long each of them is: at the engine, the listener who would run dry first is next.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kokoro_server.admission import Demand, Ratio
from kokoro_server.codecs import duration_s, to_pcm
from kokoro_server.engine_queue import EngineQueue
from kokoro_server.messages import Granularity, ProtocolError, Word
from kokoro_server.scheduler import Listener, Scheduler
from kokoro_voice.audio import Samples, silence
from kokoro_voice.decoding import FRAME_WORK_S
from kokoro_voice.onnx_model import Cancellation, ExecutionProvider
from kokoro_voice.synthesizer import AudioChunk, Sentence, Synthesizer
from kokoro_voice.text import segments
from kokoro_voice.timing import WordTime
from kokoro_voice.voices import Voice

_WARM_TEXT = "Everything is loaded now, and whoever calls next will be heard at once."


@dataclass(frozen=True)
class Part:
    """Some of an utterance's audio."""

    pcm: bytes
    """s16le, 24 kHz, mono."""
    words: tuple[Word, ...] = ()
    """Of the sentence that begins in it, with their times in the utterance's audio."""


class Speech:
    """The loaded model and G2P, shared by all sessions.

    Args:
        model_dir: see `Engine`.
        threads: threads of one synthesis.
        provider: what the engine runs on.
        scheduler: of the engine's work; by deadlines if None.
    """

    def __init__(
        self,
        model_dir: Path,
        threads: int,
        provider: ExecutionProvider = "cpu",
        scheduler: Scheduler[Any] | None = None,
    ) -> None:
        self.ready = False
        """Whether the model is loaded and has spoken."""
        self._model_dir = model_dir
        self._threads = threads
        self._provider = provider
        self._g2p_thread = ThreadPoolExecutor(1, "g2p")
        self._queue = EngineQueue(scheduler)
        self._frame_work_s = Ratio()

    async def load(self, voice: Voice, granularity: Granularity) -> Demand:
        """Load everything and speak in `voice`, so that the first request is warm.

        Args:
            voice: of voices that exist.
            granularity: what most requests will ask for.

        Returns:
            What a sentence costs, made that way.

        Raises:
            ModelError: the model directory is incomplete or damaged, or the provider unusable.
        """

        def nobodys() -> Demand:
            return Demand(Listener(), len(_WARM_TEXT), time.monotonic())

        self._synthesizer = await self._queue.run(nobodys(), self._loaded)
        # Short sentences are decoded whole, so both ways are needed. The first of everything takes
        # longer: the last time is what it costs.
        other: Granularity = "sentence" if granularity == "window" else "window"
        for way in (other, granularity, granularity):
            demand = nobodys()
            async for _ in self.speak(_WARM_TEXT, voice, 1.0, way, demand):
                pass
        self.ready = True
        return demand

    def _loaded(self, _: Cancellation) -> Synthesizer:
        return Synthesizer(self._model_dir, self._threads, self._provider)

    async def close(self) -> None:
        """Drop what waits and wait for the end of what runs."""
        await self._queue.close()
        await asyncio.to_thread(self._g2p_thread.shutdown, cancel_futures=True)

    async def speak(
        self, text: str, voice: Voice, speed: float, granularity: Granularity, demand: Demand
    ) -> AsyncGenerator[Part]:
        """Speak `text`, each part of the audio as soon as it is made.

        Cancelling the caller withdraws work that waits and stops what runs.

        Args:
            text: of any length.
            voice: of voices that exist.
            speed: 0.5 to 2.
            granularity: whether audio leaves inside a sentence, or a sentence at a time.
            demand: whose listener hears it; work and audio are added up in it.

        Raises:
            ProtocolError: `unreadable`, there is nothing to say in `text`.
        """

        def part(samples: Samples, times: Iterable[WordTime] = ()) -> Part:
            pcm = to_pcm(samples)
            demand.hand_out(duration_s(len(pcm)), time.monotonic())
            return Part(pcm, tuple(Word.at(begin_s, word) for word in times))

        spoken = False
        demand.listener.wants(demand.arrived_s)
        for segment in segments(text):
            for sentence in await asyncio.get_running_loop().run_in_executor(
                self._g2p_thread, self._synthesizer.pronounce, segment, voice
            ):
                spoken = True
                begin_s = demand.audio_s
                chunks = self._sentence(sentence, voice, speed, granularity, demand)
                async with aclosing(chunks):
                    async for chunk in chunks:
                        yield part(chunk.samples, chunk.words)
                yield part(silence(sentence.pause_s / speed))
        if not spoken:
            raise ProtocolError("unreadable", "text: there is nothing in it that can be spoken")

    async def _sentence(
        self,
        sentence: Sentence,
        voice: Voice,
        speed: float,
        granularity: Granularity,
        demand: Demand,
    ) -> AsyncGenerator[AudioChunk]:
        """The audio of one sentence, whole or in windows, none of it empty but perhaps the last."""
        prepare = partial(
            self._synthesizer.prepare,
            sentence,
            voice,
            speed,
            windowed=granularity == "window",
            frame_work_s=self._frame_work_s.value or FRAME_WORK_S,
        )
        prepared = await self._queue.run(demand, prepare)
        while True:
            span = prepared.decoding.next(
                demand.listener.left_s(time.monotonic()), self._queue.others_wait(demand)
            )
            if span is None:
                break
            before_s = demand.work_s
            decode = partial(self._synthesizer.decode, prepared, span)
            chunk = await self._queue.run(demand, decode)
            self._frame_work_s.observe(demand.work_s - before_s, span.work_frames)
            if len(chunk.samples):
                yield chunk
        yield AudioChunk(prepared.tail())
