"""The whole path: prompt in, speech out, every part a process, the real model throughout."""

import asyncio
import ssl
from contextlib import aclosing

import httpx
import pytest
import pytest_asyncio

from local.agent_client import AgentConnectionError, AgentSocket, Event, ask_sse
from local.supervisor import Stack

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

FAST = ["--first-token-s", "0.05", "--tokens-per-s", "200"]
REPLY = "The harbor wakes early. Boats leave the bay at dawn. White birds follow them home."
PROMPT = "Tell me about the harbor."
REPORTED_WITHIN_S = 5.0  # the limit for a dead part


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack():
    async with Stack(print, bedrock_arguments=FAST) as running:
        await bedrock(running, "script", {"text": REPLY})
        yield running


async def bedrock(stack: Stack, route: str, body: dict | None = None) -> None:
    async with httpx.AsyncClient(base_url=stack.addresses.bedrock_url) as http:
        (await http.post(f"/local/{route}", json=body or {})).raise_for_status()


async def streams_opened(stack: Stack) -> tuple[int, int]:
    """At the router and at the container."""
    where = stack.addresses
    tls = ssl.create_default_context(cafile=where.ca_file)
    async with httpx.AsyncClient(verify=tls) as http:
        router = (await http.get(where.sagemaker_url + "/local/stats")).json()
        container = (await http.get(where.container_url + "/stats")).json()
    return router["streams_opened"], container["streams_opened"]


def ask(stack: Stack, transport: str, socket: AgentSocket | None = None, **settings: str):
    if transport == "sse":
        return ask_sse(stack.addresses.agent_url, PROMPT, **settings)
    assert socket is not None
    return socket.ask(PROMPT, **settings)


async def whole_turn(events) -> list[Event]:
    async with aclosing(events):
        return [event async for event in events]


def kinds(events: list[Event]) -> list[str]:
    return [event["type"] for event in events]


def written(events: list[Event]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "text_delta")


def spoken_bytes(events: list[Event]) -> int:
    return sum(len(event["data"]) for event in events if event["type"] == "audio")


@pytest.mark.parametrize("transport", ["ws", "sse"])
async def test_speech_comes_before_the_last_word_is_written(stack: Stack, transport: str) -> None:
    """The product's promise: a path that waits for the whole reply never gets past the hold."""
    await bedrock(stack, "hold")
    try:
        async with AgentSocket(stack.addresses.agent_url) as socket:
            events = ask(stack, transport, socket)
            heard: list[Event] = []
            written_by_first_audio: str | None = None
            async with aclosing(events), asyncio.timeout(60):
                async for event in events:
                    heard.append(event)
                    if event["type"] == "audio" and written_by_first_audio is None:
                        written_by_first_audio = written(heard)
                        await bedrock(stack, "release")
    finally:
        await bedrock(stack, "release")
    assert written_by_first_audio is not None
    assert len(written_by_first_audio) < len(written(heard))
    assert kinds(heard)[-1] == "agent_end"
    assert "error" not in kinds(heard)


@pytest.mark.parametrize("mode", ["bidi", "batch"])
async def test_both_transports_carry_the_same_reply(stack: Stack, mode: str) -> None:
    """A transport that loses, repeats or reorders audio or text shows up against the other."""
    async with AgentSocket(stack.addresses.agent_url) as socket:
        over_ws = await whole_turn(ask(stack, "ws", socket, mode=mode))
    over_sse = await whole_turn(ask(stack, "sse", mode=mode))
    for events in (over_ws, over_sse):
        assert "error" not in kinds(events)
        assert kinds(events)[0] == "agent_start"
        assert events[0]["mode"] == mode
        assert kinds(events).count("audio_stream_start") == 1
        end = next(event for event in events if event["type"] == "audio_stream_end")
        assert end["duration_s"] == pytest.approx(spoken_bytes(events) / 48000, abs=0.01)
    assert b"".join(e["data"] for e in over_ws if e["type"] == "audio") == b"".join(
        e["data"] for e in over_sse if e["type"] == "audio"
    )


async def test_three_turns_share_one_stream(stack: Stack) -> None:
    """A client that opens a stream a turn (or a sentence) pays the handshake each time."""
    router, container = await streams_opened(stack)
    async with AgentSocket(stack.addresses.agent_url) as socket:
        for _ in range(3):
            events = await whole_turn(ask(stack, "ws", socket))
            assert spoken_bytes(events) > 0
            assert events[-1]["metrics"]["streams_opened"] == 1
    assert await streams_opened(stack) == (router + 1, container + 1)


