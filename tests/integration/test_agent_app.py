"""The agent process against the AWS stand-ins and a scripted container."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection

from local.bedrock.converse import BedrockConverse, Pace, run_bedrock
from local.sagemaker.router import SageMakerRouter, run_router
from local.sagemaker.settings import Endpoint, RouterSettings
from tests.scripted_container import Container, complete, run_container, speak, start
from voice_agent_client import (
    AgentConnection,
    AgentEnd,
    AgentStart,
    Audio,
    AudioStreamEnd,
    ErrorEvent,
    Event,
    Interrupted,
    Sentence,
    TextDelta,
    Words,
    ask_sse,
)

ROOT = Path(__file__).parents[2]
REPLY = "The first sentence is here. The second one follows it. And this is the third."
SESSION_HEADER = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
LIMIT_S = 30.0  # nothing here takes that long unless it hangs
START_LIMIT_S = 90.0  # importing takes a few seconds, more when the machine is busy

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]


class Agent:
    """A running agent and what it talks to."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        url: str,
        container: Container,
        router: SageMakerRouter,
        bedrock_url: str,
        log: Path,
    ) -> None:
        self.process = process
        self.url = url
        self.container = container
        self.router = router
        self.bedrock_url = bedrock_url
        self.log = log

    async def bedrock(self, route: str, body: dict[str, Any] | None = None) -> None:
        async with httpx.AsyncClient(base_url=self.bedrock_url, trust_env=False) as http:
            (await http.post(f"/local/{route}", json=body or {})).raise_for_status()

    @property
    def streams_opened(self) -> int:
        return self.router.counters["streams_opened"]

    async def bedrock_stats(self) -> dict[str, Any]:
        async with httpx.AsyncClient(base_url=self.bedrock_url, trust_env=False) as http:
            return (await http.get("/local/stats")).json()

    @asynccontextmanager
    async def socket(self) -> AsyncIterator[ClientConnection]:
        async with connect(self.url.replace("http", "ws") + "/ws", proxy=None) as ws:
            yield ws


def environment(**values: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "VOICE_AGENT_"))}
    return kept | {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.devnull} | values


async def start_agent(log: Path, **values: str) -> asyncio.subprocess.Process:
    with log.open("wb") as stderr:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "voice_agent", "--host", "127.0.0.1", "--port", "0"),
            cwd=ROOT / "agent",
            env=environment(**values),
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
        )


