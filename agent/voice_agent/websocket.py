"""The route `/ws`, on which each connection is one conversation, with audio in binary frames."""

import asyncio
import json
import logging
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from voice_agent.conversation import Conversation
from voice_agent.conversations import Conversations, ConversationsFullError
from voice_agent.messages import (
    AudioChunk,
    Close,
    ErrorEvent,
    Interrupt,
    MessageError,
    Prompt,
    ServerEvent,
    new_request_id,
    parse_frame,
    to_json,
)
from voice_agent.settings import Settings

logger = logging.getLogger(__name__)

TRY_AGAIN_LATER = 1013
"""A WebSocket close code from the IANA registry."""


class Connection:
    """One `/ws` connection, which is one conversation.

    The connection continues to read messages while a reply is running.

    Args:
        websocket: The connection, not yet accepted.
        conversations: The conversations in which its conversation is opened.
        settings: The agent's settings, for the maximum length of a prompt.
    """

    def __init__(
        self, websocket: WebSocket, conversations: Conversations, settings: Settings
    ) -> None:
        self._websocket = websocket
        self._conversations = conversations
        self._max_prompt_chars = settings.max_prompt_chars
        self._sending = asyncio.Lock()
        self._replies: set[asyncio.Task[None]] = set()

    async def serve(self) -> None:
        """Serve the connection until either side closes it.

        If all conversations are in use, refuse the connection with the error `busy`.
        """
        await self._websocket.accept()
        try:
            async with self._conversations.open() as conversation:
                await self._read(conversation)
        except ConversationsFullError as error:
            await self._emit(ErrorEvent(request_id=None, code="busy", message=str(error)))
            await self._websocket.close(TRY_AGAIN_LATER)
            return
        if self._websocket.client_state is WebSocketState.CONNECTED:
            await self._websocket.close()

    async def _read(self, conversation: Conversation) -> None:
        try:
            while (frame := await self._websocket.receive())["type"] == "websocket.receive":
                # An empty text frame is legal, so a frame is binary only if it has no text.
                if not await self._handle(frame.get("text"), conversation):
                    break
        finally:
            for reply in self._replies:
                reply.cancel()
            await asyncio.gather(*self._replies, return_exceptions=True)

    async def _handle(self, text: str | None, conversation: Conversation) -> bool:
        """Handle one frame. Return whether the connection stays open."""
        try:
            message = parse_frame(text, max_prompt_chars=self._max_prompt_chars)
        except MessageError as error:
            await self._emit(
                ErrorEvent(request_id=error.request_id, code=error.code, message=str(error))
            )
            return True
        match message:
            case Prompt():
                request_id = message.request_id or new_request_id()
                reply = conversation.reply(message, request_id, self._emit)
                # The reply must start at once, because the next frame may interrupt it.
                loop = asyncio.get_running_loop()
                task = asyncio.Task(reply, loop=loop, name="reply", eager_start=True)
                self._replies.add(task)
                task.add_done_callback(self._reply_done)
            case Interrupt():
                await conversation.interrupt(message.played_s, new_request_id(), self._emit)
            case Close():
                return False
        return True

    def _reply_done(self, reply: asyncio.Task[None]) -> None:
        self._replies.discard(reply)
        if not reply.cancelled() and (error := reply.exception()):
            logger.error("a reply failed unexpectedly", exc_info=error)

    async def _emit(self, event: ServerEvent) -> None:
        # The tasks for text and for audio both send.
        async with self._sending:
            if self._websocket.client_state is not WebSocketState.CONNECTED:
                return  # `_read` notices that, too, and stops the reply
            with suppress(WebSocketDisconnect):
                if isinstance(event, AudioChunk):
                    await self._websocket.send_bytes(event.data)
                else:
                    await self._websocket.send_text(
                        json.dumps(to_json(event), ensure_ascii=False, separators=(",", ":"))
                    )
