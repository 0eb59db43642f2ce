"""Both clients against servers that fail. Each failure has an exception of its own."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

from voice_agent_client import (
    AgentConnection,
    AgentEnd,
    AgentLostError,
    AgentRefusedError,
    AgentSilentError,
    AgentStart,
    AgentUnreachableError,
    Audio,
    ErrorEvent,
    Event,
    Interrupted,
    ask_sse,
)

START = {"type": "agent_start", "request_id": "1", "mode": "bidi"}
END = {"type": "agent_end", "request_id": "1", "metrics": {}}
NOWHERE = "http://127.0.0.1:9"

pytestmark = pytest.mark.timeout(20)


@asynccontextmanager
async def websocket_server(*frames: str | bytes, silent: bool = False) -> AsyncIterator[str]:
    """A server that answers every message with `frames`, then disconnects or is silent."""

    async def handle(ws: ServerConnection) -> None:
        async for message in ws:
            received.append(json.loads(message))
            for frame in frames:
                await ws.send(frame)
            if not silent:
                return

    received.clear()
    async with serve(handle, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


received: list[dict[str, object]] = []


@asynccontextmanager
async def http_server(answer: bytes, *, silent: bool = False) -> AsyncIterator[str]:
    """A server that answers every request with `answer`, then disconnects or is silent."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
        received.append(json.loads(await reader.readexactly(length)))
        writer.write(answer)
        await writer.drain()
        if silent:
            await reader.read()  # until the client leaves
        writer.close()

    received.clear()
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def response(*events: dict[str, object], status: str = "200 OK") -> bytes:
    data = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    return b"HTTP/1.1 " + status.encode() + b"\r\nconnection: close\r\n\r\n" + data


async def over_websocket(address: str, silence_timeout_s: float = 5.0) -> list[Event]:
    async with (
        AgentConnection(address, silence_timeout_s=silence_timeout_s) as agent,
        aclosing(agent.ask("Hello?", request_id="1", voice="af_heart")) as events,
    ):
        return [event async for event in events]


async def over_sse(address: str, silence_timeout_s: float = 5.0) -> list[Event]:
    asked = ask_sse(address, "Hello?", silence_timeout_s=silence_timeout_s, voice="af_heart")
    async with aclosing(asked) as events:
        return [event async for event in events]


async def test_a_websocket_carries_prompt_and_reply() -> None:
    frames = (json.dumps(START), b"\x01\x02", json.dumps(END))
    async with websocket_server(*frames) as url:
        events = await over_websocket(url)
        assert await over_websocket(url.replace("http", "ws") + "/ws") == events
    assert events[1] == Audio(data=b"\x01\x02")
    assert [type(event) for event in events] == [AgentStart, Audio, AgentEnd]
    asked = {"type": "prompt", "prompt": "Hello?", "request_id": "1", "voice": "af_heart"}
    assert received == [asked, asked]


async def test_an_interrupt_tells_what_was_played() -> None:
    answer = {"type": "interrupted", "request_id": "1", "heard_text": "One."}
    async with (
        websocket_server(json.dumps(answer)) as url,
        AgentConnection(url) as agent,
    ):
        await agent.interrupt(1.5)
        event = await agent.receive()
    assert isinstance(event, Interrupted)
    assert event.heard_text == "One."
    assert received == [{"type": "interrupt", "played_s": 1.5}]


async def test_the_rest_of_an_interrupted_reply_is_not_the_next_one() -> None:
    """Otherwise, every reply after an interruption would be the reply to the previous prompt."""
    old = [
        b"\x01\x02",
        {"type": "audio_stream_end", "request_id": "0", "total_chunks": 1, "duration_s": 0.1},
        {"type": "interrupted", "request_id": "0", "heard_text": ""},
        {"type": "agent_end", "request_id": "0", "metrics": {}},
    ]
    frames = [x if isinstance(x, bytes) else json.dumps(x) for x in [*old, START, b"\3\4", END]]
    async with websocket_server(*frames) as url:
        events = await over_websocket(url)
    assert [type(event) for event in events] == [AgentStart, Audio, AgentEnd]
    assert events[1] == Audio(data=b"\3\4")


@pytest.mark.parametrize("request_id", ["1", None])
async def test_a_refused_prompt_has_no_other_answer(request_id: str | None) -> None:
    refusal = {"type": "error", "request_id": request_id, "code": "busy", "message": "taken"}
    async with websocket_server(json.dumps(refusal), silent=True) as url:
        (event,) = await over_websocket(url)
    assert isinstance(event, ErrorEvent)


