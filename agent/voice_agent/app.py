"""The agent on AgentCore: `/invocations` (server-sent events), `/ws` and `/ping`."""

import asyncio
import contextlib
import json
import logging
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from bedrock_agentcore import BedrockAgentCoreApp
from bedrock_agentcore.runtime.context import RequestContext
from starlette.applications import Starlette
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from kokoro_speech.batch import BatchSynthesizer
from kokoro_speech.endpoint import SpeechEndpoint
from voice_agent.conversation import Conversation, Conversations, ConversationsFullError, Services
from voice_agent.messages import (
    AudioChunk,
    Close,
    ErrorEvent,
    Interrupt,
    MessageError,
    Prompt,
    ServerEvent,
    parse_frame,
    parse_invocation,
    to_json,
)
from voice_agent.model import create_model
from voice_agent.settings import Settings

log = logging.getLogger(__name__)

MAX_WAITING_EVENTS = 64
TRY_AGAIN_LATER = 1013
"""WebSocket close code (IANA registry)."""


def create_app(settings: Settings) -> BedrockAgentCoreApp:
    """Return the application; its lifespan closes what it has opened."""
    services = Services(
        settings=settings,
        model=create_model(settings),
        speech=SpeechEndpoint(
            settings.endpoint_name,
            region=settings.region,
            ca_file=settings.ca_file,
            open_timeout_s=settings.speech_open_timeout_s,
        ),
        batch=BatchSynthesizer(
            settings.endpoint_name,
            region=settings.region,
            timeout_s=settings.batch_timeout_s,
            max_connections=settings.max_conversations,
        ),
    )
    conversations = Conversations(services)
    answers: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        for answer in answers:
            answer.cancel()
        await asyncio.gather(*answers, return_exceptions=True)
        await conversations.close()
        await services.speech.close()
        services.batch.close()

    app = BedrockAgentCoreApp(lifespan=lifespan)
    app.logger.propagate = False  # it has a handler of its own: each line would be there twice

    # Not a coroutine and not a generator function: those the library runs on an event loop of
    # its own, and the process's connections live on the main one. It only makes the generator.
    def invoke(payload: Any, context: RequestContext) -> AsyncGenerator[dict[str, Any]]:
        return _answer_invocation(payload, context.session_id, services, conversations, answers)

    connections: set[_Connection] = set()

    async def converse(websocket: WebSocket, context: RequestContext) -> None:
        await websocket.accept()
        connection = _Connection(websocket, services)
        if len(connections) >= settings.max_conversations:
            await connection.refuse()
            return
        connections.add(connection)
        try:
            await connection.run()
        finally:
            connections.discard(connection)

    app.entrypoint(invoke)
    app.websocket(converse)
    return app


async def _answer_invocation(
    payload: Any,
    session_id: str | None,
    services: Services,
    conversations: Conversations,
    answers: set[asyncio.Task[None]],
) -> AsyncGenerator[dict[str, Any]]:
    """Yield the events of one reply; an HTTP status would not reach AgentCore's callers."""
    request_id = _new_id()
    try:
        request = parse_invocation(payload, max_prompt_chars=services.settings.max_prompt_chars)
        conversation = (
            conversations.get(session_id) if session_id is not None else Conversation(services)
        )
    except MessageError as error:
        yield to_json(ErrorEvent(request_id=request_id, code=error.code, message=str(error)))
        return
    except ConversationsFullError:
        message = f"{services.settings.max_conversations} conversations are being answered"
        yield to_json(ErrorEvent(request_id=request_id, code="busy", message=message))
        return

    events: asyncio.Queue[ServerEvent | None] = asyncio.Queue(MAX_WAITING_EVENTS)

    async def answer() -> None:
        try:
            await conversation.reply(request, request_id, events.put)
        finally:
            if session_id is not None:
                conversations.put_back(session_id)
            else:
                await conversation.close()
        await events.put(None)

    # The task cleans up after itself: when the client has left, Starlette lets this generator
    # wait for nothing any more (anyio's cancellation strikes at every await).
    answering = asyncio.Task(
        answer(), loop=asyncio.get_running_loop(), name="invocation", eager_start=True
    )
    answers.add(answering)
    answering.add_done_callback(answers.discard)
    try:
        while (event := await events.get()) is not None:
            yield to_json(event)
    finally:
        answering.cancel()
        await asyncio.wait([answering])


class _Connection:
    """One `/ws` connection: one conversation. Reading never waits for a reply to end."""

    def __init__(self, websocket: WebSocket, services: Services) -> None:
        self._websocket = websocket
        self._conversation = Conversation(services)
        self._max_prompt_chars = services.settings.max_prompt_chars
        self._sending = asyncio.Lock()
        self._replies: set[asyncio.Task[None]] = set()

    async def refuse(self) -> None:
        """Say that there is no room for another conversation."""
        message = "all conversations this agent can hold are taken"
        await self._emit(ErrorEvent(request_id=None, code="busy", message=message))
        await self._websocket.close(TRY_AGAIN_LATER)

    async def run(self) -> None:
        """Serve the connection until either side closes it."""
        try:
            while (frame := await self._websocket.receive())["type"] == "websocket.receive":
                # An empty text frame is legal, so a frame is binary only if it has no text.
                if not await self._handle(frame.get("text")):
                    break
        finally:
            for reply in self._replies:
                reply.cancel()
            await asyncio.gather(*self._replies, return_exceptions=True)
            await self._conversation.close()
        if self._websocket.client_state is WebSocketState.CONNECTED:
            await self._websocket.close()

    async def _handle(self, text: str | None) -> bool:
        """Act on one frame; returns whether the connection goes on."""
        try:
            message = parse_frame(text, max_prompt_chars=self._max_prompt_chars)
        except MessageError as error:
            await self._emit(
                ErrorEvent(request_id=error.request_id, code=error.code, message=str(error))
            )
            return True
        match message:
            case Prompt():
                request_id = message.request_id or _new_id()
                reply = self._conversation.reply(message, request_id, self._emit)
                # Begun at once: the next frame may be an interrupt of it.
                loop = asyncio.get_running_loop()
                task = asyncio.Task(reply, loop=loop, name="reply", eager_start=True)
                self._replies.add(task)
                task.add_done_callback(self._reply_done)
            case Interrupt():
                await self._conversation.interrupt(message.played_s, _new_id(), self._emit)
            case Close():
                return False
        return True

    def _reply_done(self, reply: asyncio.Task[None]) -> None:
        self._replies.discard(reply)
        if not reply.cancelled() and (error := reply.exception()):
            log.error("a reply failed", exc_info=error)

    async def _emit(self, event: ServerEvent) -> None:
        # Both the text's and the audio's task send.
        async with self._sending:
            if self._websocket.client_state is not WebSocketState.CONNECTED:
                return  # the reading side has seen it or will, and stops the reply
            with contextlib.suppress(WebSocketDisconnect):
                if isinstance(event, AudioChunk):
                    await self._websocket.send_bytes(event.data)
                else:
                    await self._websocket.send_text(
                        json.dumps(to_json(event), ensure_ascii=False, separators=(",", ":"))
                    )


def _new_id() -> str:
    return uuid.uuid4().hex[:12]
