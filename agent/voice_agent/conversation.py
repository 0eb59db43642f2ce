"""A conversation: its history, its speech session, one reply at a time."""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass

from strands.models import BedrockModel

from kokoro_speech.batch import BatchSynthesizer
from kokoro_speech.endpoint import SpeechEndpoint
from kokoro_speech.errors import SpeechError
from kokoro_speech.session import SpeechSession
from voice_agent.messages import AgentEnd, AgentStart, ErrorEvent, Interrupted, Invocation
from voice_agent.model import BedrockError, ChatHistory
from voice_agent.settings import Settings
from voice_agent.turn import Emit, Turn

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Services:
    """What all conversations of the process share."""

    settings: Settings
    model: BedrockModel
    speech: SpeechEndpoint
    batch: BatchSynthesizer


class Conversation:
    """Answers prompts, one after the other, over one speech session and one history."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._history = ChatHistory(services.model, services.settings)
        self._speech = SpeechSession(
            services.speech, silence_timeout_s=services.settings.speech_silence_timeout_s
        )
        self._turn: Turn | None = None  # the running or the last one
        self._prompt = ""
        self._messages_before = self._history.messages
        self._turn_count = 0
        self._work: asyncio.Task[None] | None = None
        self._played_s = 0.0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def is_busy(self) -> bool:
        """Whether a reply is running."""
        return not self._idle.is_set()

    async def reply(self, request: Invocation, request_id: str, emit: Emit) -> None:
        """Answer one prompt through `emit`: `agent_start` first, `agent_end` last.

        A reply that is running goes on; the new prompt is refused with a `busy` error. A part
        that fails ends the reply with an `error` event. Cancelling stops model and speech.
        """
        if self.is_busy:
            message = "a reply is still running: interrupt it or wait for its agent_end"
            await emit(ErrorEvent(request_id=request_id, code="busy", message=message))
            return
        self._idle.clear()
        self._turn_count += 1
        turn = Turn(
            request,
            request_id=request_id,
            speech_id=f"turn-{self._turn_count}",
            voice=request.voice or self._services.settings.voice,
            first_chunk=self._services.settings.first_chunk,
            history=self._history,
            speech=self._speech,
            batch=self._services.batch,
            emit=emit,
            prompted_at=asyncio.get_running_loop().time(),
        )
        self._turn, self._prompt = turn, request.prompt
        self._messages_before = self._history.messages
        # Up to here nothing has been awaited: an interrupt right behind the prompt finds it.
        self._work = work = asyncio.create_task(turn.run(), name=f"turn {request_id}")
        try:
            try:
                await emit(AgentStart(request_id=request_id, mode=request.mode))
                await asyncio.wait([work])
            finally:
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)
            await self._conclude(turn, work, emit)
        finally:
            self._work = None
            self._idle.set()

    async def interrupt(self, played_s: float, request_id: str, emit: Emit) -> None:
        """Stop the running reply, or note that the last one was not heard to its end.

        The history keeps what the listener heard. Returns when the next prompt can be answered.

        Args:
            played_s: how much of the reply's audio the listener has heard, in seconds.
            request_id: for the error event when there is no reply at all.
            emit: where events go.
        """
        if self._turn is None:
            message = "interrupt: there is no reply to interrupt"
            await emit(ErrorEvent(request_id=request_id, code="invalid", message=message))
        elif self._work is not None and not self._work.done():
            self._played_s = played_s
            self._work.cancel()
            await self._idle.wait()
        else:
            # All audio was sent, faster than it plays: the listener broke in on the rest of it.
            await self._idle.wait()
            await self._speech.cancel()
            heard = self._turn.timeline.heard_text(played_s)
            self._history.replace_last_reply(self._messages_before, self._prompt, heard)
            await emit(Interrupted(request_id=self._turn.request_id, heard_text=heard))

    async def close(self) -> None:
        """Stop the running reply and close the speech session."""
        if self._work is not None:
            self._work.cancel()
        await self._idle.wait()
        await self._speech.close()

    async def _conclude(self, turn: Turn, work: asyncio.Task[None], emit: Emit) -> None:
        """Send what remains to be said about a turn whose work is over."""
        if work.cancelled():
            await turn.end_audio()
            heard = turn.timeline.heard_text(self._played_s)
            self._history.replace_last_reply(self._messages_before, self._prompt, heard)
            await emit(Interrupted(request_id=turn.request_id, heard_text=heard))
        elif failure := work.exception():
            await turn.end_audio()
            heard = turn.timeline.heard_text(turn.timeline.audio_s)
            self._history.replace_last_reply(self._messages_before, self._prompt, heard)
            await emit(_describe(failure, turn.request_id))
        now = asyncio.get_running_loop().time()
        metrics = turn.timeline.metrics(now, self._speech.streams_opened)
        await emit(AgentEnd(request_id=turn.request_id, metrics=metrics))


class ConversationsFullError(Exception):
    """As many conversations as the settings allow are answering at this moment."""


class Conversations:
    """The conversations of `/invocations`, by AgentCore session: history and stream live on.

    A conversation is closed after `conversation_idle_s` without a prompt, or when its place is
    needed and it has been idle the longest.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._by_session: OrderedDict[str, Conversation] = OrderedDict()  # least recent first
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def get(self, session_id: str) -> Conversation:
        """Return the session's conversation, a new one if it has none; `put_back` it after use.

        Raises:
            ConversationsFullError: there is no room for a new one.
        """
        if timer := self._timers.pop(session_id, None):
            timer.cancel()
        if session_id not in self._by_session:
            self._make_room()
            self._by_session[session_id] = Conversation(self._services)
        self._by_session.move_to_end(session_id)
        return self._by_session[session_id]

    def put_back(self, session_id: str) -> None:
        """The caller is done with the session's conversation; another caller may not be."""
        if timer := self._timers.pop(session_id, None):
            timer.cancel()
        if session_id in self._by_session and not self._by_session[session_id].is_busy:
            self._timers[session_id] = asyncio.get_running_loop().call_later(
                self._services.settings.conversation_idle_s, self._forget, session_id
            )

    async def close(self) -> None:
        """Close all of them."""
        for session_id in list(self._by_session):
            self._forget(session_id)
        await asyncio.gather(*self._closing)

    def _make_room(self) -> None:
        if len(self._by_session) < self._services.settings.max_conversations:
            return
        for session_id, conversation in self._by_session.items():
            if not conversation.is_busy:
                self._forget(session_id)
                return
        raise ConversationsFullError

    def _forget(self, session_id: str) -> None:
        if timer := self._timers.pop(session_id, None):
            timer.cancel()
        conversation = self._by_session.pop(session_id)
        task = asyncio.create_task(conversation.close(), name="close conversation")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


def _describe(failure: BaseException, request_id: str) -> ErrorEvent:
    cause = failure
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    if isinstance(cause, (SpeechError, BedrockError)):
        log.warning("turn %s failed: %s: %s", request_id, cause.code, cause)
        return ErrorEvent(request_id=request_id, code=cause.code, message=str(cause))
    log.error("turn %s failed", request_id, exc_info=failure)
    return ErrorEvent(request_id=request_id, code="internal", message="the agent failed")