@asynccontextmanager
async def run_agent(folder: Path, **settings: str) -> AsyncIterator[Agent]:
    """The agent and all it talks to; ended by SIGTERM, with status 0 and no traceback."""
    bedrock = BedrockConverse(pace=Pace(first_token_s=0.01, tokens_per_s=500))
    async with run_container(speak) as container, run_bedrock(bedrock) as bedrock_port:
        router_settings = RouterSettings(
            tls_dir=folder / "tls",
            endpoints={"kokoro": Endpoint(url=container.url)},
            access_key_id="AKIATEST",
            secret_access_key="secret",
        )
        async with run_router(router_settings) as router:
            bedrock_url = f"http://127.0.0.1:{bedrock_port}"
            log = folder / "agent.log"
            process = await start_agent(
                log,
                AWS_REGION="us-east-1",
                AWS_ACCESS_KEY_ID="AKIATEST",
                AWS_SECRET_ACCESS_KEY="secret",
                AWS_CA_BUNDLE=str(router.ca_file),
                AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME=router.url,
                AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2=router.url,
                AWS_ENDPOINT_URL_BEDROCK_RUNTIME=bedrock_url,
                VOICE_AGENT_ENDPOINT_NAME="kokoro",
                **settings,
            )
            try:
                async with asyncio.timeout(START_LIMIT_S):
                    line = json.loads(await process.stdout.readline())
                url = f"http://127.0.0.1:{line['port']}"
                yield Agent(process, url, container, router, bedrock_url, log)
            finally:
                if process.returncode is None:
                    process.send_signal(signal.SIGTERM)
                async with asyncio.timeout(LIMIT_S):
                    await process.wait()
            assert process.returncode == 0
            assert "Traceback" not in log.read_text()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared_agent(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Agent]:
    async with run_agent(tmp_path_factory.mktemp("agent")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def agent(shared_agent: Agent) -> Agent:
    """The shared agent, with surroundings that remember nothing of the last test."""
    shared_agent.container.forget()
    shared_agent.container.behavior = speak
    await shared_agent.bedrock("release")
    await shared_agent.bedrock("script", {"text": REPLY})
    return shared_agent


@pytest.fixture
def own_agent(tmp_path: Path):
    """A function: settings in, an agent of the test's own out."""

    @asynccontextmanager
    async def run(**settings: str) -> AsyncIterator[Agent]:
        async with run_agent(tmp_path, **settings) as running:
            await running.bedrock("script", {"text": REPLY})
            async with asyncio.timeout(LIMIT_S):
                yield running

    return run


async def turn(socket: AgentConnection, prompt: str = "Hello?", **settings: Any) -> list[Event]:
    async with aclosing(socket.ask(prompt, **settings)) as events:
        return [event async for event in events]


async def until_agent_end(ws: ClientConnection) -> list[dict[str, Any]]:
    """The events as they are on the wire, audio left out."""
    events: list[dict[str, Any]] = []
    while not events or events[-1]["type"] != "agent_end":
        frame = await ws.recv()
        if isinstance(frame, str):
            events.append(json.loads(frame))
    return events


def kinds(events: list[Event]) -> list[str]:
    return [event.type for event in events]


async def test_a_turn_has_its_events_in_order(agent) -> None:
    """A client plays and shows by this order: start before audio, a sentence before its audio."""
    async with AgentConnection(agent.url) as socket:
        events = await turn(socket, request_id="first")
    assert {event.request_id for event in events if not isinstance(event, Audio)} == {"first"}
    written = [event for event in events if isinstance(event, TextDelta)]
    assert "".join(event.text for event in written) == REPLY
    assert [event.seq for event in written] == list(range(len(written)))
    spoken = [e for e in events if not isinstance(e, TextDelta | AgentStart | AgentEnd)]
    assert kinds(spoken) == (
        ["audio_stream_start"]
        + ["sentence", *["audio"] * 5] * 2
        + ["sentence", *["audio"] * 5, "audio_stream_end"]
    )
    sentences = [event for event in spoken if isinstance(event, Sentence)]
    assert " ".join(event.text for event in sentences) == REPLY
    starts = [event.start_s for event in sentences]
    assert starts[0] == 0
    assert starts == sorted(set(starts))
    audio_bytes = sum(len(event.data) for event in spoken if isinstance(event, Audio))
    assert isinstance(spoken[-1], AudioStreamEnd)
    assert spoken[-1].duration_s == audio_bytes / 48_000
    assert spoken[-1].total_chunks == 15
    assert kinds(events)[0] == "agent_start"
    assert isinstance(events[-1], AgentEnd)
    metrics = events[-1].metrics
    assert metrics.streams_opened == 1
    assert [sentence.text for sentence in metrics.sentences] == [event.text for event in sentences]
    assert metrics.ttft_s <= metrics.first_sentence_s <= metrics.ttfa_s <= metrics.total_s


async def test_words_have_their_times_in_the_replys_audio(agent) -> None:
    """Captions from the container count from each sentence's own zero: shown so, they run ahead."""

    async def timed(ws: ServerConnection, message: dict[str, object]) -> None:
        await start(ws, message["request_id"])
        for position, word in enumerate(str(message["text"]).split()):
            if message.get("timestamps"):
                start_s = position / 10
                words = [{"text": f"{word} ", "start_s": start_s, "end_s": start_s + 0.1}]
                event = {"type": "timing", "request_id": message["request_id"], "words": words}
                await ws.send(json.dumps(event))
            await ws.send(bytes(4800))  # 0.1 s
        await complete(ws, message["request_id"])

    agent.container.behavior = timed
    async with AgentConnection(agent.url) as socket:
        events = await turn(socket, timestamps=True)
        assert "words" not in kinds(await turn(socket))
    heard = [word for event in events if isinstance(event, Words) for word in event.words]
    assert "".join(word.text for word in heard).rstrip() == REPLY
    assert [round(word.start_s, 4) for word in heard] == [n / 10 for n in range(len(heard))]
    spoken = [kind for kind in kinds(events) if kind in ("sentence", "words", "audio")]
    assert spoken[:5] == ["sentence", "words", "audio", "words", "audio"]


BAD_FRAMES: list[tuple[str | bytes, str, str]] = [
    (b'{"type": "prompt", "prompt": "Hello?"}', "invalid", "binary"),
    (b"", "invalid", "binary"),
    ("", "invalid", "JSON"),
    ("Hello?", "invalid", "JSON"),
    ("[1]", "invalid", "object"),
    ('{"type": "sing"}', "invalid", "sing"),
    ('{"prompt": "Hello?"}', "invalid", "type"),
    ('{"type": "prompt", "prompt": "Hello?", "tempo": 3}', "invalid", "tempo"),
    ('{"type": "prompt"}', "invalid", "prompt"),
    ('{"type": "prompt", "prompt": ""}', "invalid", "prompt"),
    ('{"type": "prompt", "prompt": " \\n"}', "invalid", "prompt"),
    ('{"type": "prompt", "prompt": "Hello?", "speed": 9}', "invalid", "speed"),
    ('{"type": "prompt", "prompt": "Hello?", "speed": NaN}', "invalid", "JSON"),
    ('{"type": "prompt", "prompt": "Hello?", "request_id": "\\ud800"}', "invalid", "JSON"),
    (json.dumps({"type": "close", "k" * 100_000: 1}), "invalid", "unknown key"),
    ('{"type": "prompt", "prompt": "Hello?", "format": "mp3"}', "unsupported", "mp3"),
    (json.dumps({"type": "prompt", "prompt": "x" * (1 << 20)}), "too_long", "4000"),
    ('{"type": "interrupt", "played_s": -1}', "invalid", "played_s"),
    ('{"type": "interrupt", "played_s": 0}', "invalid", "no reply"),
]


async def test_bad_frames_are_answered_and_the_socket_lives(agent) -> None:
    """One bad frame must not cost a user the conversation, nor reach model or speech."""
    before = (await agent.bedrock_stats())["requests"]
    async with agent.socket() as ws:
        for frame, code, word in BAD_FRAMES:
            await ws.send(frame)
            event = json.loads(await ws.recv())
            assert (event["type"], event["code"]) == ("error", code), frame[:60]
            assert word in event["message"], (frame[:60], event["message"])
            assert len(event["message"]) < 300
        assert (await agent.bedrock_stats())["requests"] == before
        await ws.send('{"type": "prompt", "prompt": "Hello?"}')
        assert (await until_agent_end(ws))[0]["type"] == "agent_start"


async def test_bad_invocations_are_answered_as_events(agent) -> None:
    """AgentCore hides what a failed HTTP response says, so the reason must come in the stream."""
    async with httpx.AsyncClient(trust_env=False) as http:
        for body, word in [
            ({"prompt": "Hello?", "tempo": 3}, "tempo"),
            ({"prompt": ""}, "prompt"),
            ({"prompt": "Hello?", "format": "mp3"}, "mp3"),
            ([1], "object"),
        ]:
            response = await http.post(agent.url + "/invocations", json=body)
            assert response.status_code == 200
            (line,) = response.text.split("\n\n")[:-1]
            event = json.loads(line.removeprefix("data: "))
            assert event["type"] == "error"
            assert word in event["message"]


async def test_ping_answers_while_a_reply_runs(agent) -> None:
    """AgentCore takes an agent that does not answer /ping for dead; /ws shares its loop."""
    async with AgentConnection(agent.url) as socket:
        await agent.bedrock("hold")
        seen: list[Event] = []
        async with (
            httpx.AsyncClient(trust_env=False) as http,
            aclosing(socket.ask("Hello?")) as events,
        ):
            async for event in events:
                seen.append(event)
                if isinstance(event, Audio):
                    # The reply cannot end before the release, so this answer came during it.
                    answer = await http.get(agent.url + "/ping")
                    assert answer.status_code == 200
                    assert answer.json()["status"] in ("Healthy", "HealthyBusy")
                    await agent.bedrock("release")
        assert kinds(seen)[-1] == "agent_end"


async def test_a_prompt_during_a_reply_is_refused_and_the_reply_goes_on(agent) -> None:
    """Two replies into one pair of ears: neither is understood."""
    async with agent.socket() as ws:
        await agent.bedrock("hold")
        prompt = {"type": "prompt", "prompt": "Hello?"}
        await ws.send(json.dumps(prompt | {"request_id": "one"}))
        await ws.send(json.dumps(prompt | {"request_id": "two"}))
        events: list[dict[str, Any]] = []
        async for frame in ws:
            if isinstance(frame, str):
                events.append(json.loads(frame))
                if events[-1]["type"] == "error":
                    assert (events[-1]["request_id"], events[-1]["code"]) == ("two", "busy")
                    await agent.bedrock("release")
                if events[-1]["type"] == "agent_end":
                    break
        assert {e["request_id"] for e in events if e["type"] != "error"} == {"one"}
        assert [e["type"] for e in events].count("error") == 1


async def test_interrupt_stops_speech_and_model_and_keeps_what_was_heard(agent) -> None:
    """A model that believes it said everything refers to what the user never heard."""
    cancelled = asyncio.Event()

    async def endless(ws: ServerConnection, message: dict[str, object]) -> None:
        if message["type"] == "cancel":
            event = {"type": "cancelled", "request_id": "x", "sent_duration_s": 0.0}
            await ws.send(json.dumps(event))
            cancelled.set()
            return
        await start(ws, message["request_id"])
        await ws.send(bytes(48_000))  # one second a sentence
        if str(message["text"]).startswith("The second"):
            return  # and it never completes
        await complete(ws, message["request_id"])

    agent.container.behavior = endless
    before = agent.streams_opened
    async with agent.socket() as ws:
        await agent.bedrock("hold")
        prompt = {"type": "prompt", "prompt": "Hello?", "request_id": "one"}
        await ws.send(json.dumps(prompt))
        audio_bytes = 0
        events: list[dict[str, Any]] = []
        async for frame in ws:
            if isinstance(frame, bytes):
                audio_bytes += len(frame)
                if audio_bytes == 96_000:
                    await ws.send('{"type": "interrupt", "played_s": 1.5}')
                continue
            events.append(json.loads(frame))
            if events[-1]["type"] == "agent_end":
                break
        assert [e["type"] for e in events[-3:]] == ["audio_stream_end", "interrupted", "agent_end"]
        heard = "The first sentence is here. The second"
        assert events[-2]["heard_text"] == heard
        await cancelled.wait()
        # The model was stopped although it is held: nobody waits for its next token.
        await agent.bedrock("release")
        agent.container.behavior = speak
        await ws.send(json.dumps(prompt | {"request_id": "two"}))
        async for frame in ws:
            if isinstance(frame, str) and json.loads(frame)["type"] == "agent_end":
                break
        stats = await agent.bedrock_stats()
        assert stats["last_message_count"] == 3  # prompt, what was heard, prompt
        assert agent.streams_opened == before + 1


async def test_an_interrupt_right_behind_its_prompt_finds_it(agent) -> None:
    """Two frames in one packet: a reply that has not begun when the interrupt is read goes on.

    Nor may forgetting a reply that was never heard take the turn before it along.
    """
    async with agent.socket() as ws:
        await ws.send('{"type": "prompt", "prompt": "Hello?"}')
        await until_agent_end(ws)
        await agent.bedrock("hold")
        for n in range(20):
            prompt = {"type": "prompt", "prompt": "Hello?", "request_id": str(n)}
            await ws.send(json.dumps(prompt))
            await ws.send('{"type": "interrupt", "played_s": 0}')
            seen = await until_agent_end(ws)
            assert seen[0]["type"] == "agent_start"
            assert [event["type"] for event in seen][-2:] == ["interrupted", "agent_end"]
            assert {event["request_id"] for event in seen} == {str(n)}
        await agent.bedrock("release")
        await ws.send('{"type": "prompt", "prompt": "Hello?"}')
        await until_agent_end(ws)
        assert (await agent.bedrock_stats())["last_message_count"] == 3


async def test_interrupt_after_the_last_audio_was_sent(agent) -> None:
    """Audio arrives faster than it plays: the listener breaks in after agent_end."""
    async with AgentConnection(agent.url) as socket:
        events = await turn(socket)
        duration_s = next(e for e in events if isinstance(e, AudioStreamEnd)).duration_s
        for played_s, heard in [(duration_s, REPLY), (0.0, "")]:
            await socket.interrupt(played_s)
            event = await socket.receive()
            assert isinstance(event, Interrupted)
            assert event.heard_text == heard
            assert event.request_id == events[0].request_id
        await turn(socket)
        assert (await agent.bedrock_stats())["last_message_count"] == 1


async def test_close_ends_the_conversation_even_in_a_reply(agent) -> None:
    """A client that says goodbye gets a clean close, not the rest of the reply or an error."""
    await agent.bedrock("hold")
    async with agent.socket() as ws:
        await ws.send('{"type": "prompt", "prompt": "Hello?"}')
        while not isinstance(await ws.recv(), bytes):
            continue
        await ws.send('{"type": "close"}')
        await ws.wait_closed()
        assert ws.close_code == 1000
    assert agent.container.received[-1] == {"type": "close"}


@asynccontextmanager
async def listening(agent: Agent, transport: str) -> AsyncIterator[None]:
    """A client that has asked and heard the first audio, and leaves."""
    if transport == "ws":
        async with agent.socket() as ws:
            await ws.send('{"type": "prompt", "prompt": "Hello?"}')
            while not isinstance(await ws.recv(), bytes):
                continue
            yield
    else:
        async with aclosing(ask_sse(agent.url, "Hello?")) as events:
            while not isinstance(await anext(events), Audio):
                continue
            yield


@pytest.mark.parametrize("transport", ["ws", "sse"])
async def test_a_client_that_leaves_stops_its_reply(agent, transport: str) -> None:
    """Speech and model run on for nobody, at a price, when a browser tab is closed."""

    async def never_complete(ws: ServerConnection, message: dict[str, object]) -> None:
        if message["type"] == "speak":
            await start(ws, message["request_id"])
            await ws.send(bytes(4800))

    agent.container.behavior = never_complete
    await agent.bedrock("hold")
    async with listening(agent, transport):
        (connection,) = agent.container.connections
    await connection.wait_closed()  # the speech session is closed, so the turn is over
    assert [m["type"] for m in agent.container.received[-2:]] == ["cancel", "close"]
    await agent.bedrock("release")
    agent.container.behavior = speak
    async with AgentConnection(agent.url) as socket:
        assert kinds(await turn(socket))[-1] == "agent_end"


async def test_invocations_of_one_session_share_stream_and_history(agent) -> None:
    """AgentCore's session is the conversation: a stream a prompt would forget and reconnect."""
    before = agent.streams_opened
    async with httpx.AsyncClient(trust_env=False) as http:
        header = {SESSION_HEADER: "s" * 40}
        for n in range(3):
            url = agent.url + "/invocations"
            body = {"prompt": "Hello?"}
            answer = await http.post(url, json=body, headers=header, timeout=LIMIT_S)
            events = [json.loads(e.removeprefix("data: ")) for e in answer.text.split("\n\n")[:-1]]
            assert events[-1]["type"] == "agent_end"
            assert events[-1]["metrics"]["streams_opened"] == 1
            assert (await agent.bedrock_stats())["last_message_count"] == 2 * n + 1
        assert agent.streams_opened == before + 1
        async with aclosing(ask_sse(agent.url, "Hello?")) as events:
            assert [event async for event in events][-1].type == "agent_end"
        assert (await agent.bedrock_stats())["last_message_count"] == 1
        assert agent.streams_opened == before + 2


async def test_an_idle_session_is_closed(own_agent) -> None:
    """A stream held for a listener who never comes back takes another's place on the endpoint."""
    async with own_agent(VOICE_AGENT_CONVERSATION_IDLE_S="0.2") as agent:
        header = {SESSION_HEADER: "s" * 40}
        async with httpx.AsyncClient(trust_env=False) as http:
            url = agent.url + "/invocations"
            await http.post(url, json={"prompt": "Hello?"}, headers=header, timeout=LIMIT_S)
        (connection,) = agent.container.connections
        await connection.wait_closed()
        assert agent.container.received[-1] == {"type": "close"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agent_for_one(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Agent]:
    """An agent that holds one conversation at a time."""
    folder = tmp_path_factory.mktemp("agent-for-one")
    async with run_agent(folder, VOICE_AGENT_MAX_CONVERSATIONS="1") as running:
        await running.bedrock("script", {"text": REPLY})
        yield running


@asynccontextmanager
async def invocation(agent: Agent, session: str | None) -> AsyncIterator[AsyncIterator[Event]]:
    """The events of one `/invocations` request, with or without a session."""
    headers = {SESSION_HEADER: session} if session else {}
    async with (
        httpx.AsyncClient(trust_env=False, timeout=LIMIT_S) as http,
        http.stream(
            "POST", agent.url + "/invocations", json={"prompt": "Hello?"}, headers=headers
        ) as response,
    ):
        lines = response.aiter_lines()
        yield (json.loads(line.removeprefix("data: ")) async for line in lines if line)


@asynccontextmanager
async def conversing(agent: Agent, caller: str) -> AsyncIterator[None]:
    """A conversation that is in use, by the end of which its place is free again."""
    if caller == "socket":
        async with agent.socket() as ws:
            await ws.send("no message")
            await ws.recv()  # the connection is being served
            yield
            await ws.send('{"type": "close"}')
            await ws.wait_closed()
    else:
        await agent.bedrock("hold")
        async with invocation(agent, caller if caller == "session" else None) as events:
            assert (await anext(events))["type"] == "agent_start"
            yield
            await agent.bedrock("release")
            assert [event["type"] async for event in events][-1] == "agent_end"


CALLERS = ["socket", "session", "single prompt"]


@pytest.mark.parametrize("newcomer", CALLERS)
@pytest.mark.parametrize("holder", CALLERS)
async def test_the_limit_holds_over_all_transports(
    agent_for_one: Agent, holder: str, newcomer: str
) -> None:
    """Counted apart, sockets, sessions and single prompts could be three times the limit."""
    async with conversing(agent_for_one, holder):
        if newcomer == "socket":
            async with agent_for_one.socket() as ws:
                refusal = json.loads(await ws.recv())
                await ws.wait_closed()
                assert ws.close_code == 1013
        else:
            session = "another session" if newcomer == "session" else None
            async with invocation(agent_for_one, session) as events:
                (refusal,) = [event async for event in events]
    assert (refusal["type"], refusal["code"]) == ("error", "busy")


@pytest.mark.parametrize("newcomer", CALLERS)
async def test_an_idle_session_gives_way_to_any_transport(
    agent_for_one: Agent, newcomer: str
) -> None:
    """A session that nobody returns to would lock out everybody for the idle time."""
    async with invocation(agent_for_one, "idle session") as events:
        assert [event["type"] async for event in events][-1] == "agent_end"
    async with conversing(agent_for_one, newcomer):
        pass


async def test_the_language_may_be_set(own_agent) -> None:
    """A voice of unknown language, such as a mix, would be split by English rules."""
    async with own_agent(VOICE_AGENT_LANGUAGE="de") as agent:
        await agent.bedrock("script", {"text": "Wir fahren am 3. Mai. Bis dann."})
        async with AgentConnection(agent.url) as socket:
            await turn(socket)
        spoken = [message["text"] for message in agent.container.received if "text" in message]
        assert spoken == ["Wir fahren am 3. Mai.", "Bis dann."]


@pytest.mark.parametrize(("asked", "spoken"), [({}, 1.5), ({"speed": 0.8}, 0.8)])
async def test_the_speed_may_be_set(own_agent, asked: dict[str, float], spoken: float) -> None:
    async with own_agent(VOICE_AGENT_SPEED="1.5") as agent:
        async with AgentConnection(agent.url) as socket:
            await turn(socket, **asked)
        speeds = {message["speed"] for message in agent.container.received if "text" in message}
        assert speeds == {spoken}


async def test_a_browser_is_sent_to_the_page(own_agent) -> None:
    """Whoever opened the address that `make demo` prints for the agent read "Not Found"."""
    page = "http://127.0.0.1:8082"
    async with (
        own_agent(VOICE_AGENT_PAGE_URL=page) as agent,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        answer = await http.get(agent.url)
        assert (answer.status_code, answer.headers["location"]) == (307, page)
        assert (await http.get(agent.url + "/ping")).status_code == 200


async def test_bedrock_breaking_off_is_reported_and_the_next_turn_works(agent) -> None:
    """Half a reply that ends without an error passes for the whole of it."""
    async with AgentConnection(agent.url) as socket:
        await agent.bedrock("script", {"text": REPLY, "error_after_tokens": 4})
        events = await turn(socket)
        (error,) = [event for event in events if isinstance(event, ErrorEvent)]
        assert error.code == "bedrock"
        assert "Bedrock" in error.message
        assert kinds(events)[-1] == "agent_end"
        await agent.bedrock("script", {"text": REPLY})
        assert "error" not in kinds(await turn(socket))
        assert (await agent.bedrock_stats())["last_message_count"] in (1, 3)


async def test_a_sentence_without_words_is_not_sent(agent) -> None:
    """The container refuses text it cannot read; an emoji must not end the turn."""
    async with AgentConnection(agent.url) as socket:
        await agent.bedrock("script", {"text": "Well done! 😊🎉 See you soon."})
        events = await turn(socket)
        assert "error" not in kinds(events)
        # The cancel after every turn may have arrived, too.
        spoken = [m for m in agent.container.received if m["type"] != "cancel"]
        assert len(spoken) == 2
        assert all(any(c.isalnum() for c in str(message["text"])) for message in spoken)


async def test_each_sentence_is_sent_as_a_sentence(agent) -> None:
    """Without it, the speech server splits again what the chunker kept together."""
    async with AgentConnection(agent.url) as socket:
        await turn(socket)
    spoken = [message for message in agent.container.received if "text" in message]
    assert [message["sentence"] for message in spoken] == [True] * 3


async def test_thoughts_reach_nobody(agent) -> None:
    """Nova and other models write them as text: they were read aloud, tags included."""
    thought = "<thinking>The caller sounds angry. I will stall.</thinking>\n\n"
    await agent.bedrock("script", {"text": thought + REPLY})
    async with AgentConnection(agent.url) as socket:
        events = await turn(socket)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == REPLY
    sentences = [event.text for event in events if isinstance(event, Sentence)]
    assert " ".join(sentences) == REPLY
    assert "stall" not in str(agent.container.received)
    assert events[-1].stop_reason == "end_turn"


async def test_a_reply_that_is_cut_off_says_so(agent) -> None:
    """A reply that ended at the token limit in mid-sentence looked like any other."""
    script = {"text": "All is quiet. Then the", "stop_reason": "max_tokens"}
    await agent.bedrock("script", script)
    async with AgentConnection(agent.url) as socket:
        events = await turn(socket)
    assert [event.text for event in events if isinstance(event, Sentence)] == [
        "All is quiet.",
        "Then the",
    ]
    assert "error" not in kinds(events)
    assert events[-1].stop_reason == "max_tokens"


async def test_a_silent_reply_can_be_told_from_a_spoken_one(agent) -> None:
    """A client that waits for audio after such a reply waits for ever."""
    await agent.bedrock("script", {"text": "😊🎉"})
    async with AgentConnection(agent.url) as socket:
        events = await turn(socket)
    assert set(kinds(events)) == {"agent_start", "text_delta", "agent_end"}
    assert events[-1].metrics.audio_s == 0
    assert events[-1].stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("reply", "messages"), [("😊🎉", 3), ("---", 3), ("<thinking>Only this.</thinking>", 1)]
)
async def test_a_silent_reply_leaves_its_prompt_in_the_conversation(
    agent, reply: str, messages: int
) -> None:
    """The model forgot what the caller had said, if its reply had nothing to say.

    A reply of thoughts is no message, so the two prompts are one.
    """
    async with AgentConnection(agent.url) as socket:
        await agent.bedrock("script", {"text": reply})
        await turn(socket)
        await agent.bedrock("script", {"text": REPLY})
        assert any(isinstance(event, Sentence) for event in await turn(socket))
        assert (await agent.bedrock_stats())["last_message_count"] == messages
        await turn(socket)
        assert (await agent.bedrock_stats())["last_message_count"] == messages + 2


async def test_words_without_a_sound_are_named_at_the_end(agent) -> None:
    """A client cannot show what was left out, if only the speech server knows it."""

    async def speak_but_one(ws: ServerConnection, message: dict[str, object]) -> None:
        if message["type"] == "cancel":
            return
        await start(ws, message["request_id"])
        await ws.send(b"sound ")
        await complete(ws, message["request_id"], unspoken=[str(message["text"]).split()[-1]])

    agent.container.behavior = speak_but_one
    async with AgentConnection(agent.url) as socket:
        events = await turn(socket)
    assert len(events[-1].unspoken) == 3
    assert " ".join(REPLY.split()).endswith(events[-1].unspoken[-1])


async def test_sentences_end_as_they_do_in_the_voices_language(agent) -> None:
    """By English rules a Japanese reply is one sentence, spoken only when it is all written."""
    await agent.bedrock("script", {"text": "港の朝は早い。船が出て行く。"})
    async with AgentConnection(agent.url) as socket:
        await turn(socket, voice="jf_alpha")
    spoken = [message["text"] for message in agent.container.received if "text" in message]
    assert spoken == ["港の朝は早い。", "船が出て行く。"]


async def test_the_first_chunk_may_be_a_clause(own_agent) -> None:
    """The setting is for replies that begin with a long sentence: it must reach the chunker."""
    text = "When the tide turns in the evening, the boats come home. Then all is quiet."
    async with own_agent(VOICE_AGENT_FIRST_CHUNK="clause") as agent:
        await agent.bedrock("script", {"text": text})
        async with AgentConnection(agent.url) as socket:
            await turn(socket)
        spoken = [message["text"] for message in agent.container.received if "text" in message]
        assert spoken[0] == "When the tide turns in the evening,"
        assert " ".join(spoken) == text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_during_a_reply_ends_the_agent_cleanly(own_agent, number) -> None:
    """A deploy stops agents that are speaking: status 0, sessions closed, no traceback."""
    async with own_agent() as agent, agent.socket() as ws:
        await agent.bedrock("hold")
        await ws.send('{"type": "prompt", "prompt": "Hello?"}')
        async for frame in ws:
            if isinstance(frame, bytes):
                break
        agent.process.send_signal(number)
        await agent.process.wait()
        (connection,) = agent.container.connections
        await connection.wait_closed()
        assert agent.container.received[-1] == {"type": "close"}


async def test_a_wrong_setting_is_named_and_nothing_starts(tmp_path: Path) -> None:
    """A misspelt setting that is ignored is found out weeks later."""
    log = tmp_path / "agent.log"
    process = await start_agent(
        log, AWS_REGION="us-east-1", VOICE_AGENT_ENDPOINT_NAME="kokoro", VOICE_AGENT_VOYCE="x"
    )
    async with asyncio.timeout(START_LIMIT_S):
        output, _ = await process.communicate()
    assert (process.returncode, output) == (2, b"")
    assert "VOICE_AGENT_VOYCE" in log.read_text()
    assert "Traceback" not in log.read_text()
