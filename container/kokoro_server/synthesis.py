"""Text to PCM without ever blocking the event loop.

Pronunciation and the engine each have one thread. A request has at most one piece of text (about a
sentence) in either queue, so the requests of all sessions take turns, piece by piece, however long
each of them is: at the engine, the listener who would run dry first is next.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kokoro_server.admission import Demand, Ratio
from kokoro_server.engine_queue import EngineQueue
from kokoro_server.messages import Granularity, ProtocolError, Word
from kokoro_server.scheduler import Listener
from kokoro_voice import audio, text, timing
from kokoro_voice.audio import Samples
from kokoro_voice.engine import FRAME_SAMPLES, MAX_PHONEMES, Engine, Prosody, Statistics
from kokoro_voice.g2p import Pronouncer
from kokoro_voice.norm_statistics import TABLE_PATH, StatisticsTable
from kokoro_voice.onnx_graph import ExecutionProvider, ModelError, Stop
from kokoro_voice.timing import PronouncedWord, word_times
from kokoro_voice.voices import Voice
from kokoro_voice.windows import (
    CONTEXT_FRAMES,
    FRAME_WORK_S,
    LONGEST_FRAMES,
    LONGEST_SHARED_FRAMES,
    SHORT_FRAMES,
    SpokenFrames,
    Windows,
)

logger = logging.getLogger(__name__)

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
    """

    def __init__(self, model_dir: Path, threads: int, provider: ExecutionProvider = "cpu") -> None:
        self.ready = False
        """Whether the model is loaded and has spoken."""
        self._model_dir = model_dir
        self._threads = threads
        self._provider = provider
        self._g2p_thread = ThreadPoolExecutor(1, "g2p")
        self._queue = EngineQueue()
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

        (self._engine, self._table), self._pronouncer = await asyncio.gather(
            self._queue.run(nobodys(), self._loaded),
            asyncio.get_running_loop().run_in_executor(self._g2p_thread, Pronouncer),
        )
        # Short sentences are decoded whole, so both ways are needed. The first of everything takes
        # longer: the last time is what it costs.
        other: Granularity = "sentence" if granularity == "window" else "window"
        for way in (other, granularity, granularity):
            demand = nobodys()
            async for _ in self.speak(_WARM_TEXT, voice, 1.0, way, demand):
                pass
        self.ready = True
        return demand

    def _loaded(self, stop: Stop) -> tuple[Engine, StatisticsTable | None]:
        """The engine, and the table of statistics unless it was calibrated with another model."""
        engine = Engine(self._model_dir, self._threads, self._provider)
        try:
            return engine, StatisticsTable.load(TABLE_PATH, engine.model_sha256)
        except ModelError as error:
            logger.warning("every sentence will be decoded whole: %s", error)
            return engine, None

    async def close(self) -> None:
        """Drop what waits and wait for the end of what runs."""
        await self._queue.close()
        await asyncio.to_thread(self._g2p_thread.shutdown, cancel_futures=True)

    async def speak(
        self, words: str, voice: Voice, speed: float, granularity: Granularity, demand: Demand
    ) -> AsyncGenerator[Part]:
        """Speak `words`, each part of the audio as soon as it is made.

        Cancelling the caller withdraws work that waits and stops what runs.

        Args:
            words: text of any length.
            voice: of voices that exist.
            speed: 0.5 to 2.
            granularity: whether audio leaves inside a sentence, or a sentence at a time.
            demand: whose listener hears it; work and audio are added up in it.

        Raises:
            ProtocolError: `unreadable`, there is nothing to say in `words`.
        """

        def part(samples: Samples, words: Iterable[Word] = ()) -> Part:
            pcm = audio.to_pcm(samples)
            demand.hand_out(audio.duration_s(len(pcm)), time.monotonic())
            return Part(pcm, tuple(words))

        spoken = False
        demand.listener.wants(demand.arrived_s)
        for piece in text.pieces(words):
            # Punctuation alone makes the model babble.
            sentences = [
                sentence
                for sentence in timing.split(
                    await self._pronounced(piece.text, voice), MAX_PHONEMES
                )
                if any(phoneme.isalpha() for phoneme in timing.phonemes_of(sentence))
            ]
            for sentence in sentences:
                spoken = True
                said = self._sentence(sentence, voice, speed, granularity, demand)
                async with aclosing(said):
                    async for samples, times in said:
                        yield part(samples, times)
                pause_s = piece.pause_s if sentence is sentences[-1] else text.WORD_PAUSE_S
                yield part(audio.silence(pause_s / speed))
        if not spoken:
            raise ProtocolError("unreadable", "text: there is nothing in it that can be spoken")

    async def _pronounced(self, words: str, voice: Voice) -> list[PronouncedWord]:
        def pronounce() -> list[PronouncedWord]:
            return [
                PronouncedWord(word.text, self._engine.known(word.phonemes))
                for word in self._pronouncer.words(words, voice.language)
            ]

        return await asyncio.get_running_loop().run_in_executor(self._g2p_thread, pronounce)

    async def _sentence(
        self,
        words: list[PronouncedWord],
        voice: Voice,
        speed: float,
        granularity: Granularity,
        demand: Demand,
    ) -> AsyncGenerator[tuple[Samples, list[Word]]]:
        """Some trimmed audio of one sentence, and with the first of it the times of its words."""
        phonemes = timing.phonemes_of(words)
        prosody, statistics = await self._queue.run(
            demand, partial(self._prepared, phonemes, voice, speed, granularity)
        )
        start_s = demand.audio_s
        spoken = SpokenFrames.of(prosody.token_frames, prosody.energy, timing.last_sound(phonemes))
        last_sound_frame = timing.last_sound_frame(phonemes, prosody.token_frames)
        trimmer = audio.Trimmer()
        first: int | None = None
        timed = False
        async with aclosing(self._decoded(prosody, voice, statistics, spoken, demand)) as decoded:
            async for start, samples in decoded:
                first = start if first is None else first
                end = start + len(samples) // FRAME_SAMPLES
                speech = trimmer.push(samples, speech_follows=end <= last_sound_frame)
                if len(speech) and not timed:
                    timed = True
                    dropped = first * FRAME_SAMPLES + trimmer.dropped_samples
                    yield speech, word_times(words, prosody.token_frames, dropped, start_s)
                elif len(speech):
                    yield speech, []
        yield trimmer.end(), []

    def _prepared(
        self, phonemes: str, voice: Voice, speed: float, granularity: Granularity, stop: Stop
    ) -> tuple[Prosody, Statistics | None]:
        """What decoding starts from, and the statistics to use if it is to be in windows."""
        prosody = self._engine.prosody(phonemes, voice, speed, stop)
        if self._table is None or granularity == "sentence" or prosody.frames < SHORT_FRAMES:
            return prosody, None
        if not self._table.allows_windows(voice):
            return prosody, None
        return prosody, self._table.predict(prosody, voice)

    def _whole(self, prosody: Prosody, voice: Voice, stop: Stop) -> Samples:
        samples, statistics = self._engine.whole(prosody, stop)
        if self._table is not None:
            self._table.learn(prosody, voice, statistics)
        return samples

    async def _decoded(
        self,
        prosody: Prosody,
        voice: Voice,
        statistics: Statistics | None,
        spoken: SpokenFrames,
        demand: Demand,
    ) -> AsyncGenerator[tuple[int, Samples]]:
        """The model's audio of one sentence, in windows if there are `statistics`, else at once.

        Yields:
            The frame that the samples begin with, and the samples.
        """
        if statistics is None:
            whole = partial(self._whole, prosody, voice)
            yield 0, await self._decode(demand, whole, prosody.frames)
            return
        windows = Windows(spoken, self._frame_work_s.value or FRAME_WORK_S)
        while True:
            shared = self._queue.others_wait(demand)
            window = windows.next(
                demand.listener.left_s(time.monotonic()),
                LONGEST_SHARED_FRAMES if shared else LONGEST_FRAMES,
            )
            if window is None:
                return
            start, end = window
            decode = partial(self._engine.window, prosody, statistics, start, end)
            yield start, await self._decode(demand, decode, end - start + 2 * CONTEXT_FRAMES)

    async def _decode(
        self, demand: Demand, decode: Callable[[Stop], Samples], frames: int
    ) -> Samples:
        """Have so many frames decoded, and learn how long that takes."""
        before_s = demand.work_s
        samples = await self._queue.run(demand, decode)
        self._frame_work_s.observe(demand.work_s - before_s, frames)
        return samples
