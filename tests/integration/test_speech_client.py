"""The speech client over the official SDK and the SageMaker stand-in, against scripted containers.

The containers are real WebSocket servers that do on purpose what the real one does rarely: go
away, break off, stay silent, send more than anybody reads.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection

from local.sagemaker.router import SageMakerRouter, run_router
from local.sagemaker.settings import Endpoint, RouterSettings
from speech_client.endpoint import SpeechEndpoint
from speech_client.errors import (
    SpeechConnectionError,
    SpeechContainerError,
    SpeechInputError,
    SpeechTimeoutError,
)
from speech_client.protocol import (
    Audio,
    Cancelled,
    SynthesisComplete,
    SynthesisStart,
    Timing,
)
from speech_client.session import MAX_WAITING_EVENTS, SpeechSession, Utterance
from speech_client.transport import RECEIVE_WINDOW_BYTES
from tests.scripted_container import Behavior, Container, complete, run_container, speak, start


class Setup:
    def __init__(self, container: Container, router: SageMakerRouter, endpoint: SpeechEndpoint):
        self.container = container
        self.router = router
        self.endpoint = endpoint


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIATEST",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, credentials: None):
    """A function: behavior in, container, router and endpoint out; nothing survives the block."""

    @asynccontextmanager
    async def run(behavior: Behavior = speak, **endpoint_options: float) -> AsyncIterator[Setup]:
        before = asyncio.all_tasks()
        async with run_container(behavior) as container:
            settings = RouterSettings(
                tls_dir=tmp_path / "tls",
                endpoints={
                    "kokoro": Endpoint(url=container.url),
                    "unlabelled": Endpoint(url=container.url, bidirectional=False),
                    "dead": Endpoint(url=f"http://127.0.0.1:{unused_port()}"),
                },
                access_key_id="AKIATEST",
                secret_access_key="secret",
            )
            async with run_router(settings) as router:
                monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2", router.url)
                endpoint = make_endpoint(router, **endpoint_options)
                try:
                    yield Setup(container, router, endpoint)
                finally:
                    await endpoint.close()
        left = [t for t in asyncio.all_tasks() - before if not t.done()]
        # asyncio.timeout leaves nothing, and callbacks of the last tasks run at the next turn.
        await asyncio.sleep(0)
        assert [t for t in left if not t.done() and "h2" in t.get_name()] == []
        assert [t.get_name() for t in left if not t.done() and "speech" in t.get_name()] == []

    return run


def make_endpoint(router: SageMakerRouter, name: str = "kokoro", **options: float):
    return SpeechEndpoint(name, region="us-east-1", ca_file=str(router.ca_file), **options)


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


async def audio_of(utterance: Utterance) -> list[bytes]:
    return [event.data async for event in utterance if isinstance(event, Audio)]


async def test_pipelined_sentences_are_answered_in_order_over_one_stream(running) -> None:
    """A client that waits for each answer, or opens a stream a sentence, is the slow one."""
    async with running() as setup, SpeechSession(setup.endpoint) as session:
        utterances = [await session.speak(f"one two {n}", f"t.{n}") for n in range(20)]
        events = [event async for event in utterances[0]]
        assert isinstance(events[0], SynthesisStart)
        assert isinstance(events[-1], SynthesisComplete)
        for n, utterance in enumerate(utterances[1:], 1):
            assert await audio_of(utterance) == [b"one", b"two", str(n).encode()]
        assert session.streams_opened == 1
        assert setup.router.counters["streams_opened"] == 1
        assert [m["request_id"] for m in setup.container.received] == [f"t.{n}" for n in range(20)]


async def test_words_times_come_in_their_place_and_only_when_asked_for(running) -> None:
    """Word times that overtake their audio, or are asked of every utterance, mark wrong words."""

    async def timed(ws: ServerConnection, message: dict[str, object]) -> None:
        assert message.get("granularity") == "sentence"
        await start(ws, message["request_id"])
        for start_s, word in enumerate(str(message["text"]).split()):
            if message.get("timestamps"):
                words = [{"text": word, "start_s": start_s, "end_s": start_s + 1}]
                event = {"type": "timing", "request_id": message["request_id"], "words": words}
                await ws.send(json.dumps(event))
            await ws.send(word.encode())
        await complete(ws, message["request_id"])

    async with running(timed) as setup, SpeechSession(setup.endpoint) as session:
        for timestamps in (True, False):
            utterance = await session.speak(
                "Two words.", "r", granularity="sentence", timestamps=timestamps
            )
            heard = [
                event.data if isinstance(event, Audio) else event.words[0].text
                async for event in utterance
                if isinstance(event, Timing | Audio)
            ]
            told = ["Two", b"Two", "words.", b"words."]
            assert heard == (told if timestamps else [b"Two", b"words."])


async def test_a_warning_is_logged_once_in_a_session(running, caplog) -> None:
    """Nobody notices a voice of the wrong language; a line for each sentence hides other lines."""

    async def warn(ws: ServerConnection, message: dict[str, object]) -> None:
        if message["type"] == "speak":
            await start(ws, message["request_id"], warning="the voice speaks English")
            await complete(ws, message["request_id"])

    async with running(warn) as setup, SpeechSession(setup.endpoint) as session:
        for n in range(3):
            assert await audio_of(await session.speak("Hola a todos.", f"t.{n}")) == []
    logged = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert logged == ["speech container: the voice speaks English"]


async def test_the_socket_has_nodelay_set(running) -> None:
    """Nagle's algorithm with delayed acknowledgements costs 40 ms a sentence."""
    async with running() as setup, SpeechSession(setup.endpoint) as session:
        await session.open()
        (exchange,) = setup.endpoint._transport._exchanges
        connection = exchange._writer.get_extra_info("socket")
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


