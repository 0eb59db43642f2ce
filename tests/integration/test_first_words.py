"""The whole path: prompt in, speech out, every process started, the real model throughout."""

import asyncio
import ssl
from contextlib import aclosing

import httpx
import pytest
import pytest_asyncio

from local.supervisor import Supervisor
from voice_agent_client import (
    AgentConnection,
    AgentEnd,
    AgentLostError,
    AgentStart,
    Audio,
    AudioStreamEnd,
    ErrorEvent,
    Event,
    TextDelta,
    ask_sse,
)

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

REPLY = "The harbor wakes early. Boats leave at dawn. Birds follow them."
AFTERWARDS = "The boats are in. All is well."
PROMPT = "Tell me about the harbor."
REPORTED_WITHIN_S = 5.0  # the limit for a dead process


@pytest_asyncio.fixture(loop_scope="session")
async def local(path: Supervisor) -> Supervisor:
    await bedrock(path, "release")
    await bedrock(path, "script", {"text": REPLY})
    return path


async def bedrock(local: Supervisor, route: str, body: dict | None = None) -> None:
    async with httpx.AsyncClient(base_url=local.addresses.bedrock_url) as http:
        (await http.post(f"/local/{route}", json=body or {})).raise_for_status()


async def streams_opened(local: Supervisor) -> tuple[int, int]:
    """At the router and at the container."""
    where = local.addresses
    tls = ssl.create_default_context(cafile=where.ca_file)
    async with httpx.AsyncClient(verify=tls) as http:
        router = (await http.get(where.sagemaker_url + "/local/stats")).json()
        container = (await http.get(where.container_url + "/stats")).json()
    return router["streams_opened"], container["streams_opened"]


def ask(local: Supervisor, transport: str, agent: AgentConnection | None = None, **settings: str):
    if transport == "sse":
        return ask_sse(local.addresses.agent_url, PROMPT, **settings)
    assert agent is not None
    return agent.ask(PROMPT, **settings)


async def whole_turn(events) -> list[Event]:
    async with aclosing(events):
        return [event async for event in events]


def kinds(events: list[Event]) -> list[str]:
    return [event.type for event in events]


