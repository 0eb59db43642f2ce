"""Admission, failures and back-pressure of the server, without the model's work."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from kokoro_server.admission import Demand
from kokoro_server.app import SpeechApp
from kokoro_server.http_server import listen, make_http_server
from kokoro_server.messages import Granularity
from kokoro_server.scheduler import Listener
from kokoro_server.settings import Settings
from kokoro_server.synthesis import Part, Speech
from kokoro_voice.voices import Voice, Voices

STREAM = "/invocations-bidirectional-stream"


def new_app(ready: bool = True, max_sessions: int = 8) -> SpeechApp:
    """A server whose model was never loaded; `ready` makes it believe otherwise."""
    settings = Settings(model_dir=Path("unused"), threads=1, max_sessions=max_sessions)
    speech = Speech(settings.model_dir, settings.threads)
    speech.ready = ready
    return SpeechApp(settings, Voices(["af_heart"], "af_heart"), speech)


def test_nothing_is_taken_before_the_model_is_warm() -> None:
    """Guards against an endpoint that gets traffic while it cannot speak."""
    client = TestClient(new_app(ready=False).asgi)
    assert client.get("/ping").status_code == 503
    refused = client.post("/invocations", json={"text": "Hi."})
    assert (refused.status_code, refused.json()["code"]) == (503, "busy")
    with pytest.raises(WebSocketDenialResponse) as denied, client.websocket_connect(STREAM):
        pass
    assert denied.value.status_code == 503


def test_ping_is_200_with_an_empty_body_when_ready() -> None:
    """Guards SageMaker's container contract."""
    answer = TestClient(new_app().asgi).get("/ping")
    assert (answer.status_code, answer.content) == (200, b"")


def test_sessions_over_the_limit_are_refused_and_the_open_one_goes_on() -> None:
    """Guards against unbounded sessions, and against a count that is never given back."""
    app = new_app(max_sessions=1)
    client = TestClient(app.asgi)
    with client.websocket_connect(STREAM) as session:
        with pytest.raises(WebSocketDenialResponse) as denied, client.websocket_connect(STREAM):
            pass
        assert denied.value.status_code == 503
        assert client.post("/invocations", json={"text": "Hi."}).status_code == 503
        session.send_json({"type": "nonsense"})
        assert session.receive_json()["code"] == "invalid"
        session.send_json({"type": "close"})
        assert session.receive() == {"type": "websocket.close", "code": 1000, "reason": ""}
    assert (app.stats.streams_opened, app.stats.streams_open) == (1, 0)
    with client.websocket_connect(STREAM):
        pass


def test_a_failure_inside_is_an_internal_error_and_the_session_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Guards against a crash that ends the session, or shows a traceback to the client."""
    client = TestClient(new_app().asgi)
    with client.websocket_connect(STREAM) as session:
        for request_id in ("a", "b"):
            session.send_text(json.dumps({"text": "Hi.", "request_id": request_id}))
            error = session.receive_json()
            assert (error["code"], error["request_id"]) == ("internal", request_id)
            assert "Traceback" not in error["message"]
    failed = client.post("/invocations", json={"text": "Hi."})
    assert (failed.status_code, failed.json()["code"]) == (500, "internal")
    assert "AttributeError" in caplog.text


def test_a_batch_request_is_busy_while_a_listener_needs_the_engine() -> None:
    """Guards against a batch that makes a conversation stutter, and one that is refused for ever.

    A batch that fails or whose client goes gives its room back.
    """
    app = new_app()
    client = TestClient(app.asgi)
    for text, work_s in (("Measured.", 9.0), ("In flight. " * 9, 0.0)):
        demand = app.admission.accept(Listener(), len(text), 0.0)
        assert demand is not None
        if work_s:
            demand.work_s = work_s
            demand.hand_out(10.0, 0.0)
            app.admission.end(demand, made=True)
    refused = client.post("/invocations", json={"text": "Hi. " * 9})
    assert (refused.status_code, refused.json()["code"]) == (503, "busy")
    app.admission.end(demand, made=False)
    for _ in range(2):
        assert client.post("/invocations", json={"text": "Hi. " * 9}).status_code == 500


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "invalid"),
        (b'{"text": ""}', 400, "invalid"),
        (b'{"text": "Hi.", "response_format": "mp3"}', 400, "invalid"),
        (b'{"text": "Hi.", "voice": "af_heart+nope"}', 400, "unknown_voice"),
        (json.dumps({"text": "x " * 20_000}).encode(), 413, "too_long"),
        (b" " * 9_000_000, 413, "too_long"),
    ],
)
def test_batch_errors_are_json_with_a_fitting_status(body: bytes, status: int, code: str) -> None:
    """Guards against 200 with no audio, and against a body of any size in memory."""
    app = new_app()
    answer = TestClient(app.asgi).post("/invocations", content=body)
    assert answer.status_code == status
    assert answer.json()["code"] == code
    assert answer.json()["message"]
    assert app.stats.batch_open == 0


class EndlessSpeech(Speech):
    """Makes audio without end and without work, as the model never could."""

    pieces_made = 0

    async def speak(
        self, words: str, voice: Voice, speed: float, granularity: Granularity, demand: Demand
    ) -> AsyncGenerator[Part]:
        while True:
            self.pieces_made += 1
            yield Part(bytes(48_000))
            await asyncio.sleep(0)


@asynccontextmanager
async def deaf_peer(app: SpeechApp, settings: Settings) -> AsyncIterator[ClientConnection]:
    """A client of a running server that has little room for answers and never reads them."""
    with listen("127.0.0.1", 0) as listener, socket.socket() as client:
        http = make_http_server(app.asgi, settings)
        serving = asyncio.create_task(http.serve(sockets=[listener]))
        host, port = listener.getsockname()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((host, port))
        client.setblocking(False)
        async with connect(f"ws://{host}:{port}{STREAM}", sock=client, max_queue=1) as websocket:
            yield websocket
            websocket.transport.abort()
        http.should_exit = True
        await serving


async def test_a_peer_that_reads_nothing_stops_synthesis_and_is_dropped() -> None:
    """Guards against buffering speech without end, and against sessions of dead peers."""
    settings = Settings(
        model_dir=Path("unused"), threads=1, max_buffered_audio_s=5, peer_timeout_s=0.5
    )
    speech = EndlessSpeech(settings.model_dir, settings.threads)
    speech.ready = True
    app = SpeechApp(settings, Voices(["af_heart"], "af_heart"), speech)
    async with deaf_peer(app, settings) as websocket:
        await websocket.send('{"text": "On and on."}')
        await app.drain()
        assert (app.stats.cancelled, app.stats.streams_open) == (1, 0)
        # Our buffer, the kernel's and the peer's hold less than half a minute between them.
        assert 5 <= speech.pieces_made <= 30


async def test_a_peer_that_sends_and_never_reads_is_not_listened_to() -> None:
    """Guards against answers to nonsense that fill the memory."""
    settings = Settings(model_dir=Path("unused"), threads=1, peer_timeout_s=0.5)
    speech = EndlessSpeech(settings.model_dir, settings.threads)
    speech.ready = True
    app = SpeechApp(settings, Voices(["af_heart"], "af_heart"), speech)
    async with deaf_peer(app, settings) as websocket:
        with suppress(ConnectionClosed):
            for _ in range(100_000):
                await websocket.send("nonsense")
        await app.drain()
        assert app.stats.streams_open == 0
        assert app.stats.refused < 30_000
