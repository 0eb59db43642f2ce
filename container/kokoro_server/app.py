"""The HTTP side: routes, admission, shutdown."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import asdict

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from kokoro_server.admission import BUSY, Admission
from kokoro_server.codecs import CODECS
from kokoro_server.connection import Connection
from kokoro_server.counters import Stats
from kokoro_server.messages import (
    BatchRequest,
    ErrorCode,
    ProtocolError,
    check_length,
    decode_batch,
    resolve_voice,
)
from kokoro_server.metrics import measured, recorder
from kokoro_server.scheduler import Listener
from kokoro_server.session import Session
from kokoro_server.settings import Settings
from kokoro_server.synthesis import Speech
from kokoro_voice.voices import Voice, Voices

MAX_BODY_BYTES = 8 * 1024 * 1024
"""Of one request or frame; far above the longest text, so that too long a one gets an answer."""
_STATUS: dict[ErrorCode, int] = {"too_long": 413, "busy": 503, "internal": 500}

logger = logging.getLogger(__name__)


class SpeechApp:
    """The ASGI application and what its connections share.

    Args:
        settings: limits and times.
        voices: what may be asked for.
        speech: may still be loading; until it is ready everything but `/stats` answers 503.
    """

    def __init__(self, settings: Settings, voices: Voices, speech: Speech) -> None:
        self.stats = Stats()
        self.admission = Admission(settings.admission_headroom)
        self._settings = settings
        self._voices = voices
        self._speech = speech
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
        """Take nothing new, tell open sessions to finish, return when all are gone.

        After `shutdown_s` the sessions close themselves; whatever is left a second later is left.
        """
        self._draining = True
        for connection in self._connections:
            connection.shut_down(self._settings.shutdown_s)
        self._note_gone()
        try:
            async with asyncio.timeout(self._settings.shutdown_s + 1):
                await self._all_gone.wait()
        except TimeoutError:
            logger.warning("%d connections did not end in time", self._open)

    @property
    def _open(self) -> int:
        return self.stats.streams_open + self.stats.batch_open

    def _note_gone(self) -> None:
        if self._draining and not self._open:
            self._all_gone.set()

    def _refusal(self) -> JSONResponse | None:
        """Why nothing new can be taken now, if so."""
        if self._draining:
            return _error("busy", "the server is shutting down")
        if not self._speech.ready:
            return _error("busy", "the model is being loaded")
        if self._open >= self._settings.max_sessions:
            return _error("busy", f"{self._open} sessions are open, no more are taken")
        return None

    async def _ping(self, request: Request) -> Response:
        return Response(status_code=200 if self._speech.ready and not self._draining else 503)

    async def _stats(self, request: Request) -> Response:
        return JSONResponse(asdict(self.stats))

    async def _session(self, websocket: WebSocket) -> None:
        refusal = self._refusal()
        if refusal is not None:
            await websocket.send_denial_response(refusal)
            return
        self.stats.streams_opened += 1
        self.stats.streams_open += 1
        session = Session(
            self._settings, self._voices, self.stats, self.admission, time.monotonic()
        )
        connection = Connection(
            websocket, session, self._speech, self._settings.peer_timeout_s, self._record
        )
        self._connections.add(connection)
        try:
            await websocket.accept()
            await connection.run()
        finally:
            self._connections.remove(connection)
            self.stats.streams_open -= 1
            self._note_gone()

    async def _invocations(self, request: Request) -> Response:
        refusal = self._refusal()
        if refusal is not None:
            return refusal
        self.stats.batch_requests += 1
        self.stats.batch_open += 1
        try:
            wanted = decode_batch(await _body(request))
            check_length(wanted.text, self._settings.max_text_chars)
            voice = resolve_voice(self._voices, wanted.voice)
            speech = self._spoken(wanted, voice)
            # With the first audio in hand, all that can be wrong with the text is known.
            first = await anext(speech)
        except ProtocolError as error:
            return _error(error.code, error.message)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody is left to read it
        except Exception:
            # The client learns that it failed, the log learns why.
            logger.exception("batch request failed")
            return _error("internal", "the speech could not be made")
        finally:
            self.stats.batch_open -= 1
            self._note_gone()
        codec = CODECS[wanted.format]
        return StreamingResponse(
            self._streamed(codec.header, first, speech),
            media_type=codec.media_type,
        )

    async def _spoken(self, wanted: BatchRequest, voice: Voice) -> AsyncGenerator[bytes]:
        demand = self.admission.accept(
            Listener(), len(wanted.text) / wanted.speed, time.monotonic()
        )
        if demand is None:
            raise ProtocolError("busy", BUSY)
        made = False
        try:
            granularity = wanted.granularity or self._settings.granularity
            speech = self._speech.speak(wanted.text, voice, wanted.speed, granularity, demand)
            async with aclosing(measured(speech, self._record)) as parts:
                async for part in parts:
                    yield part.pcm
            made = True
        finally:
            self.admission.end(demand, made)

    async def _streamed(
        self, header: bytes, first: bytes, speech: AsyncGenerator[bytes]
    ) -> AsyncIterator[bytes]:
        self.stats.batch_open += 1
        try:
            async with aclosing(speech):
                yield header + first
                async for pcm in speech:
                    yield pcm
        finally:
            self.stats.batch_open -= 1
            self._note_gone()


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise ProtocolError("too_long", f"the body has more than {MAX_BODY_BYTES} bytes")
    return bytes(body)


def _error(code: ErrorCode, message: str) -> JSONResponse:
    return JSONResponse({"code": code, "message": message}, status_code=_STATUS.get(code, 400))
