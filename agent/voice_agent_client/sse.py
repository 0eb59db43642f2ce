"""A single prompt to the agent, which is answered with server-sent events."""

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Unpack

import httpx

from voice_agent_client.addresses import Address, invocations_request
from voice_agent_client.connection import CONNECT_TIMEOUT_S, SILENCE_TIMEOUT_S
from voice_agent_client.errors import (
    AgentLostError,
    AgentRefusedError,
    AgentSilentError,
    AgentUnreachableError,
    http_error_text,
)
from voice_agent_client.protocol import Event, PromptSettings, Reply, SseDecoder


async def ask_sse(
    address: Address,
    prompt: str,
    *,
    connect_timeout_s: float = CONNECT_TIMEOUT_S,
    silence_timeout_s: float = SILENCE_TIMEOUT_S,
    **settings: Unpack[PromptSettings],
) -> AsyncGenerator[Event]:
    """Send one prompt to `POST /invocations` and yield the events of its reply.

    Prompts to the same `AgentCore` address share a conversation. Leaving the iteration early stops
    the reply. Use `contextlib.aclosing` to stop it immediately.

    Args:
        address: The agent's address, but not the URL of a WebSocket.
        prompt: What the user says.
        connect_timeout_s: Time limit in seconds for connecting.
        silence_timeout_s: Seconds without data from the agent after which waiting fails.
        **settings: How the reply is spoken; see `PromptSettings`.

    Raises:
        ValueError: The address has an unsupported scheme.
        AgentError, botocore.exceptions.BotoCoreError: The same errors as in `AgentConnection` and
            its `ask`.
    """
    body = json.dumps({"prompt": prompt, **settings}).encode()
    request = await asyncio.to_thread(invocations_request, address, body)
    decoder, reply = SseDecoder(), Reply()
    try:
        async with (
            httpx.AsyncClient(
                timeout=httpx.Timeout(silence_timeout_s, connect=connect_timeout_s),
                trust_env=not request.is_loopback,
                verify=request.tls or True,
            ) as http,
            http.stream("POST", request.url, content=body, headers=request.headers) as response,
        ):
            if response.status_code != 200:
                kind = response.headers.get("x-amzn-errortype", "").partition(":")[0]
                detail = http_error_text(await response.aread())
                answer = ": ".join(filter(None, (f"HTTP {response.status_code}", kind, detail)))
                message = f"{request.name} answered {answer}"
                raise AgentRefusedError(message, response.status_code)
            async for chunk in response.aiter_bytes():
                for event in decoder.feed(chunk):
                    if reply.takes(event):
                        yield event
                    if reply.ended:
                        return
    except httpx.ReadTimeout:
        raise AgentSilentError(
            f"{request.name} sent nothing for {silence_timeout_s:g} s; read the agent's log"
        ) from None
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise AgentUnreachableError(
            f"cannot connect to {request.name}: {str(error) or type(error).__name__}; "
            f"{request.advice}"
        ) from error
    except httpx.TransportError as error:
        raise AgentLostError(
            f"{request.name} closed the connection before the reply was complete: "
            f"{str(error) or type(error).__name__}"
        ) from error
    raise AgentLostError(
        f"{request.name} closed the connection before the reply was complete: agent_end is missing"
    )
