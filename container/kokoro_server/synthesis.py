"""Synthesis of utterances without blocking the event loop.

Pronunciation and the engine have one thread each. An utterance has at most one segment of text
(about a sentence) in either queue, so the utterances of all sessions take turns however long they
are. The engine serves the listener whose buffer would underrun first.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np

from kokoro_server import codecs
from kokoro_server.admission import Ratio
from kokoro_server.engine_queue import EngineQueue
from kokoro_server.messages import Granularity, ProtocolError, word_in_request
from kokoro_server.off_loop import read_text
from kokoro_server.playback import Listener
from kokoro_server.utterance import SpeechChunk, SpeechRequest, Utterance
from kokoro_text.lexicon import Lexicon
from kokoro_text.spans import Span as TextSpan
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples, silence
from kokoro_voice.decoding import FRAME_WORK_S
from kokoro_voice.dictionaries import Dictionaries
from kokoro_voice.synthesizer import (
    AudioChunk,
    PreparedSentence,
    Pronunciation,
    Sentence,
    Synthesizer,
)
from kokoro_voice.text import SENTENCE_PAUSE_S, Segment, segments
from kokoro_voice.timing import WordTime
from kokoro_voice.voice_gains import gain
from kokoro_voice.voices import Voice

MAX_UNSPOKEN_NAMED = 20
"""An error names at most this many words that cannot be spoken."""

_WARM_UP_TEXT = "Everything is loaded now, and whoever calls next will be heard at once."
_SHORT_WARM_UP_TEXT = "Everything is loaded."


class Speech:
    """Speaks the utterances of all sessions.

    Args:
        synthesizer: The loaded model. It must not be used elsewhere.
        queue: Does the engine's work. It is closed together with this object.
        lexicon: The deployment's pronunciations. Those of a request precede them.
        sentence_pause_s: The pause after a sentence at normal speed, in seconds.
        level_voices: Whether all voices are made equally loud.
    """

    def __init__(
        self,
        synthesizer: Synthesizer,
        queue: EngineQueue,
        lexicon: Lexicon | None = None,
        *,
        sentence_pause_s: float = SENTENCE_PAUSE_S,
        level_voices: bool = False,
    ) -> None:
        self._synthesizer = synthesizer
        self._queue = queue
        self._lexicon = lexicon or Lexicon()
        self._sentence_pause_s = sentence_pause_s
        self._level_voices = level_voices
        self._dictionaries = Dictionaries()
        self._g2p_thread = ThreadPoolExecutor(1, "g2p")
        self._frame_work_s = Ratio()

    async def warm_up(self, voice: Voice, granularity: Granularity) -> Utterance:
        """Speak a sentence, so that the first request does not wait for one-time initialization.

        Args:
            voice: The voice of most requests.
            granularity: The granularity of most requests.

        Returns:
            The utterance of one sentence at that granularity, with its cost.

        Raises:
            ModelError: The voice's file is damaged.
        """
        # Short sentences are always decoded whole, so that is warmed up, too. The first run takes
        # longer, so the last run measures the cost.
        runs: tuple[tuple[str, Granularity], ...] = (
            (_SHORT_WARM_UP_TEXT, "sentence"),
            (_WARM_UP_TEXT, granularity),
            (_WARM_UP_TEXT, granularity),
        )
        for text, each in runs:
            request = SpeechRequest("warm-up", text, voice, granularity=each)
            utterance = Utterance(request, Listener(), time.monotonic())
            utterance.begin(time.monotonic())
            async for _ in self.speak(utterance):
                pass
            utterance.complete()
        return utterance

    async def close(self) -> None:
        """Drop waiting work, stop running work and wait for its end."""
        await self._queue.close()
        await asyncio.to_thread(self._g2p_thread.shutdown, cancel_futures=True)

    async def speak(self, utterance: Utterance) -> AsyncGenerator[SpeechChunk]:
        """Speak an utterance that has begun. The caller has to end it.

        Cancelling the caller withdraws waiting work and stops running work.

        Yields:
            Each chunk of audio as soon as it is decoded. The tally includes it by then.

        Raises:
            ProtocolError: `unreadable`, if the text contains neither a pause nor anything that can
                be spoken.
        """
        request = utterance.request
        factor = np.float32(gain(request.voice) if self._level_voices else 1.0)
        spoken = False
        leading_s = 0.0
        for span in request.spans:
            speed = request.speed * span.rate
            for segment, following in pairwise([*await self._segments(span, request), None]):
                assert segment is not None
                pronunciation = await self._pronounce(segment, request)
                utterance.unspoken += pronunciation.unspoken
                for sentence in pronunciation.sentences:
                    prepared = await self._prepare(utterance, sentence, speed)
                    if leading_s:
                        yield _pause(utterance, leading_s)
                        leading_s = 0.0
                    spoken = True
                    while (decoded := await self._decode_next(utterance, prepared)) is not None:
                        if len(decoded.samples):
                            yield _chunk(utterance, factor * decoded.samples, decoded.words)
                    yield _chunk(utterance, factor * prepared.tail())
                    if following is not None or span.pause_s is None:
                        yield _chunk(utterance, silence(sentence.pause_s / speed))
            if span.pause_s and spoken:
                yield _pause(utterance, span.pause_s)
            elif span.pause_s:
                # It waits for the first sentence: an unreadable text is an error before any audio.
                leading_s += span.pause_s
        if leading_s and not utterance.unspoken:
            yield _pause(utterance, leading_s)
        elif not spoken:
            raise ProtocolError("unreadable", _nothing_to_say(utterance.unspoken))

    async def _segments(self, span: TextSpan, request: SpeechRequest) -> list[Segment]:
        def split() -> list[Segment]:
            pause_s, is_sentence = self._sentence_pause_s, request.sentence
            language = request.voice.language
            return list(segments(span.text, language, pause_s, is_sentence=is_sentence))

        return await read_text(span.text, split)

    async def _pronounce(self, segment: Segment, request: SpeechRequest) -> Pronunciation:
        if missing := self._dictionaries.missing(segment.text, request.voice.language):
            await asyncio.to_thread(self._dictionaries.load, missing)
        return await asyncio.get_running_loop().run_in_executor(
            self._g2p_thread,
            self._synthesizer.pronounce,
            segment,
            request.voice,
            (request.lexicon, self._lexicon),
        )

    async def _prepare(
        self, utterance: Utterance, sentence: Sentence, speed: float
    ) -> PreparedSentence:
        request = utterance.request
        return await self._queue.run(
            utterance,
            partial(
                self._synthesizer.prepare,
                sentence,
                request.voice,
                speed,
                windowed=request.granularity == "window",
                frame_work_s=self._frame_work_s.value or FRAME_WORK_S,
            ),
        )

    async def _decode_next(
        self, utterance: Utterance, prepared: PreparedSentence
    ) -> AudioChunk | None:
        """Decode the next span of a sentence, if any, and measure how long it takes."""
        buffered_s = utterance.listener.buffered_s(time.monotonic())
        span = prepared.decoding.next(buffered_s, self._queue.is_contended(utterance))
        if span is None:
            return None
        before_s = utterance.tally.engine_s
        decode = partial(self._synthesizer.decode, prepared, span)
        decoded = await self._queue.run(utterance, decode)
        self._frame_work_s.observe(utterance.tally.engine_s - before_s, span.work_frames)
        return decoded


def _nothing_to_say(unspoken: Sequence[str]) -> str:
    if not unspoken:
        return "text: it contains nothing that can be spoken; give at least a word"
    words = ", ".join(map(repr, unspoken[:MAX_UNSPOKEN_NAMED]))
    return f"text: no sound is known for {words}; give at least a word that can be spoken"


def _pause(utterance: Utterance, pause_s: float) -> SpeechChunk:
    """Hand out a pause that the text asks for."""
    samples = silence(pause_s)
    utterance.tally.pause_s += len(samples) / SAMPLE_RATE_HZ
    return _chunk(utterance, samples)


def _chunk(utterance: Utterance, samples: Samples, words: Sequence[WordTime] = ()) -> SpeechChunk:
    """Hand out audio of `utterance`. The times in `words` count from the start of the sentence."""
    start_s = utterance.tally.audio_s
    utterance.add_audio(len(samples) / SAMPLE_RATE_HZ, time.monotonic())
    times = tuple(word_in_request(word, start_s) for word in words)
    return SpeechChunk(codecs.to_pcm(samples), times)