async def test_server_sent_events_carry_prompt_and_reply() -> None:
    chunk = {"type": "audio_chunk", "seq": 0, "data": "AQI="}
    async with http_server(response(START, chunk, END)) as url:
        events = await over_sse(url)
    assert events[1] == Audio(data=b"\x01\x02")
    assert [type(event) for event in events] == [AgentStart, Audio, AgentEnd]
    assert received == [{"prompt": "Hello?", "voice": "af_heart"}]


@pytest.mark.parametrize("ask", [over_websocket, over_sse])
async def test_nobody_there(ask: Callable) -> None:
    """Somebody with a wrong port in the address learns which one is usual."""
    with pytest.raises(AgentUnreachableError, match=r"agent at http://127\.0\.0\.1:9") as error:
        await ask(NOWHERE)
    advice = "; `make serve` starts the agent, on port 8080 unless PORT= names another one"
    assert str(error.value).endswith(advice)


async def test_a_refusal_has_its_status() -> None:
    """After 403, a user checks permissions; after 429, the user waits."""

    def refuse(connection: ServerConnection, _: Request) -> Response:
        return connection.respond(403, "no")

    async with serve(lambda _: asyncio.sleep(0), "127.0.0.1", 0, process_request=refuse) as server:
        with pytest.raises(AgentRefusedError, match="HTTP 403") as refused:
            await over_websocket(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert refused.value.status == 403
    async with http_server(response({"message": "slow down"}, status="429 Slow")) as url:
        with pytest.raises(AgentRefusedError, match=r"HTTP 429.*slow down") as refused:
            await over_sse(url)
    assert refused.value.status == 429


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('{"message": "not your runtime"}', "not your runtime"),
        ('{"Message": "not your runtime"}', "not your runtime"),
        ('{"error": "Invalid JSON", "details": "line 1"}', "Invalid JSON: line 1"),
        ('{"code": 7}', '{"code": 7}'),
        ("[1]", "[1]"),
        ("Forbidden\n", "Forbidden"),
    ],
)
async def test_a_refusal_shows_the_message_without_its_json(body: str, text: str) -> None:
    """Braces and quotation marks in the middle of a sentence hide what it says."""

    def refuse(connection: ServerConnection, _: Request) -> Response:
        return connection.respond(403, body)

    async with serve(lambda _: asyncio.sleep(0), "127.0.0.1", 0, process_request=refuse) as server:
        with pytest.raises(AgentRefusedError) as refused:
            await over_websocket(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    assert str(refused.value).endswith(f"HTTP 403: {text}")
    answer = b"HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n" + body.encode()
    async with http_server(answer) as url:
        with pytest.raises(AgentRefusedError) as refused:
            await over_sse(url)
    assert str(refused.value).endswith(f"HTTP 403: {text}")


async def test_an_answer_cut_off_is_no_reply() -> None:
    """A stream that ends without `agent_end` is incomplete."""
    async with websocket_server(json.dumps(START)) as url:
        with pytest.raises(AgentLostError, match="closed the connection"):
            await over_websocket(url)
    async with http_server(response(START)) as url:
        with pytest.raises(AgentLostError, match="agent_end"):
            await over_sse(url)


async def test_silence_is_not_waited_out() -> None:
    async with websocket_server(json.dumps(START), silent=True) as url:
        with pytest.raises(AgentSilentError, match=r"nothing for 0\.1 s"):
            await over_websocket(url, 0.1)
    async with http_server(response(START), silent=True) as url:
        with pytest.raises(AgentSilentError, match=r"nothing for 0\.1 s"):
            await over_sse(url, 0.1)


async def test_a_proxy_does_not_lead_to_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, NOWHERE)
    monkeypatch.setenv("no_proxy", "")
    async with websocket_server(json.dumps(START), json.dumps(END)) as url:
        assert len(await over_websocket(url)) == 2
    async with http_server(response(START, END)) as url:
        assert len(await over_sse(url)) == 2


async def test_a_connection_is_entered_first() -> None:
    with pytest.raises(RuntimeError, match="async with"):
        await AgentConnection(NOWHERE).receive()


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "ftp://x", ""])
async def test_what_is_no_address_is_named(address: str) -> None:
    with pytest.raises(ValueError, match="must begin with http://"):
        await over_websocket(address)
    with pytest.raises(ValueError, match="must begin with http://"):
        await over_sse(address)