def written(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def spoken(events: list[Event]) -> bytes:
    return b"".join(event.data for event in events if isinstance(event, Audio))


def errors_in(events: list[Event]) -> list[ErrorEvent]:
    return [event for event in events if isinstance(event, ErrorEvent)]


def spoken_bytes(events: list[Event]) -> int:
    return len(spoken(events))


@pytest.mark.parametrize("transport", ["ws", "sse"])
async def test_speech_comes_before_the_last_word_is_written(
    local: Supervisor, transport: str
) -> None:
    """The product's promise: a path that waits for the whole reply never gets past the hold."""
    await bedrock(local, "hold")
    try:
        async with AgentConnection(local.addresses.agent_url) as agent:
            events = ask(local, transport, agent)
            heard: list[Event] = []
            written_by_first_audio: str | None = None
            async with aclosing(events), asyncio.timeout(60):
                async for event in events:
                    heard.append(event)
                    if isinstance(event, Audio) and written_by_first_audio is None:
                        written_by_first_audio = written(heard)
                        await bedrock(local, "release")
    finally:
        await bedrock(local, "release")
    assert written_by_first_audio is not None
    assert len(written_by_first_audio) < len(written(heard))
    assert kinds(heard)[-1] == "agent_end"
    assert "error" not in kinds(heard)


@pytest.mark.parametrize("mode", ["bidi", "batch"])
async def test_both_transports_carry_the_same_reply(local: Supervisor, mode: str) -> None:
    """A transport that loses, repeats or reorders audio or text shows up against the other."""
    async with AgentConnection(local.addresses.agent_url) as agent:
        over_ws = await whole_turn(ask(local, "ws", agent, mode=mode))
    over_sse = await whole_turn(ask(local, "sse", mode=mode))
    for events in (over_ws, over_sse):
        assert "error" not in kinds(events)
        assert isinstance(events[0], AgentStart)
        assert events[0].mode == mode
        assert kinds(events).count("audio_stream_start") == 1
        end = next(event for event in events if isinstance(event, AudioStreamEnd))
        assert end.duration_s == pytest.approx(spoken_bytes(events) / 48000, abs=0.01)
    assert spoken(over_ws) == spoken(over_sse)


async def test_three_turns_share_one_stream(local: Supervisor) -> None:
    """A client that opens a stream a turn (or a sentence) pays the handshake each time."""
    await bedrock(local, "script", {"text": AFTERWARDS})
    router, container = await streams_opened(local)
    async with AgentConnection(local.addresses.agent_url) as agent:
        for _ in range(3):
            events = await whole_turn(ask(local, "ws", agent))
            assert spoken_bytes(events) > 0
            assert isinstance(events[-1], AgentEnd)
            assert events[-1].metrics.streams_opened == 1
            assert len(events[-1].metrics.sentences) == 2
    assert await streams_opened(local) == (router + 1, container + 1)


BLAMED = {
    "container": ("speech_container", "container"),
    "sagemaker": ("speech_connection", "SageMaker"),
    "bedrock": ("bedrock", "Bedrock"),
}


@pytest.mark.parametrize("transport", ["ws", "sse"])
@pytest.mark.parametrize("name", BLAMED)
async def test_a_process_killed_mid_reply_is_named_and_the_next_turn_works(
    local: Supervisor, name: str, transport: str
) -> None:
    """A loss must not look like a finished reply, hang the turn, or break the conversation.

    Nor may a container that is down before the turn: opening a stream fails in another place than
    losing one.
    """
    code, word = BLAMED[name]
    process = local.processes[name]
    await bedrock(local, "hold")
    async with (
        AgentConnection(local.addresses.agent_url) as agent,
        AgentConnection(local.addresses.agent_url) as newcomer,
    ):
        heard: list[Event] = []
        killed = False
        events = ask(local, transport, agent)
        async with aclosing(events), asyncio.timeout(60) as limit:
            async for event in events:
                heard.append(event)
                if isinstance(event, Audio) and not killed:
                    killed = True
                    process.kill()
                    limit.reschedule(asyncio.get_running_loop().time() + REPORTED_WITHIN_S)
        errors = errors_in(heard)
        assert [error.code for error in errors] == [code]
        assert word in errors[0].message
        assert "Traceback" not in str(heard)
        assert kinds(heard)[-1] == "agent_end"

        await process.wait()
        if name == "container":
            await bedrock(local, "release")
            async with asyncio.timeout(30):
                down = await whole_turn(ask(local, transport, newcomer))
            assert [error.code for error in errors_in(down)] == [code]
            assert kinds(down)[-1] == "agent_end"

        await process.start()
        await local.ready(name)
        await bedrock(local, "release")
        await bedrock(local, "script", {"text": AFTERWARDS})
        for connection in (agent, newcomer):
            again = await whole_turn(ask(local, transport, connection))
            assert "error" not in kinds(again)
            assert spoken_bytes(again) > 0


@pytest.mark.parametrize("transport", ["ws", "sse"])
async def test_a_killed_agent_is_reported_by_the_client(local: Supervisor, transport: str) -> None:
    """A client that takes a lost connection for the end of the reply hides the failure."""
    process = local.processes["agent"]
    await bedrock(local, "hold")  # so that the reply cannot end before the agent is killed
    try:
        with pytest.raises(AgentLostError, match="agent"):
            async with AgentConnection(local.addresses.agent_url) as agent:
                events = ask(local, transport, agent)
                async with aclosing(events), asyncio.timeout(60):
                    async for event in events:
                        if isinstance(event, Audio):
                            process.kill()
    finally:
        await process.wait()
        await process.start()
        await local.ready("agent")
        await bedrock(local, "release")
        await bedrock(local, "script", {"text": AFTERWARDS})
    assert spoken_bytes(await whole_turn(ask(local, "sse"))) > 0


async def test_bad_requests_leave_the_conversation_open(local: Supervisor) -> None:
    """An unknown voice is found out by the container, deep in a turn; the socket must live on."""
    async with AgentConnection(local.addresses.agent_url) as agent:
        wrong = await whole_turn(ask(local, "ws", agent, voice="nobody"))
        errors = errors_in(wrong)
        assert errors
        assert "nobody" in errors[0].message
        assert "af_heart" in errors[0].message
        assert spoken_bytes(await whole_turn(ask(local, "ws", agent))) > 0


@pytest.mark.parametrize("transport", ["ws", "sse"])
async def test_a_refused_prompt_is_answered_and_over(local: Supervisor, transport: str) -> None:
    """A refusal starts no reply: a client that waits for `agent_end` waits for ever."""
    async with AgentConnection(local.addresses.agent_url) as agent, asyncio.timeout(10):
        refused = await whole_turn(ask(local, transport, agent, tempo="fast"))
        assert kinds(refused) == ["error"]
        assert "tempo" in errors_in(refused)[0].message