PARTS = {
    "container": ("speech_container", "container"),
    "sagemaker": ("speech_connection", "SageMaker"),
    "bedrock": ("bedrock", "Bedrock"),
}


@pytest.mark.parametrize("transport", ["ws", "sse"])
@pytest.mark.parametrize("name", PARTS)
async def test_a_part_killed_mid_reply_is_named_and_the_next_turn_works(
    stack: Stack, name: str, transport: str
) -> None:
    """A lost part must not look like a finished reply, hang the turn, or break the conversation."""
    code, word = PARTS[name]
    part = stack.parts[name]
    await bedrock(stack, "hold")
    async with AgentSocket(stack.addresses.agent_url) as socket:
        heard: list[Event] = []
        killed = False
        events = ask(stack, transport, socket)
        async with aclosing(events), asyncio.timeout(60) as limit:
            async for event in events:
                heard.append(event)
                if event["type"] == "audio" and not killed:
                    killed = True
                    part.kill()
                    limit.reschedule(asyncio.get_running_loop().time() + REPORTED_WITHIN_S)
        errors = [event for event in heard if event["type"] == "error"]
        assert [error["code"] for error in errors] == [code]
        assert word in errors[0]["message"]
        assert "Traceback" not in str(heard)
        assert kinds(heard)[-1] == "agent_end"

        await part.wait()
        await part.start()
        await stack.ready(name)
        await bedrock(stack, "release")
        await bedrock(stack, "script", {"text": REPLY})
        again = await whole_turn(ask(stack, transport, socket))
        assert "error" not in kinds(again)
        assert spoken_bytes(again) > 0


async def test_a_part_that_is_down_before_the_turn_is_named_too(stack: Stack) -> None:
    """Opening a stream fails in another place than losing one."""
    part = stack.parts["container"]
    part.kill()
    await part.wait()
    async with AgentSocket(stack.addresses.agent_url) as socket:
        async with asyncio.timeout(30):
            events = await whole_turn(ask(stack, "ws", socket))
        errors = [event for event in events if event["type"] == "error"]
        assert [error["code"] for error in errors] == ["speech_container"]
        await part.start()
        await stack.ready("container")
        assert spoken_bytes(await whole_turn(ask(stack, "ws", socket))) > 0


@pytest.mark.parametrize("transport", ["ws", "sse"])
async def test_a_killed_agent_is_reported_by_the_client(stack: Stack, transport: str) -> None:
    """A client that takes a lost connection for the end of the reply hides the failure."""
    agent = stack.parts["agent"]
    try:
        with pytest.raises(AgentConnectionError, match="agent"):
            async with AgentSocket(stack.addresses.agent_url) as socket:
                events = ask(stack, transport, socket)
                async with aclosing(events), asyncio.timeout(60):
                    async for event in events:
                        if event["type"] == "audio":
                            agent.kill()
    finally:
        await agent.wait()
        await agent.start()
        await stack.ready("agent")
    assert spoken_bytes(await whole_turn(ask(stack, "sse"))) > 0


async def test_bad_requests_leave_the_conversation_open(stack: Stack) -> None:
    """An unknown voice is found out by the container, deep in a turn; the socket must live on."""
    async with AgentSocket(stack.addresses.agent_url) as socket:
        wrong = await whole_turn(ask(stack, "ws", socket, voice="nobody"))
        errors = [event for event in wrong if event["type"] == "error"]
        assert errors
        assert "nobody" in errors[0]["message"]
        assert "af_heart" in errors[0]["message"]
        assert spoken_bytes(await whole_turn(ask(stack, "ws", socket))) > 0


@pytest.mark.parametrize("transport", ["ws", "sse"])
async def test_a_refused_prompt_is_answered_and_over(stack: Stack, transport: str) -> None:
    """A refusal starts no reply: a client that waits for `agent_end` waits for ever."""
    async with AgentSocket(stack.addresses.agent_url) as socket, asyncio.timeout(10):
        refused = await whole_turn(ask(stack, transport, socket, tempo="fast"))
        assert kinds(refused) == ["error"]
        assert "tempo" in refused[0]["message"]
