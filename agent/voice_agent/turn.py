"""One prompt and its reply: the model's text and the container's audio, both as they come.

A turn owns its whole life: its start, an interruption, a failure and its end.
"""

import asyncio
import enum
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from speech_client.errors import SpeechError, SpeechInputError
from speech_client.protocol import Audio, Timing
from speech_client.session import SpeechSession, Utterance
from voice_agent.messages import (
    MAX_AUDIO_FRAME_BYTES,
    AgentEnd,
    AgentStart,
    AudioChunk,
    AudioStreamEnd,
    AudioStreamStart,
    ErrorEvent,
    Interrupted,
    Invocation,
    Sentence,
    ServerEvent,
    TextDelta,
    Word,
    Words,
)
from voice_agent.model import BedrockError, BlockEnd, ChatHistory, Text
from voice_agent.sentences.chunker import IncrementalSentenceChunker
from voice_agent.sentences.languages import language_of_voice
from voice_agent.sentences.speakable import speakable
from voice_agent.services import Services
from voice_agent.turn_record import TurnRecord

logger = logging.getLogger(__name__)

MAX_SENTENCES_WAITING = 64
CANCEL_TIMEOUT_S = 1.0

type Emit = Callable[[ServerEvent], Awaitable[None]]
"""Sends one event to the client, waiting while the client takes no more."""

type _SpokenSentence = tuple[int, str, Utterance]
"""A sentence's number, its text and its speech."""


class State(enum.Enum):
    """How far a turn has come."""

    ANSWERING = "text and audio come, or are about to"
    INTERRUPTED = "the reply is being stopped"
    CONCLUDED = "no more text or audio comes"


@dataclass(frozen=True)
class TurnRequest:
    """One prompt of a conversation.

    Attributes:
        invocation: The prompt, and how to speak the reply.
        request_id: Names the turn in every event.
        speech_id: Names the turn in the speech session, where the client's own name might be too
            long or not unique.
    """

    invocation: Invocation
    request_id: str
    speech_id: str


