"""The ASGI application: routes, admission and shutdown."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import asdict
from functools import partial

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from kokoro_server.admission import BUSY, Admission
from kokoro_server.codecs import CODECS
from kokoro_server.connection import Connection
from kokoro_server.counters import Counters
from kokoro_server.messages import (
    INTERNAL,
    BatchRequest,
    ErrorCode,
    ProtocolError,
    decode_batch,
)
from kokoro_server.metrics import recorder
from kokoro_server.off_loop import read_text
from kokoro_server.playback import Listener
from kokoro_server.session import Session
from kokoro_server.settings import Settings
from kokoro_server.synthesis import Speech
from kokoro_server.utterance import SpeechRequest, Utterance
from kokoro_voice.voices import Voices

MAX_BODY_BYTES = 2 * 1024 * 1024
"""Limit of one request body or frame. It is far above the longest text accepted, so that a text
that is too long gets a proper answer. Parsing the worst JSON of this length takes 0.15 s, and no
other thread can run meanwhile."""
_STATUS: dict[ErrorCode, int] = {"too_long": 413, "busy": 503, "internal": 500}

logger = logging.getLogger(__name__)


class SpeechApp:
    """The ASGI application and the state that its connections share.

    Args:
        settings: The server's settings.
        voices: The voices that are served.
    """

    def __init__(self, settings: Settings, voices: Voices) -> None:
        self.speech: Speech | None = None
        """The loaded model. Until it is set, every route but `/stats` answers 503."""
        self.counters = Counters()
        self.admission = Admission(settings.admission_headroom)
        self._settings = settings
        self._voices = voices
        self._record = recorder(settings)
        self._draining = False
        self._connections: set[Connection] = set()
        self._all_gone = asyncio.Event()
        self.asgi = Starlette(
            routes=[
                Route("/ping", self._ping),
                Route("/stats", self._stats),
                Route("/invocations", self._invocations, methods=["POST"]),
                WebSocketRoute("/invocations-bidirectional-stream", self._session),
            ]
        )

    async def drain(self) -> None:
        """Refuse new connections, announce the shutdown to open sessions, and wait for their end.

        After `shutdown_s` the sessions close themselves. One second later this returns in any case.
        """
        self._draining = True
        for connection in self._connections:
            connection.shut_down(self._settings.shutdown_s)
        self._note_gone()
        try:
            async with asyncio.timeout(self._settings.shutdown_s + 1):
                await self._all_gone.wait()
        except TimeoutError:
            logger.warning("shutdown: %d connections did not end in time", self._open)

    @property
    def _open(self) -> int:
        return self.counters.streams_open + self.counters.batch_open

    def _note_gone(self) -> None:
        if self._draining and not self._open:
            self._all_gone.set()

    def _available(self) -> Speech:
        """Return the loaded model if a new connection can be served.

        Raises:
            ProtocolError: `busy`, if nothing new can be accepted now.
        """
        if self._draining:
            raise ProtocolError("busy", "the server is shutting down; try again in a few seconds")
        if self.speech is None:
            raise ProtocolError("busy", "the model is being loaded; try again in a few seconds")
        if self._open >= self._settings.max_sessions:
            raise ProtocolError(
                "busy",
                f"{self._open} sessions are open, no more are taken until one closes; "
                "try again later",
            )
        return self.speech

    async def _ping(self, request: Request) -> Response:
        ready = self.speech is not None and not self._draining
        return Response(status_code=200 if ready else 503)

    async def _stats(self, request: Request) -> Response:
        return JSONResponse(asdict(self.counters))

    async def _session(self, websocket: WebSocket) -> None:
        try:
            speech = self._available()
        except ProtocolError as error:
            await websocket.send_denial_response(_answer(error))
            return
        self.counters.streams_opened += 1
        self.counters.streams_open += 1
        session = Session(
            self._settings, self._voices, self.counters, self.admission, time.monotonic()
        )
        connection = Connection(
            websocket, session, speech, self._settings.peer_timeout_s, self._record
        )
        self._connections.add(connection)
        try:
            await websocket.accept()
            await connection.run()
        finally:
            self._connections.remove(connection)
            self.counters.streams_open -= 1
            self._note_gone()

    async def _invocations(self, request: Request) -> Response:
        try:
            speech = self._available()
        except ProtocolError as error:
            return _answer(error)
        self.counters.batch_requests += 1
        self.counters.batch_open += 1
        try:
            body = await _body(request)
            received_s = time.monotonic()
            message, wanted = await read_text(body, partial(self._read, body))
            utterance = Utterance(wanted, Listener(), received_s)
            spoken = self._spoken(utterance, speech)
            # Once the first audio is there, nothing in the text can cause an error any more.
            first = await anext(spoken)
        except ProtocolError as error:
            return _answer(error)
        except ClientDisconnect:
            return Response(status_code=400)  # The client has gone and will not read it.
        except Exception:
            # The client learns only that the request failed. The log has the cause.
            logger.exception("batch request failed")
            return _answer(INTERNAL)
        finally:
            self.counters.batch_open -= 1
            self._note_gone()
        codec = CODECS[message.format]
        return StreamingResponse(
            self._streamed(codec.header, first, spoken), media_type=codec.media_type
        )

    def _read(self, body: bytes) -> tuple[BatchRequest, SpeechRequest]:
        message = decode_batch(body)
        return message, SpeechRequest.of(message, self._voices, self._settings)

    async def _spoken(self, utterance: Utterance, speech: Speech) -> AsyncGenerator[bytes]:
        """Admit an utterance of the batch route, speak it and yield its PCM."""
        if not self.admission.accept(utterance):
            raise ProtocolError("busy", BUSY)
        utterance.begin(time.monotonic())
        try:
            async with aclosing(speech.speak(utterance)) as chunks:
                async for chunk in chunks:
                    yield chunk.pcm
            utterance.complete()
        except ProtocolError as error:
            utterance.fail(error)
            raise
        except Exception:
            utterance.fail(INTERNAL)
            raise
        finally:
            if not utterance.ended:
                utterance.cancel()
            self.admission.end(utterance)
            self._record(utterance)

    async def _streamed(
        self, header: bytes, first: bytes, spoken: AsyncGenerator[bytes]
    ) -> AsyncIterator[bytes]:
        self.counters.batch_open += 1
        try:
            async with aclosing(spoken):
                yield header + first
                async for pcm in spoken:
                    yield pcm
        finally:
            self.counters.batch_open -= 1
            self._note_gone()


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for received in request.stream():
        body += received
        if len(body) > MAX_BODY_BYTES:
            raise ProtocolError("too_long", f"the body is longer than {MAX_BODY_BYTES} bytes")
    return bytes(body)


def _answer(error: ProtocolError) -> JSONResponse:
    return JSONResponse(
        {"code": error.code, "message": error.message}, status_code=_STATUS.get(error.code, 400)
    )