async def test_the_request_side_stays_open_until_the_container_has_closed(running) -> None:
    """Half-closing earlier makes SageMaker tear the session down before the audio is there."""
    async with running() as setup:
        session = SpeechSession(setup.endpoint)
        utterance = await session.speak("one two", "t.0")
        assert await audio_of(utterance) == [b"one", b"two"]
        await session.close()
        assert setup.container.received[-1] == {"type": "close"}
        assert setup.container.connections[0].close_code == 1000


async def test_a_lost_connection_raises(running) -> None:
    """The SDK's other transport reports a lost connection as a clean end: half a sentence."""

    async def never_end(ws: ServerConnection, message: dict[str, object]) -> None:
        await start(ws, message["request_id"])
        await ws.send(b"half")

    async with running(never_end) as setup, SpeechSession(setup.endpoint) as session:
        utterance = await session.speak("half a sentence", "t.0")
        with pytest.raises(SpeechConnectionError, match="SageMaker"):
            async for event in utterance:
                if isinstance(event, Audio):
                    await setup.router.stop()


async def test_after_a_loss_the_next_sentence_opens_a_new_stream(running, monkeypatch) -> None:
    """A session that keeps its dead stream fails every turn until the process is restarted."""
    broken: list[bool] = []

    async def break_off_once(ws: ServerConnection, message: dict[str, object]) -> None:
        if broken:
            await speak(ws, message)
        else:
            broken.append(True)
            ws.transport.abort()

    async with running(break_off_once) as setup, SpeechSession(setup.endpoint) as session:
        first = await session.speak("one", "t.0")
        with pytest.raises(SpeechContainerError, match="container"):
            await audio_of(first)
        second = await session.speak("two", "t.1")
        assert await audio_of(second) == [b"two"]
        assert session.streams_opened == 2


@pytest.mark.parametrize("code", [1000, 1011])
async def test_an_utterance_is_whole_only_when_its_completion_has_arrived(running, code) -> None:
    """A container that closes cleanly in the middle must not pass for one that has finished."""

    async def close_early(ws: ServerConnection, message: dict[str, object]) -> None:
        await start(ws, message["request_id"])
        await ws.send(b"half")
        await ws.close(code, "out of memory" if code == 1011 else "")

    async with running(close_early) as setup, SpeechSession(setup.endpoint) as session:
        utterance = await session.speak("half a sentence", "t.0")
        with pytest.raises(SpeechContainerError, match="container"):
            await audio_of(utterance)


async def test_going_away_moves_between_sentences(running) -> None:
    """What is in flight finishes on the old stream, what follows goes to a new one: no gap."""

    async def leave(ws: ServerConnection, message: dict[str, object]) -> None:
        if message["text"] == "first":
            away = {"type": "going_away", "reason": "shutdown", "deadline_s": 25.0}
            await ws.send(json.dumps(away))
        await start(ws, message["request_id"])
        if message["text"] == "first":
            await setup.release.wait()
        await ws.send(str(message["text"]).encode())
        await complete(ws, message["request_id"])

    async with running(leave) as setup, SpeechSession(setup.endpoint) as session:
        setup.release = asyncio.Event()
        first = await session.speak("first", "t.0")
        assert isinstance(await anext(first), SynthesisStart)  # so going_away has arrived
        second = await session.speak("second", "t.1")
        assert await audio_of(second) == [b"second"]
        setup.release.set()
        assert await audio_of(first) == [b"first"]
        assert session.streams_opened == 2
        assert len(setup.container.connections) == 2


