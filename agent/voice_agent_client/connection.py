"""The client of the agent's WebSocket."""

import asyncio
import json
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Self, Unpack

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConcurrencyError,
    ConnectionClosed,
    InvalidHandshake,
    InvalidStatus,
)

from voice_agent_client.addresses import Address, websocket_request
from voice_agent_client.errors import (
    AgentLostError,
    AgentRefusedError,
    AgentSilentError,
    AgentUnreachableError,
    http_error_text,
)
from voice_agent_client.protocol import Audio, Event, PromptSettings, Reply, parse_event

CONNECT_TIMEOUT_S = 10.0
SILENCE_TIMEOUT_S = 120.0
_MAX_FRAME_BYTES = 1 << 20


class AgentConnection:
    """A conversation with the agent: one prompt after another over one WebSocket.

    Use it with `async with`. The exceptions below are raised on entering the context.

    Args:
        address: The agent's address.
        connect_timeout_s: Time limit in seconds for connecting. A cold start of AgentCore takes
            longer than the default.
        silence_timeout_s: The longest time without data from the agent, in seconds.

    Raises:
        ValueError: The address has an unsupported scheme.
        AgentUnreachableError: Nothing accepts the connection, or `ca_file` cannot be read.
        AgentRefusedError: The agent or AgentCore refuses the caller.
        botocore.exceptions.BotoCoreError: There are no credentials to sign with.
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
            reason = http_error_text(error.response.body or b"")
            if not reason and request.is_loopback:
                reason = (
                    "check the port and the path; `make serve` has the agent's WebSocket on port "
                    "8080, at /ws"
                )
            message = f"{self._name}: {error}" + (f": {reason}" if reason else "")
            raise AgentRefusedError(message, status) from error
        except (OSError, InvalidHandshake) as error:  # TimeoutError is an OSError
            reason = str(error) or type(error).__name__
            raise AgentUnreachableError(
                f"cannot connect to {self._name}: {reason}; {request.advice}"
            ) from error
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._socket is not None:
            await self._socket.close()

    async def ask(
        self, prompt: str, *, request_id: str | None = None, **settings: Unpack[PromptSettings]
    ) -> AsyncGenerator[Event]:
        """Send a prompt and yield the events of its reply, up to its `AgentEnd`.

        If the agent refuses the prompt, the only event is an `ErrorEvent`. Leaving the iteration
        early does not stop the reply; to stop it, call `interrupt` or close the connection. Events
        that are left over from an earlier reply are skipped.

        Args:
            prompt: What the user says.
            request_id: Identifies the reply in its events; None for a new id.
            **settings: How the reply is spoken; see `PromptSettings`.

        Raises:
            AgentLostError: The connection ended.
            AgentSilentError: The agent sent nothing for the silence time-out.
            AgentProtocolError: The agent sent data that is not an event.
            RuntimeError: Another `ask` is running on this connection.
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
        """Stop the reply that the listener is hearing.

        The agent sends an `Interrupted` event, even if the reply's `AgentEnd` has arrived already.

        Args:
            played_s: Seconds of the reply's audio that the listener has heard.

        Raises:
            AgentLostError: The connection ended.
        """
        await self._send({"type": "interrupt", "played_s": played_s})

    async def receive(self) -> Event:
        """Return the next event of any reply. Use `ask` to get the events of one reply.

        Raises:
            AgentError: See `ask`.
            RuntimeError: Another task is waiting for an event of this connection.
        """
        try:
            async with asyncio.timeout(self._silence_timeout_s):
                frame = await self._entered().recv()
        except ConnectionClosed as error:
            raise self._lost(error) from error
        except ConcurrencyError:
            raise RuntimeError(
                "another reply is being read from this connection; read it to its end first, or "
                "open another connection"
            ) from None
        except TimeoutError:
            seconds = f"{self._silence_timeout_s:g} s"
            raise AgentSilentError(
                f"{self._name} sent nothing for {seconds}; read the agent's log"
            ) from None
        return Audio(data=frame) if isinstance(frame, bytes) else parse_event(frame)

    async def _send(self, message: dict[str, Any]) -> None:
        try:
            await self._entered().send(json.dumps(message))
        except ConnectionClosed as error:
            raise self._lost(error) from error

    def _lost(self, error: ConnectionClosed) -> AgentLostError:
        return AgentLostError(
            f"{self._name} closed the connection before the reply was complete: {error}"
        )

    def _entered(self) -> ClientConnection:
        if self._socket is None:
            raise RuntimeError(
                "the connection is not open; use `async with AgentConnection(…) as agent`"
            )
        return self._socket


async def ask_ws(
    address: Address,
    prompt: str,
    *,
    connect_timeout_s: float = CONNECT_TIMEOUT_S,
    silence_timeout_s: float = SILENCE_TIMEOUT_S,
    **settings: Unpack[PromptSettings],
) -> AsyncGenerator[Event]:
    """Send one prompt over a new WebSocket and yield the events of its reply.

    The arguments and exceptions are the same as those of `ask_sse`.
    """
    async with (
        AgentConnection(
            address, connect_timeout_s=connect_timeout_s, silence_timeout_s=silence_timeout_s
        ) as agent,
        aclosing(agent.ask(prompt, **settings)) as events,
    ):
        async for event in events:
            yield event
