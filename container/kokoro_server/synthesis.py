"""Utterances to audio without ever blocking the event loop.

Pronunciation and the engine each have one thread. An utterance has at most one segment of text
(about a sentence) in either queue, so the utterances of all sessions take turns, however long each
of them is: at the engine, the listener who would run dry first is next.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kokoro_server import codecs
from kokoro_server.admission import Ratio
from kokoro_server.engine_queue import EngineQueue
from kokoro_server.listener import Listener
from kokoro_server.messages import Granularity, ProtocolError, word_in_request
from kokoro_server.utterance import SpeechChunk, SpeechRequest, Utterance
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples, silence
from kokoro_voice.decoding import FRAME_WORK_S
from kokoro_voice.synthesizer import AudioChunk, PreparedSentence, Sentence, Synthesizer
from kokoro_voice.text import segments
from kokoro_voice.timing import WordTime
from kokoro_voice.voices import Voice

_WARM_UP_TEXT = "Everything is loaded now, and whoever calls next will be heard at once."


class Speech:
    """Speaks the utterances of all sessions.

    Args:
        synthesizer: The loaded model; nobody else may use it.
        queue: Does the engine's work; closed with this object.
    """

    def __init__(self, synthesizer: Synthesizer, queue: EngineQueue) -> None:
        self._synthesizer = synthesizer
        self._queue = queue
        self._g2p_thread = ThreadPoolExecutor(1, "g2p")
        self._frame_work_s = Ratio()

    async def warm_up(self, voice: Voice, granularity: Granularity) -> Utterance:
        """Speak, so that the first request does not wait for what is done only once.

        Args:
            voice: The voice that most requests ask for.
            granularity: What most requests ask for.

        Returns:
            A sentence that was spoken at that granularity, and what it cost.

        Raises:
            ModelError: The voice's file is damaged.
        """
        # Short sentences are decoded whole, so both ways are needed. The first of everything takes
        # longer: the last time is what it costs.
        other: Granularity = "sentence" if granularity == "window" else "window"
        for each in (other, granularity, granularity):
            request = SpeechRequest("warm-up", _WARM_UP_TEXT, voice, granularity=each)
            utterance = Utterance(request, Listener(), time.monotonic())
            utterance.begin(time.monotonic())
            async for _ in self.speak(utterance):
                pass
            utterance.complete()
        return utterance

    async def close(self) -> None:
        """Drop what waits and wait for the end of what runs."""
        await self._queue.close()
        await asyncio.to_thread(self._g2p_thread.shutdown, cancel_futures=True)

    async def speak(self, utterance: Utterance) -> AsyncGenerator[SpeechChunk]:
        """Speak an utterance that has begun; the caller ends it.

        Cancelling the caller withdraws work that waits and stops what runs.

        Yields:
            Each chunk of its audio as soon as it is decoded; it is in the tally by then.

        Raises:
            ProtocolError: `unreadable`, there is nothing to say in the text.
        """
        request = utterance.request
        spoken = False
        for segment in segments(request.text, request.voice.language):
            sentences = await asyncio.get_running_loop().run_in_executor(
                self._g2p_thread, self._synthesizer.pronounce, segment, request.voice
            )
            for sentence in sentences:
                spoken = True
                prepared = await self._prepare(utterance, sentence)
                while (decoded := await self._decode_next(utterance, prepared)) is not None:
                    if len(decoded.samples):
                        yield _chunk(utterance, decoded.samples, decoded.words)
                yield _chunk(utterance, prepared.tail())
                yield _chunk(utterance, silence(sentence.pause_s / request.speed))
        if not spoken:
            raise ProtocolError("unreadable", "text: there is nothing in it that can be spoken")

    async def _prepare(self, utterance: Utterance, sentence: Sentence) -> PreparedSentence:
        request = utterance.request
        return await self._queue.run(
            utterance,
            partial(
                self._synthesizer.prepare,
                sentence,
                request.voice,
                request.speed,
                windowed=request.granularity == "window",
                frame_work_s=self._frame_work_s.value or FRAME_WORK_S,
            ),
        )

    async def _decode_next(
        self, utterance: Utterance, prepared: PreparedSentence
    ) -> AudioChunk | None:
        """Decode what is next of a sentence, if anything is, and learn how long that takes."""
        buffered_s = utterance.listener.buffered_s(time.monotonic())
        span = prepared.decoding.next(buffered_s, self._queue.is_contended(utterance))
        if span is None:
            return None
        before_s = utterance.tally.engine_s
        decode = partial(self._synthesizer.decode, prepared, span)
        decoded = await self._queue.run(utterance, decode)
        self._frame_work_s.observe(utterance.tally.engine_s - before_s, span.work_frames)
        return decoded


def _chunk(utterance: Utterance, samples: Samples, words: Sequence[WordTime] = ()) -> SpeechChunk:
    """Hand out audio of `utterance`; the times of `words` are those in a sentence that begins."""
    start_s = utterance.tally.audio_s
    utterance.add_audio(len(samples) / SAMPLE_RATE_HZ, time.monotonic())
    times = tuple(word_in_request(word, start_s) for word in words)
    return SpeechChunk(codecs.to_pcm(samples), times)