async def test_cancel_ends_every_utterance_and_the_session_goes_on(running) -> None:
    """A cancel that only stops reading leaves the container speaking to nobody."""
    waiting: list[object] = []

    async def hold(ws: ServerConnection, message: dict[str, object]) -> None:
        if message["type"] == "cancel":
            for request_id in waiting:
                event = {"type": "cancelled", "request_id": request_id, "sent_duration_s": 0.0}
                await ws.send(json.dumps(event))
        elif message["text"] == "held":
            waiting.append(message["request_id"])
        else:
            await speak(ws, message)

    async with running(hold) as setup, SpeechSession(setup.endpoint) as session:
        held = [await session.speak("held", f"t.{n}") for n in range(3)]
        await session.cancel()
        for utterance in held:
            events = [event async for event in utterance]
            assert [type(event) for event in events] == [Cancelled]
        assert await audio_of(await session.speak("again", "t.9")) == [b"again"]
        assert session.streams_opened == 1


async def test_cancel_is_told_when_all_audio_was_sent(running) -> None:
    """Audio arrives faster than it plays. A container that does not learn of the barge-in believes
    that its listener is still busy, and lets others go before the next reply."""
    cancelled = asyncio.Event()

    async def note(ws: ServerConnection, message: dict[str, object]) -> None:
        if message["type"] == "cancel":
            cancelled.set()
        else:
            await speak(ws, message)

    async with running(note) as setup, SpeechSession(setup.endpoint) as session:
        assert await audio_of(await session.speak("spoken", "t.0")) == [b"spoken"]
        await session.cancel()
        async with asyncio.timeout(10):
            await cancelled.wait()


async def test_a_refused_request_does_not_touch_the_others(running) -> None:
    """An unknown voice is the caller's mistake, not the container's failure."""

    async def refuse(ws: ServerConnection, message: dict[str, object]) -> None:
        if message.get("voice") == "nobody":
            error = {"type": "error", "request_id": message["request_id"]}
            await ws.send(json.dumps(error | {"code": "unknown_voice", "message": "no 'nobody'"}))
        else:
            await speak(ws, message)

    async with running(refuse) as setup, SpeechSession(setup.endpoint) as session:
        wrong = await session.speak("one", "t.0", voice="nobody")
        right = await session.speak("two", "t.1", voice="af_heart")
        with pytest.raises(SpeechInputError, match="nobody") as caught:
            await audio_of(wrong)
        assert caught.value.code == "unknown_voice"
        assert await audio_of(right) == [b"two"]
        with pytest.raises(SpeechInputError, match="text"):
            await session.speak("  ", "t.2")


async def test_nobody_reading_stops_the_container_not_the_memory(running) -> None:
    """Without back-pressure a listener who pauses makes the agent hold the whole reply."""
    frames = 4000
    sent = 0

    async def pour(ws: ServerConnection, message: dict[str, object]) -> None:
        nonlocal sent
        await start(ws, message["request_id"])
        for _ in range(frames):
            await ws.send(bytes(16_384))
            sent += 1
        await complete(ws, message["request_id"])

    async with running(pour) as setup, SpeechSession(setup.endpoint) as session:
        utterance = await session.speak("pour", "t.0")
        (exchange,) = setup.endpoint._transport._exchanges
        async with asyncio.timeout(60):
            while len(exchange._received) < RECEIVE_WINDOW_BYTES - 16_384:  # noqa: ASYNC110
                await asyncio.sleep(0.01)  # there is no event for a full buffer
        assert len(exchange._received) <= RECEIVE_WINDOW_BYTES
        assert sent < frames
        assert sum(len(part) for part in await audio_of(utterance)) == frames * 16_384


async def test_an_abandoned_utterance_does_not_hold_up_the_next(running) -> None:
    """An interrupted turn stops reading; the audio that still comes must go nowhere."""

    async def pour(ws: ServerConnection, message: dict[str, object]) -> None:
        await start(ws, message["request_id"])
        for _ in range(500 if message["text"] == "pour" else 1):
            await ws.send(bytes(16_384))
        await complete(ws, message["request_id"])

    async with running(pour) as setup, SpeechSession(setup.endpoint) as session:
        first = await session.speak("pour", "t.0")
        await anext(first)
        first.discard()
        assert len(await audio_of(await session.speak("next", "t.1"))) == 1


