"""The route `POST /invocations`, which answers one prompt with server-sent events."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Any

from voice_agent.conversations import Conversations, ConversationsFullError
from voice_agent.messages import (
    INTERNAL_ERROR,
    ErrorEvent,
    Invocation,
    MessageError,
    ServerEvent,
    new_request_id,
    parse_invocation,
    to_json,
)
from voice_agent.settings import Settings

logger = logging.getLogger(__name__)

MAX_WAITING_EVENTS = 64


class Invocations:
    """Answers prompts, and owns the tasks that do so.

    Args:
        conversations: The conversations that answer the prompts.
        settings: The agent's settings, for the maximum length of a prompt.
    """

    def __init__(self, conversations: Conversations, settings: Settings) -> None:
        self._conversations = conversations
        self._max_prompt_chars = settings.max_prompt_chars
        self._answers: set[asyncio.Task[None]] = set()

    async def answer(self, payload: Any, session_id: str | None) -> AsyncGenerator[dict[str, Any]]:
        """Yield the events of one reply as JSON objects.

        Errors are events as well, because AgentCore does not pass an HTTP error on to the caller.

        Args:
            payload: The JSON body of the request.
            session_id: The id of AgentCore's session, which keeps its conversation; None for a
                single prompt.
        """
        request_id = new_request_id()
        try:
            invocation = parse_invocation(payload, max_prompt_chars=self._max_prompt_chars)
        except MessageError as error:
            yield to_json(ErrorEvent(request_id=request_id, code=error.code, message=str(error)))
            return
        events: asyncio.Queue[ServerEvent | None] = asyncio.Queue(MAX_WAITING_EVENTS)
        # A task of its own can clean up. This generator cannot: after the client has left, anyio
        # cancels each of its awaits.
        answer = asyncio.Task(
            self._reply(invocation, request_id, session_id, events),
            loop=asyncio.get_running_loop(),
            name="invocation",
            eager_start=True,
        )
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)
        try:
            while (event := await events.get()) is not None:
                yield to_json(event)
        finally:
            answer.cancel()
            await asyncio.wait([answer])

    async def close(self) -> None:
        """Stop all replies."""
        for answer in self._answers:
            answer.cancel()
        await asyncio.gather(*self._answers, return_exceptions=True)

    async def _reply(
        self,
        invocation: Invocation,
        request_id: str,
        session_id: str | None,
        events: asyncio.Queue[ServerEvent | None],
    ) -> None:
        try:
            async with self._conversations.open(session_id) as conversation:
                await conversation.reply(invocation, request_id, events.put)
        except ConversationsFullError as error:
            await events.put(ErrorEvent(request_id=request_id, code="busy", message=str(error)))
        except Exception:
            # Report the failure; otherwise the client would wait for the end of the reply.
            logger.exception("invocation %s failed", request_id)
            await events.put(
                ErrorEvent(request_id=request_id, code="internal", message=INTERNAL_ERROR)
            )
        await events.put(None)
