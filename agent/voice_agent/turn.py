"""One prompt and its reply: the model's text and the container's audio, both as they come."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from kokoro_speech.batch import BatchSynthesizer
from kokoro_speech.errors import SpeechError, SpeechInputError
from kokoro_speech.protocol import Audio, Timing
from kokoro_speech.session import SpeechSession, Utterance
from voice_agent.messages import (
    MAX_AUDIO_FRAME_BYTES,
    AudioChunk,
    AudioStreamEnd,
    AudioStreamStart,
    Invocation,
    Sentence,
    ServerEvent,
    TextDelta,
    Word,
    Words,
)
from voice_agent.model import BlockEnd, ChatHistory, Text
from voice_agent.sentences.chunker import IncrementalSentenceChunker
from voice_agent.sentences.languages import language_of_voice
from voice_agent.sentences.speakable import speakable
from voice_agent.timeline import Timeline

log = logging.getLogger(__name__)

MAX_SENTENCES_WAITING = 64
CANCEL_TIMEOUT_S = 1.0

type Emit = Callable[[ServerEvent], Awaitable[None]]
"""Sends one event to the client, waiting while the client takes no more."""


@dataclass(frozen=True)
class _Sent:
    seq: int
    text: str
    utterance: Utterance


class Turn:
    """Answers one prompt.

    Three tasks that never wait for one another's work: `_think` forwards the model's text and
    cuts it into sentences, `_speak` sends each sentence when it is complete, `_listen` forwards
    the audio. In mode batch the complete reply is one sentence.

    Args:
        request: the prompt and how to speak the reply.
        request_id: names the turn in every event.
        speech_id: names the turn in the speech session, where the client's own name might be too
            long or not unique.
        voice: to speak with.
        history: of the conversation; gains the prompt and the reply.
        speech: the conversation's speech session.
        batch: for mode batch.
        emit: where events go.
        prompted_at: when the prompt arrived, on the event loop's clock.
        first_chunk: what the reply's first piece of speech is, as the chunker takes it.
    """

    def __init__(
        self,
        request: Invocation,
        *,
        request_id: str,
        speech_id: str,
        voice: str,
        history: ChatHistory,
        speech: SpeechSession,
        batch: BatchSynthesizer,
        emit: Emit,
        prompted_at: float,
        first_chunk: Literal["sentence", "clause"] = "sentence",
    ) -> None:
        self.request_id = request_id
        self.timeline = Timeline(request.mode, prompted_at)
        self._request = request
        self._speech_id = speech_id
        self._voice = voice
        self._first_chunk = first_chunk
        self._history = history
        self._speech = speech
        self._batch = batch
        self._emit = emit
        self._clock = asyncio.get_running_loop().time
        self._sentences: asyncio.Queue[str | None] = asyncio.Queue(MAX_SENTENCES_WAITING)
        self._sent: asyncio.Queue[_Sent | None] = asyncio.Queue(MAX_SENTENCES_WAITING)
        self._unheard: set[Utterance] = set()
        self._audio_chunks = 0
        self._audio_started = False
        self._audio_ended = False

    async def run(self) -> None:
        """Answer the prompt; returns when all text and audio have been handed to `emit`.

        Whatever ends it, the model and the speech are stopped when it has ended.

        Raises:
            ExceptionGroup: of `BedrockError` or `SpeechError`, whichever part failed.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._think(), name="think")
                if self._request.mode == "bidi":
                    tasks.create_task(self._speak(), name="speak")
                    tasks.create_task(self._listen(), name="listen")
                else:
                    tasks.create_task(self._speak_whole(), name="speak whole")
        finally:
            await self._stop_speech()

    async def end_audio(self) -> None:
        """Tell the client that no more audio comes, if it was told that some would."""
        if self._audio_started and not self._audio_ended:
            self._audio_ended = True
            await self._emit(
                AudioStreamEnd(
                    request_id=self.request_id,
                    total_chunks=self._audio_chunks,
                    duration_s=self.timeline.audio_s,
                )
            )

    async def _think(self) -> None:
        chunker = IncrementalSentenceChunker(
            language_of_voice(self._voice), first_chunk=self._first_chunk
        )
        seq = 0
        async with aclosing(self._history.reply(self._request.prompt)) as reply:
            async for piece in reply:
                match piece:
                    case Text(text):
                        self.timeline.text_written(self._clock())
                        await self._emit(TextDelta(request_id=self.request_id, seq=seq, text=text))
                        seq += 1
                        complete = chunker.feed(text)
                    case BlockEnd():
                        rest = chunker.flush()
                        complete = [rest] if rest else []
                for sentence in complete:
                    self.timeline.sentence_complete(self._clock())
                    await self._sentences.put(sentence)
        if rest := chunker.flush():
            self.timeline.sentence_complete(self._clock())
            await self._sentences.put(rest)
        await self._sentences.put(None)

    async def _speak(self) -> None:
        await self._speech.open()  # while the model thinks
        while (sentence := await self._sentences.get()) is not None:
            if not (words := speakable(sentence)):
                continue
            seq = self.timeline.sentence_sent(sentence, self._clock())
            utterance = await self._speech.speak(
                words,
                f"{self._speech_id}.{seq}",
                voice=self._voice,
                speed=self._request.speed,
                timestamps=self._request.timestamps,
            )
            self._unheard.add(utterance)
            await self._sent.put(_Sent(seq, sentence, utterance))
        await self._sent.put(None)

    async def _listen(self) -> None:
        while (sent := await self._sent.get()) is not None:
            try:
                timing: Timing | None = None
                async for event in sent.utterance:
                    if isinstance(event, Timing):
                        timing = event
                    elif isinstance(event, Audio):
                        await self._forward(sent.seq, sent.text, event.data, timing)
                        timing = None
            except SpeechInputError as error:
                if error.code != "unreadable":
                    raise
                log.warning("a sentence was not spoken: %s", error)
            self._unheard.discard(sent.utterance)
        await self.end_audio()

    async def _speak_whole(self) -> None:
        sentences = []
        while (sentence := await self._sentences.get()) is not None:
            sentences.append(sentence)
        reply = " ".join(sentences)
        if words := speakable(reply):
            seq = self.timeline.sentence_sent(reply, self._clock())
            audio = await self._batch.synthesize(
                words, voice=self._voice, speed=self._request.speed
            )
            await self._forward(seq, reply, audio)
        await self.end_audio()

    async def _forward(
        self, seq: int, text: str, audio: bytes, timing: Timing | None = None
    ) -> None:
        for start in range(0, len(audio), MAX_AUDIO_FRAME_BYTES):
            data = audio[start : start + MAX_AUDIO_FRAME_BYTES]
            if not self._audio_started:
                self._audio_started = True
                await self._emit(AudioStreamStart(request_id=self.request_id, voice=self._voice))
            if self.timeline.audio_arrived(seq, len(data), self._clock()):
                start_s = self.timeline.start_s(seq)
                await self._emit(
                    Sentence(request_id=self.request_id, seq=seq, text=text, start_s=start_s)
                )
            if timing is not None:
                await self._emit(self._words(seq, timing))
                timing = None
            await self._emit(
                AudioChunk(request_id=self.request_id, seq=self._audio_chunks, data=data)
            )
            self._audio_chunks += 1

    def _words(self, seq: int, timing: Timing) -> Words:
        """The times in a sentence's audio as times in the reply's."""
        start_s = self.timeline.start_s(seq)
        words = [
            Word(text=word.text, start_s=start_s + word.start_s, end_s=start_s + word.end_s)
            for word in timing.words
        ]
        return Words(request_id=self.request_id, seq=seq, words=words)

    async def _stop_speech(self) -> None:
        for utterance in self._unheard:
            utterance.discard()
        try:
            async with asyncio.timeout(CANCEL_TIMEOUT_S):
                await self._speech.cancel()
        except (SpeechError, TimeoutError) as error:
            log.warning("speech not cancelled: %s", error or "timed out")
