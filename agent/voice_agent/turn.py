"""One turn, which is a prompt and its reply, in text from the model and audio from the container.

A turn handles its start, an interruption, a failure and its end itself.
"""

import asyncio
import enum
import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from sentences.chunker import IncrementalSentenceChunker
from sentences.languages import language_of_voice
from sentences.speakable import speakable
from speech_client.errors import SpeechError, SpeechInputError
from speech_client.protocol import Audio, SynthesisComplete, Timing
from speech_client.session import SpeechSession, Utterance
from voice_agent.messages import (
    INTERNAL_ERROR,
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
from voice_agent.model import BedrockError, BlockEnd, ChatHistory, Stopped, Text
from voice_agent.services import Services
from voice_agent.turn_record import TurnRecord, joined

logger = logging.getLogger(__name__)

MAX_SENTENCES_WAITING = 64
CANCEL_TIMEOUT_S = 1.0

type Emit = Callable[[ServerEvent], Awaitable[None]]
"""Sends one event to the client. Waits while the client accepts no more data."""

type _SpokenSentence = tuple[int, str, Utterance]
"""The number of a sentence, its text and its utterance."""


class State(enum.Enum):
    """The progress of a turn."""

    ANSWERING = "text and audio arrive, or will arrive"
    INTERRUPTED = "the reply is being stopped"
    CONCLUDED = "no more text or audio will arrive"


@dataclass(frozen=True)
class TurnRequest:
    """One prompt of a conversation.

    Attributes:
        invocation: The prompt, and how to speak the reply.
        request_id: Identifies the turn in every event.
        speech_id: Identifies the turn in the speech session. The client's id might be too long
            there, or not unique.
    """

    invocation: Invocation
    request_id: str
    speech_id: str


class Turn:
    """One reply, from its prompt to its `agent_end`.

    Three tasks run concurrently. `_think` forwards the model's text and splits it into sentences.
    `_speak` sends each sentence to the speech session as soon as it is complete. `_listen` forwards
    the audio. In mode `batch`, the complete reply is spoken as one sentence.

    Args:
        request: The prompt. It arrives at the time of this call.
        emit: Sends the events.
        history: The conversation's history, which receives the prompt and the text that the
            listener heard.
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
        self._speed = request.invocation.speed or services.settings.speed
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
        self._stop_reason: str | None = None
        self._unspoken: list[str] = []
        self._state = State.ANSWERING
        self._played_s = 0.0
        self._ended = asyncio.Event()
        self._answer: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether `agent_end` has not been sent yet."""
        return not self._ended.is_set()

    async def run(self) -> None:
        """Answer the prompt. The first event is `agent_start`, and the last one is `agent_end`.

        If the reply fails, an `error` event precedes `agent_end`. Cancelling stops the model and
        the speech, and no more events are sent.
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
        """Stop the reply. If it is over, record that the listener did not hear all of it.

        The history keeps the text that the listener heard. This method returns when the next prompt
        can be answered.

        Args:
            played_s: Seconds of the reply's audio that the listener has heard.
        """
        if await self.stop(played_s):
            return
        # All audio has been sent, because it is sent faster than it plays. The listener interrupts
        # the part that is still playing.
        await self._speech.cancel()
        await self._conclude_interrupted(played_s)

    async def stop(self, played_s: float = 0.0) -> bool:
        """Interrupt the reply if it is running, and wait until the turn has ended.

        Returns:
            Whether the reply was running.
        """
        was_answering = self._answer is not None and self._answer.cancel()
        if was_answering:
            self._state = State.INTERRUPTED
            self._played_s = played_s
        await self._ended.wait()
        return was_answering

    async def _conclude(self, failure: BaseException | None) -> None:
        """Send the events that follow the text and the audio."""
        interrupted = self._state is State.INTERRUPTED
        self._state = State.CONCLUDED
        await self._end_audio()
        if failure is not None:
            self._keep_heard(self._record.audio_s)
            await self._emit(_error_event(failure, self._id))
        elif interrupted:
            await self._conclude_interrupted(self._played_s)
        metrics = self._record.metrics(self._clock(), self._speech.streams_opened)
        await self._emit(
            AgentEnd(
                request_id=self._id,
                stop_reason=self._stop_reason,
                unspoken=self._unspoken,
                metrics=metrics,
            )
        )

    async def _end_audio(self) -> None:
        """Send `audio_stream_end` if `audio_stream_start` was sent."""
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
        """Reduce the reply in the history to the text that was heard, and return that text."""
        heard = self._record.heard_text(played_s)
        prompt = self._invocation.prompt
        self._history.replace_last_reply(self._messages_before, prompt, heard)
        return heard

    async def _stream_reply(self) -> None:
        """Emit the reply's text and audio. Stop the model and the speech at the end.

        Raises:
            ExceptionGroup: The model or the speech failed. The group contains a `BedrockError` or a
                `SpeechError`.
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
                    case Stopped(reason):
                        self._stop_reason = reason
                        continue
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
        await self._speech.open()  # while the model prepares its reply
        while (sentence := await self._sentences.get()) is not None:
            if not (words := speakable(sentence)):
                continue
            seq = self._record.sentence_sent(sentence, self._clock())
            utterance = await self._speech.speak(
                words,
                f"{self._speech_id}.{seq}",
                voice=self._voice,
                speed=self._speed,
                timestamps=self._invocation.timestamps,
                sentence=True,
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
                    elif isinstance(event, SynthesisComplete):
                        self._unspoken += event.unspoken
            except SpeechInputError as error:
                if error.code != "unreadable":
                    raise
                logger.warning("a sentence contains nothing that can be spoken: %s", error)
            self._unheard.discard(utterance)
        await self._end_audio()

    async def _speak_whole(self) -> None:
        sentences = []
        while (sentence := await self._sentences.get()) is not None:
            sentences.append(sentence)
        reply = joined(sentences)
        if words := speakable(reply):
            seq = self._record.sentence_sent(reply, self._clock())
            audio = await self._batch.synthesize(words, voice=self._voice, speed=self._speed)
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
        """Return the words with their times in the audio of the reply, not of the sentence."""
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
            logger.warning("the speech was not cancelled: %s", error or "timed out")


def _error_event(failure: BaseException, request_id: str) -> ErrorEvent:
    cause = failure
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    if isinstance(cause, (SpeechError, BedrockError)):
        logger.warning("turn %s failed: %s: %s", request_id, cause.code, cause)
        return ErrorEvent(request_id=request_id, code=cause.code, message=str(cause))
    logger.error("turn %s failed", request_id, exc_info=failure)
    return ErrorEvent(request_id=request_id, code="internal", message=INTERNAL_ERROR)
