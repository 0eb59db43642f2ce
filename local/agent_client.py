"""Talks to the agent as a browser or a service would: `/ws`, or `/invocations` (SSE)."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

EVENT_TIMEOUT_S = 120.0
CONNECT_TIMEOUT_S = 10.0

type Event = dict[str, Any]
"""An event of the agent protocol; audio is `{"type": "audio", "data": bytes}` everywhere."""


class AgentConnectionError(Exception):
    """The agent cannot be reached, or went away in the middle of a reply."""


def _silent(seconds: float) -> AgentConnectionError:
    return AgentConnectionError(f"the agent sent nothing for {seconds:.0f} s")


def _is_last(event: Event, started: bool) -> bool:
    """Whether the answer to a prompt ends here: a refused prompt starts no reply."""
    return event["type"] == "agent_end" or (event["type"] == "error" and not started)


class AgentSocket:
    """One conversation over `/ws`: many prompts, one after the other.

    Args:
        agent_url: `http://host:port` of the agent.

    Raises:
        AgentConnectionError: on entering, when the agent cannot be reached.
    """

    def __init__(self, agent_url: str) -> None:
        self._url = agent_url.replace("http", "ws", 1) + "/ws"
        self._socket: ClientConnection | None = None

    async def __aenter__(self) -> "AgentSocket":
        try:
            self._socket = await connect(
                self._url, open_timeout=CONNECT_TIMEOUT_S, max_size=2**20, proxy=None
            )
        except (OSError, InvalidHandshake, TimeoutError) as error:
            raise AgentConnectionError(f"no agent at {self._url}: {error}") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._socket is not None:
            await self._socket.close()

    async def send(self, message: str | bytes) -> None:
        """Send one frame as it is.

        Raises:
            AgentConnectionError: the agent has gone.
        """
        assert self._socket is not None
        try:
            await self._socket.send(message)
        except ConnectionClosed as error:
            raise AgentConnectionError(f"the agent closed the connection: {error}") from error

    async def receive(self) -> Event:
        """The next event.

        Raises:
            AgentConnectionError: the agent has gone, or was silent for `EVENT_TIMEOUT_S`.
        """
        assert self._socket is not None
        try:
            async with asyncio.timeout(EVENT_TIMEOUT_S):
                frame = await self._socket.recv()
        except ConnectionClosed as error:
            raise AgentConnectionError(f"the agent closed the connection: {error}") from error
        except TimeoutError:
            raise _silent(EVENT_TIMEOUT_S) from None
        if isinstance(frame, bytes):
            return {"type": "audio", "data": frame}
        event: Event = json.loads(frame)
        return event

    async def ask(self, prompt: str, **settings: Any) -> AsyncGenerator[Event]:
        """Send a prompt and yield the events of its reply: `agent_end`, or a refusal, is last.

        Args:
            prompt: what the user says.
            settings: `mode`, `voice`, `speed`, as the agent's `prompt` message takes them.

        Raises:
            AgentConnectionError: the agent has gone, or was silent for `EVENT_TIMEOUT_S`.
        """
        await self.send(json.dumps({"type": "prompt", "prompt": prompt, **settings}))
        started = False
        while True:
            event = await self.receive()
            yield event
            started = started or event["type"] == "agent_start"
            if _is_last(event, started):
                return


async def ask_sse(agent_url: str, prompt: str, **settings: Any) -> AsyncGenerator[Event]:
    """`AgentSocket.ask` over `POST /invocations`: one prompt, one stream of events.

    Raises:
        AgentConnectionError: the agent cannot be reached, refuses, has gone, or was silent.
    """
    timeout = httpx.Timeout(EVENT_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    body = {"prompt": prompt, **settings}
    try:
        async with (
            httpx.AsyncClient(timeout=timeout, trust_env=False) as http,
            http.stream("POST", agent_url + "/invocations", json=body) as response,
        ):
            if response.status_code != 200:
                detail = (await response.aread()).decode(errors="replace")
                raise AgentConnectionError(f"the agent answered {response.status_code}: {detail}")
            started = False
            async for line in response.aiter_lines():
                if not line.startswith("data:"):
                    continue
                event: Event = json.loads(line.removeprefix("data:"))
                if event["type"] == "audio_chunk":
                    event = {"type": "audio", "data": base64.b64decode(event["data"])}
                yield event
                started = started or event["type"] == "agent_start"
                if _is_last(event, started):
                    return
    except httpx.ReadTimeout:
        raise _silent(EVENT_TIMEOUT_S) from None
    except httpx.TransportError as error:
        raise AgentConnectionError(f"the agent at {agent_url} is gone: {error!r}") from error
    raise AgentConnectionError("the agent ended its answer before agent_end")
