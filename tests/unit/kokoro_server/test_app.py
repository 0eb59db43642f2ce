"""Admission, failures and back-pressure of the server, without the model's work."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import httpx
import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from kokoro_server.app import SpeechApp
from kokoro_server.http_server import listen, make_http_server
from kokoro_server.settings import Settings
from kokoro_server.utterance import SpeechChunk, Utterance, UtteranceState
from kokoro_voice.voices import Voices
from tests.utterances import Script, ScriptedSpeech, failing, new_utterance, second

STREAM = "/invocations-bidirectional-stream"


def new_app(script: Script | None = failing, **limits: Any) -> SpeechApp:
    """A server with scripted speech. Without a script its model is still being loaded."""
    settings = Settings(model_dir=Path("unused"), threads=1, **limits)
    app = SpeechApp(settings, Voices(["af_heart"], "af_heart"))
    app.speech = None if script is None else ScriptedSpeech(script)
    return app


def test_nothing_is_taken_before_the_model_is_warm() -> None:
    """Guards against an endpoint that receives traffic before it can speak."""
    client = TestClient(new_app(script=None).asgi)
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
    """Guards against unlimited sessions, and against a count that never decreases."""
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
    assert (app.counters.streams_opened, app.counters.streams_open) == (1, 0)
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
    assert "RuntimeError" in caplog.text


def test_a_batch_request_is_busy_while_a_listener_needs_the_engine() -> None:
    """Guards against a batch that makes a conversation stutter, and one that is refused for ever.

    A batch that fails or whose client goes gives its room back.
    """
    app = new_app()
    client = TestClient(app.asgi)
    measured, in_flight = new_utterance(chars=9), new_utterance(chars=108)
    for utterance in (measured, in_flight):
        assert app.admission.accept(utterance)
        utterance.begin(0.0)
        if utterance is measured:
            utterance.tally.engine_s = 9.0
            utterance.add_audio(10.0, 0.0)
            utterance.complete()
            app.admission.end(utterance)
    refused = client.post("/invocations", json={"text": "Hi. " * 9})
    assert (refused.status_code, refused.json()["code"]) == (503, "busy")
    in_flight.cancel()
    app.admission.end(in_flight)
    for _ in range(2):
        assert client.post("/invocations", json={"text": "Hi. " * 9}).status_code == 500


async def two_seconds(utterance: Utterance) -> AsyncGenerator[SpeechChunk]:
    """Two seconds of audio that take 0.5 s of the engine's time."""
    for _ in range(2):
        utterance.tally.engine_s += 0.25
        yield second(utterance)


def test_on_both_routes_one_utterance_is_admitted_spoken_ended_and_recorded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Guards against copying an utterance, so that its cost or end is not recorded."""
    app = new_app(two_seconds, metrics_namespace="VoiceAgent", endpoint_name="kokoro-test")
    accepted, ended = Mock(wraps=app.admission.accept), Mock(wraps=app.admission.end)
    monkeypatch.setattr(app.admission, "accept", accepted)
    monkeypatch.setattr(app.admission, "end", ended)
    client = TestClient(app.asgi)
    answer = client.post("/invocations", json={"text": "Hi.", "format": "pcm", "speed": 1.5})
    assert len(answer.content) == 2 * 48_000
    with client.websocket_connect(STREAM) as session:
        session.send_json({"text": "Hello.", "request_id": "a"})
        while "elapsed_s" not in session.receive().get("text", ""):
            pass
    assert isinstance(app.speech, ScriptedSpeech)
    batch, streamed = app.speech.spoken
    assert (batch.request.text, batch.request.speed) == ("Hi.", 1.5)
    assert (streamed.request.text, streamed.request.request_id) == ("Hello.", "a")
    for calls in (accepted, ended):
        assert calls.mock_calls == [call(batch), call(streamed)]
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["RealTimeFactor"] for line in lines] == [0.25, 0.25]
    for utterance in (batch, streamed):
        assert utterance.state is UtteranceState.COMPLETE
        assert (utterance.tally.audio_s, utterance.tally.engine_s) == (2.0, 0.5)


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
    assert app.counters.batch_open == 0


async def endless(utterance: Utterance) -> AsyncGenerator[SpeechChunk]:
    """Endless audio that costs no engine time, which the real model cannot produce."""
    while True:
        yield second(utterance)
        await asyncio.sleep(0)


@asynccontextmanager
async def serving(app: SpeechApp) -> AsyncIterator[tuple[str, int]]:
    """The address of a running server that drops an unresponsive peer after half a second."""
    with listen("127.0.0.1", 0) as listener:
        settings = Settings(model_dir=Path("unused"), peer_timeout_s=0.5)
        http = make_http_server(app.asgi, settings)
        running = asyncio.create_task(http.serve(sockets=[listener]))
        yield listener.getsockname()
        http.should_exit = True
        await running


@asynccontextmanager
async def deaf_peer(app: SpeechApp) -> AsyncIterator[ClientConnection]:
    """A client with small buffers that never reads the answers of a running server."""
    async with serving(app) as (host, port):
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, port))
            client.setblocking(False)
            uri = f"ws://{host}:{port}{STREAM}"
            async with connect(uri, sock=client, max_queue=1) as websocket:
                yield websocket
                websocket.transport.abort()


async def test_a_batch_client_who_goes_cancels_its_utterance(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Guards against work for a client that has gone, and cancelled utterances in the metrics."""
    app = new_app(endless, metrics_namespace="VoiceAgent", endpoint_name="kokoro-test")
    async with serving(app) as (host, port), httpx.AsyncClient() as client:
        url = f"http://{host}:{port}/invocations"
        async with client.stream("POST", url, json={"text": "On and on."}) as answer:
            await anext(answer.aiter_raw())
        await app.drain()
    assert isinstance(app.speech, ScriptedSpeech)
    (utterance,) = app.speech.spoken
    assert utterance.state is UtteranceState.CANCELLED
    assert app.counters.batch_open == 0
    assert capsys.readouterr().out == ""


async def test_a_peer_that_reads_nothing_stops_synthesis_and_is_dropped() -> None:
    """Guards against unlimited buffering of speech, and against sessions of dead peers."""
    app = new_app(endless, max_buffered_audio_s=5, peer_timeout_s=0.5)
    async with deaf_peer(app) as websocket:
        await websocket.send('{"text": "On and on."}')
        await app.drain()
        assert (app.counters.cancelled, app.counters.streams_open) == (1, 0)
        # Our buffer, the kernel's and the peer's hold less than half a minute between them.
        assert isinstance(app.speech, ScriptedSpeech)
        (utterance,) = app.speech.spoken
        assert utterance.state is UtteranceState.CANCELLED
        assert 5 <= utterance.tally.chunks <= 30


async def test_a_peer_that_sends_and_never_reads_is_not_listened_to() -> None:
    """Guards against unread error events that fill the memory."""
    app = new_app(endless, peer_timeout_s=0.5)
    async with deaf_peer(app) as websocket:
        with suppress(ConnectionClosed):
            for _ in range(100_000):
                await websocket.send("nonsense")
        await app.drain()
        assert app.counters.streams_open == 0
        assert app.counters.refused < 30_000