class Turn:
    """One reply from its prompt to its `agent_end`.

    Three tasks never wait for one another's work: `_think` forwards the model's text and splits it
    into sentences, `_speak` sends each sentence when it is complete, `_listen` forwards the audio.
    In mode batch the complete reply is one sentence.

    Args:
        request: The prompt, which arrives now.
        emit: Sends the events.
        history: The conversation's; gains the prompt and what was heard of the reply.
        speech: The conversation's speech session.
        services: The settings, and batch synthesis.
    """

    def __init__(
        self,
        request: TurnRequest,
        emit: Emit,
        history: ChatHistory,
        speech: SpeechSession,
        services: Services,
    ) -> None:
        self._clock = asyncio.get_running_loop().time
        self._id = request.request_id
        self._speech_id = request.speech_id
        self._invocation = request.invocation
        self._settings = services.settings
        self._voice = request.invocation.voice or services.settings.voice
        self._emit = emit
        self._history = history
        self._messages_before = history.messages
        self._speech = speech
        self._batch = services.batch
        self._record = TurnRecord(request.invocation.mode, self._clock())
        self._sentences: asyncio.Queue[str | None] = asyncio.Queue(MAX_SENTENCES_WAITING)
        self._spoken: asyncio.Queue[_SpokenSentence | None] = asyncio.Queue(MAX_SENTENCES_WAITING)
        self._unheard: set[Utterance] = set()
        self._audio_chunks = 0
        self._audio_started = False
        self._audio_ended = False
        self._state = State.ANSWERING
        self._played_s = 0.0
        self._ended = asyncio.Event()
        self._answer: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether `agent_end` is still to come."""
        return not self._ended.is_set()

    async def run(self) -> None:
        """Answer the prompt: `agent_start` comes first, `agent_end` last, however it goes.

        A failure ends the reply with an `error` event. Cancelling stops the model and the speech,
        and sends nothing more.
        """
        answer = asyncio.create_task(self._stream_reply(), name=f"turn {self._id}")
        self._answer = answer
        try:
            try:
                mode = self._invocation.mode
                await self._emit(AgentStart(request_id=self._id, mode=mode))
                await asyncio.wait([answer])
            finally:
                answer.cancel()
                await asyncio.gather(answer, return_exceptions=True)
            await self._conclude(None if answer.cancelled() else answer.exception())
        finally:
            self._state = State.CONCLUDED
            self._ended.set()

    async def interrupt(self, played_s: float) -> None:
        """Stop the reply, or note that it was not heard to its end if it is over.

        The history keeps what the listener heard. Returns when the next prompt can be answered.

        Args:
            played_s: How much of the reply's audio the listener has heard, in seconds.
        """
        if await self.stop(played_s):
            return
        # All audio was sent, faster than it plays: the listener broke in on the rest of it.
        await self._speech.cancel()
        await self._conclude_interrupted(played_s)

    async def stop(self, played_s: float = 0.0) -> bool:
        """Interrupt the reply if it is running; returns whether it was, when the turn has ended."""
        was_answering = self._answer is not None and self._answer.cancel()
        if was_answering:
            self._state = State.INTERRUPTED
            self._played_s = played_s
        await self._ended.wait()
        return was_answering

    async def _conclude(self, failure: BaseException | None) -> None:
        """Send the events after the text and the audio."""
        interrupted = self._state is State.INTERRUPTED
        self._state = State.CONCLUDED
        await self._end_audio()
        if failure is not None:
            self._keep_heard(self._record.audio_s)
            await self._emit(_error_event(failure, self._id))
        elif interrupted:
            await self._conclude_interrupted(self._played_s)
        metrics = self._record.metrics(self._clock(), self._speech.streams_opened)
        await self._emit(AgentEnd(request_id=self._id, metrics=metrics))

    async def _end_audio(self) -> None:
        """Tell the client that no more audio comes, if it was told that some would."""
        if self._audio_started and not self._audio_ended:
            self._audio_ended = True
            chunks, duration_s = self._audio_chunks, self._record.audio_s
            await self._emit(
                AudioStreamEnd(request_id=self._id, total_chunks=chunks, duration_s=duration_s)
            )

    async def _conclude_interrupted(self, played_s: float) -> None:
        heard = self._keep_heard(played_s)
        await self._emit(Interrupted(request_id=self._id, heard_text=heard))

    def _keep_heard(self, played_s: float) -> str:
        """Leave in the history what was heard of the reply, and return it."""
        heard = self._record.heard_text(played_s)
        prompt = self._invocation.prompt
        self._history.replace_last_reply(self._messages_before, prompt, heard)
        return heard

    async def _stream_reply(self) -> None:
        """Emit the reply's text and audio; in the end, the model and the speech are stopped.

        Raises:
            ExceptionGroup: Of `BedrockError` or `SpeechError`, whichever side failed.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._think(), name="think")
                if self._invocation.mode == "bidi":
                    tasks.create_task(self._speak(), name="speak")
                    tasks.create_task(self._listen(), name="listen")
                else:
                    tasks.create_task(self._speak_whole(), name="speak whole")
        finally:
            await self._stop_speech()

    async def _think(self) -> None:
        chunker = IncrementalSentenceChunker(
            self._settings.language or language_of_voice(self._voice),
            first_chunk=self._settings.first_chunk,
        )
        seq = 0
        async with aclosing(self._history.reply(self._invocation.prompt)) as reply:
            async for event in reply:
                match event:
                    case Text(text):
                        self._record.text_written(self._clock())
                        await self._emit(TextDelta(request_id=self._id, seq=seq, text=text))
                        seq += 1
                        complete = chunker.feed(text)
                    case BlockEnd():
                        rest = chunker.flush()
                        complete = [rest] if rest else []
                for sentence in complete:
                    self._record.sentence_complete(self._clock())
                    await self._sentences.put(sentence)
        if rest := chunker.flush():
            self._record.sentence_complete(self._clock())
            await self._sentences.put(rest)
        await self._sentences.put(None)

    async def _speak(self) -> None:
        await self._speech.open()  # while the model thinks
        while (sentence := await self._sentences.get()) is not None:
            if not (words := speakable(sentence)):
                continue
            seq = self._record.sentence_sent(sentence, self._clock())
            utterance = await self._speech.speak(
                words,
                f"{self._speech_id}.{seq}",
                voice=self._voice,
                speed=self._invocation.speed,
                timestamps=self._invocation.timestamps,
            )
            self._unheard.add(utterance)
            await self._spoken.put((seq, sentence, utterance))
        await self._spoken.put(None)

    async def _listen(self) -> None:
        while (spoken := await self._spoken.get()) is not None:
            seq, sentence, utterance = spoken
            try:
                timing: Timing | None = None
                async for event in utterance:
                    if isinstance(event, Timing):
                        timing = event
                    elif isinstance(event, Audio):
                        await self._forward(seq, sentence, event.data, timing)
                        timing = None
            except SpeechInputError as error:
                if error.code != "unreadable":
                    raise
                logger.warning("a sentence was not spoken: %s", error)
            self._unheard.discard(utterance)
        await self._end_audio()

    async def _speak_whole(self) -> None:
        sentences = []
        while (sentence := await self._sentences.get()) is not None:
            sentences.append(sentence)
        reply = " ".join(sentences)
        if words := speakable(reply):
            seq = self._record.sentence_sent(reply, self._clock())
            audio = await self._batch.synthesize(
                words, voice=self._voice, speed=self._invocation.speed
            )
            await self._forward(seq, reply, audio)
        await self._end_audio()

    async def _forward(
        self, seq: int, text: str, audio: bytes, timing: Timing | None = None
    ) -> None:
        for start in range(0, len(audio), MAX_AUDIO_FRAME_BYTES):
            data = audio[start : start + MAX_AUDIO_FRAME_BYTES]
            if not self._audio_started:
                self._audio_started = True
                await self._emit(AudioStreamStart(request_id=self._id, voice=self._voice))
            if self._record.audio_arrived(seq, len(data), self._clock()):
                start_s = self._record.start_s(seq)
                await self._emit(Sentence(request_id=self._id, seq=seq, text=text, start_s=start_s))
            if timing is not None:
                await self._emit(self._words(seq, timing))
                timing = None
            await self._emit(AudioChunk(request_id=self._id, seq=self._audio_chunks, data=data))
            self._audio_chunks += 1

    def _words(self, seq: int, timing: Timing) -> Words:
        """Return the words with their times in the reply's audio, not the sentence's."""
        start_s = self._record.start_s(seq)
        words = [
            Word(text=word.text, start_s=start_s + word.start_s, end_s=start_s + word.end_s)
            for word in timing.words
        ]
        return Words(request_id=self._id, seq=seq, words=words)

    async def _stop_speech(self) -> None:
        for utterance in self._unheard:
            utterance.discard()
        try:
            async with asyncio.timeout(CANCEL_TIMEOUT_S):
                await self._speech.cancel()
        except (SpeechError, TimeoutError) as error:
            logger.warning("speech not cancelled: %s", error or "timed out")


def _error_event(failure: BaseException, request_id: str) -> ErrorEvent:
    cause = failure
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    if isinstance(cause, (SpeechError, BedrockError)):
        logger.warning("turn %s failed: %s: %s", request_id, cause.code, cause)
        return ErrorEvent(request_id=request_id, code=cause.code, message=str(cause))
    logger.error("turn %s failed", request_id, exc_info=failure)
    return ErrorEvent(request_id=request_id, code="internal", message="the agent failed")
