"""A conversation with the agent over its WebSocket."""

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Self, Unpack

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from voice_agent_client.addresses import Address, websocket_request
from voice_agent_client.errors import (
    AgentLostError,
    AgentRefusedError,
    AgentSilentError,
    AgentUnreachableError,
)
from voice_agent_client.protocol import Audio, Event, PromptSettings, Reply, parse_event

CONNECT_TIMEOUT_S = 10.0
SILENCE_TIMEOUT_S = 120.0
_MAX_FRAME_BYTES = 1 << 20


class AgentConnection:
    """One conversation: many prompts, one after the other. Use it as `async with`.

    Args:
        address: Where the agent is.
        connect_timeout_s: For connecting, in seconds; a cold start of AgentCore takes longer than
            the default.
        silence_timeout_s: How many seconds the agent may send nothing while it is waited for.

    Raises:
        ValueError: On entering: the address is not one.
        AgentUnreachableError: On entering: nothing accepts the connection.
        AgentRefusedError: On entering: the caller is refused.
        botocore.exceptions.BotoCoreError: On entering: there are no credentials to sign with.
    """

    def __init__(
        self,
        address: Address,
        *,
        connect_timeout_s: float = CONNECT_TIMEOUT_S,
        silence_timeout_s: float = SILENCE_TIMEOUT_S,
    ) -> None:
        self._address = address
        self._connect_timeout_s = connect_timeout_s
        self._silence_timeout_s = silence_timeout_s
        self._name = ""
        self._socket: ClientConnection | None = None

    async def __aenter__(self) -> Self:
        request = await asyncio.to_thread(websocket_request, self._address)
        self._name = request.name
        tls: dict[str, Any] = {} if request.tls is None else {"ssl": request.tls}
        try:
            self._socket = await connect(
                request.url,
                additional_headers=request.headers,
                open_timeout=self._connect_timeout_s,
                max_size=_MAX_FRAME_BYTES,
                proxy=None if request.is_loopback else True,
                **tls,
            )
        except InvalidStatus as error:
            status = error.response.status_code
            raise AgentRefusedError(f"{self._name}: {error}", status) from error
        except (OSError, InvalidHandshake) as error:  # TimeoutError is an OSError
            raise AgentUnreachableError(f"cannot connect to {self._name}: {error}") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._socket is not None:
            await self._socket.close()

    async def ask(
        self, prompt: str, *, request_id: str | None = None, **settings: Unpack[PromptSettings]
    ) -> AsyncGenerator[Event]:
        """Send a prompt and yield the events of its reply, to its `AgentEnd`.

        A prompt that the agent refuses is answered with an `ErrorEvent` alone. Leaving early does
        not stop the reply: `interrupt` does, or leaving the connection. What is still to come of
        an earlier reply is skipped.

        Args:
            prompt: What the user says.
            request_id: Names the reply in its events; None for a new id.
            **settings: How the reply is spoken; see `PromptSettings`.

        Raises:
            AgentLostError: The connection ended.
            AgentSilentError: The agent sent nothing for the silence time-out.
            AgentProtocolError: The agent sent something that is not an event.
        """
        request_id = request_id or uuid.uuid4().hex
        message = {"type": "prompt", "prompt": prompt, "request_id": request_id}
        await self._send({**settings, **message})
        reply = Reply(request_id)
        while not reply.ended:
            event = await self.receive()
            if reply.takes(event):
                yield event

    async def interrupt(self, played_s: float) -> None:
        """Stop the reply: the listener broke in after `played_s` seconds of its audio.

        The agent answers with `Interrupted`, also to an interruption after `AgentEnd`.

        Raises:
            AgentLostError: The connection ended.
        """
        await self._send({"type": "interrupt", "played_s": played_s})

    async def receive(self) -> Event:
        """Return the next event, whatever it answers; `ask` is what a reply needs.

        Raises:
            AgentError: As `ask` does.
        """
        try:
            async with asyncio.timeout(self._silence_timeout_s):
                frame = await self._entered().recv()
        except ConnectionClosed as error:
            raise AgentLostError(f"{self._name} closed the connection: {error}") from error
        except TimeoutError:
            seconds = f"{self._silence_timeout_s:g} s"
            raise AgentSilentError(f"{self._name} sent nothing for {seconds}") from None
        return Audio(data=frame) if isinstance(frame, bytes) else parse_event(frame)

    async def _send(self, message: dict[str, Any]) -> None:
        try:
            await self._entered().send(json.dumps(message))
        except ConnectionClosed as error:
            raise AgentLostError(f"{self._name} closed the connection: {error}") from error

    def _entered(self) -> ClientConnection:
        if self._socket is None:
            raise RuntimeError("an AgentConnection is used as `async with AgentConnection(…)`")
        return self._socket


async def ask_ws(
    address: Address,
    prompt: str,
    *,
    connect_timeout_s: float = CONNECT_TIMEOUT_S,
    silence_timeout_s: float = SILENCE_TIMEOUT_S,
    **settings: Unpack[PromptSettings],
) -> AsyncGenerator[Event]:
    """Ask one prompt over a WebSocket of its own; otherwise as `ask_sse`."""
    async with (
        AgentConnection(
            address, connect_timeout_s=connect_timeout_s, silence_timeout_s=silence_timeout_s
        ) as agent,
        aclosing(agent.ask(prompt, **settings)) as events,
    ):
        async for event in events:
            yield event