async def test_a_cancelled_send_leaves_the_signature_chain_whole(running) -> None:
    """Each event signs the one before: one that is signed and not sent breaks all that follow.

    What was asked for by a caller who has gone must not hold up the stream either.
    """
    reading = asyncio.Event()

    async def read_later(ws: ServerConnection, message: dict[str, object]) -> None:
        await reading.wait()
        await start(ws, message["request_id"])
        for _ in range(2 * MAX_WAITING_EVENTS):
            await ws.send(b"..")
        await complete(ws, message["request_id"])

    async with running(read_later) as setup, SpeechSession(setup.endpoint) as session:
        blocked = False
        for n in range(200):
            try:
                async with asyncio.timeout(0.5):
                    (await session.speak("x" * 200_000, f"t.{n}")).discard()
            except TimeoutError:
                blocked = True
                break
        assert blocked
        reading.set()
        audio = await audio_of(await session.speak("still here", "last"))
        assert len(audio) == 2 * MAX_WAITING_EVENTS
        assert session.streams_opened == 1


async def test_silence_is_reported(running) -> None:
    """A container that hangs must not hang the turn."""

    async def say_nothing(ws: ServerConnection, message: dict[str, object]) -> None:
        pass

    async with (
        running(say_nothing) as setup,
        SpeechSession(setup.endpoint, silence_timeout_s=0.2) as session,
    ):
        utterance = await session.speak("hello", "t.0")
        with pytest.raises(SpeechTimeoutError, match="SageMaker runtime or speech container"):
            await audio_of(utterance)


async def test_opening_says_which_part_is_down(running) -> None:
    """'It does not work' is no error message: the runtime, the container and the name differ."""
    async with running() as setup:
        dead = make_endpoint(setup.router, "dead")
        with pytest.raises(SpeechContainerError, match="container"):
            await dead.open_stream()
        for name in ("missing", "unlabelled"):
            with pytest.raises(SpeechInputError, match=name):
                await make_endpoint(setup.router, name).open_stream()
        await setup.router.stop()
        with pytest.raises(SpeechConnectionError, match="SageMaker"):
            await setup.endpoint.open_stream()


async def test_an_untrusted_server_is_refused(running) -> None:
    """Audio and prompts go over this connection: the authority must be the one that was named."""
    async with running():
        endpoint = SpeechEndpoint("kokoro", region="us-east-1")
        with pytest.raises(SpeechConnectionError, match=r"(?i)certificate"):
            await endpoint.open_stream()


async def test_a_server_that_never_answers_is_reported(credentials, monkeypatch) -> None:
    """On port 443 the real service accepts the connection and then says nothing at all."""
    accepted: list[asyncio.StreamWriter] = []

    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.append(writer)
        await reader.read()
        writer.close()

    async with await asyncio.start_server(swallow, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2", url)
        endpoint = SpeechEndpoint("kokoro", region="us-east-1", open_timeout_s=0.3)
        with pytest.raises(SpeechTimeoutError, match="within"):
            await endpoint.open_stream()
        assert accepted
        await endpoint.close()

        # With TLS it is the connection that does not come about.
        monkeypatch.setenv("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2", f"https://127.0.0.1:{port}")
        endpoint = SpeechEndpoint("kokoro", region="us-east-1", connect_timeout_s=0.3)
        with pytest.raises(SpeechConnectionError, match=f"127.0.0.1:{port}: no connection within"):
            await endpoint.open_stream()
        await endpoint.close()


async def test_missing_credentials_are_an_error_not_a_hang(running, monkeypatch) -> None:
    """The SDK waits for ever for a request it could not sign."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    async with running() as setup:
        with pytest.raises(SpeechConnectionError, match=r"(?i)credentials"):
            await setup.endpoint.open_stream()


async def test_credentials_that_have_rotated_are_used_for_the_next_stream(running) -> None:
    """A role's keys last an hour or so; a process that keeps the first ones dies with them."""

    class Rotating:
        access_key = "AKIATEST"
        token = None

        def __init__(self) -> None:
            self.secrets = iter(["old", "secret"])

        def get_credentials(self) -> "Rotating":
            return self

        def get_frozen_credentials(self) -> "Rotating":
            self.secret_key = next(self.secrets)
            return self

    async with running() as setup:
        endpoint = SpeechEndpoint(
            "kokoro",
            region="us-east-1",
            ca_file=str(setup.router.ca_file),
            session=Rotating(),  # type: ignore[arg-type]
        )
        with pytest.raises(SpeechConnectionError):
            await endpoint.open_stream()
        stream = await endpoint.open_stream()
        await stream.close()
        await endpoint.close()


async def test_the_public_address_has_the_streaming_port(monkeypatch, credentials) -> None:
    """The SDK's own default is port 443, where the call hangs without an error."""
    monkeypatch.delenv("AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2", raising=False)
    endpoint = SpeechEndpoint("kokoro", region="eu-west-1")
    client = await endpoint._get_client()
    uri = client._config.endpoint_uri
    assert uri == "https://runtime.sagemaker.eu-west-1.amazonaws.com:8443"
