"""One prompt to the agent, answered with server-sent events."""

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
    """Ask one prompt over `POST /invocations` and yield the events of its reply.

    Prompts to one `AgentCore` address share a conversation. Leaving early stops the reply; leave
    through `contextlib.aclosing`, so that this is at once.

    Args:
        address: Where the agent is; not a WebSocket's URL.
        prompt: What the user says.
        connect_timeout_s: For connecting, in seconds.
        silence_timeout_s: How many seconds the agent may send nothing.
        **settings: How the reply is spoken; see `PromptSettings`.

    Raises:
        ValueError: The address is not one.
        AgentError, botocore.exceptions.BotoCoreError: As `AgentConnection` and its `ask` do.
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
                detail = (await response.aread()).decode(errors="replace")
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
        raise AgentSilentError(f"{request.name} sent nothing for {silence_timeout_s:g} s") from None
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        raise AgentUnreachableError(f"cannot connect to {request.name}: {error!r}") from error
    except httpx.TransportError as error:
        raise AgentLostError(f"{request.name} is gone: {error!r}") from error
    raise AgentLostError(f"{request.name} ended its answer before agent_end")
