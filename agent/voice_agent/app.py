"""The agent's application for AgentCore: `/invocations` (server-sent events), `/ws` and `/ping`."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from bedrock_agentcore import BedrockAgentCoreApp
from bedrock_agentcore.runtime.context import RequestContext
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.websockets import WebSocket

from voice_agent.conversations import Conversations
from voice_agent.services import Services
from voice_agent.settings import Settings
from voice_agent.sse import Invocations
from voice_agent.websocket import Connection


class VoiceAgentApp:
    """The application. It closes its conversations and connections when its lifespan ends.

    The tasks of a `/ws` connection end with the connection, before the lifespan ends.

    Attributes:
        asgi: The ASGI application.
    """

    def __init__(self, settings: Settings) -> None:
        self._services = Services.create(settings)
        self._conversations = Conversations(self._services)
        self._invocations = Invocations(self._conversations, settings)
        self.asgi = BedrockAgentCoreApp(lifespan=self._lifespan)
        self.asgi.logger.propagate = False  # the library's own handler writes each record
        self.asgi.entrypoint(self._invoke)
        self.asgi.websocket(self._converse)
        if settings.page_url is not None:
            self.asgi.add_route("/", partial(_redirect, settings.page_url), methods=["GET"])

    async def close(self) -> None:
        """Stop the replies, then close the conversations and the connections to AWS."""
        await self._invocations.close()
        await self._conversations.close()
        await self._services.close()

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        yield
        await self.close()

    # This is a plain function that returns a generator. The library runs coroutine and generator
    # functions on another event loop, but the connections belong to the main one.
    def _invoke(self, payload: Any, context: RequestContext) -> AsyncGenerator[dict[str, Any]]:
        return self._invocations.answer(payload, context.session_id)

    async def _converse(self, websocket: WebSocket, context: RequestContext) -> None:
        await Connection(websocket, self._conversations, self._services.settings).serve()


async def _redirect(url: str, _: Request) -> RedirectResponse:
    return RedirectResponse(url)
