"""HTTP/1.1 for one server connection, one request at a time, with the protocol of `h11`."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

import h11

logger = logging.getLogger(__name__)

_READ_BYTES = 64 * 1024
_IDLE_S = 60.0

MAX_BODY_BYTES = 25 * 1024 * 1024
"""SageMaker's size limit for a real-time request or response."""


@dataclass(frozen=True)
class HttpRequest:
    """A request, with its complete body. The names of the headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class HttpResponse:
    """A response, with its complete body."""

    status: HTTPStatus
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


type RequestHandler = Callable[[HttpRequest], Awaitable[HttpResponse]]


class _BodyTooLarge(Exception):
    """The request's body is over the limit. The rest of it is not read."""


async def serve_http1(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: RequestHandler
) -> None:
    """Answer requests until the client leaves, is idle for a minute, or breaks the protocol."""
    connection = h11.Connection(h11.SERVER)
    try:
        while True:
            try:
                async with asyncio.timeout(_IDLE_S):
                    request = await _read_request(connection, reader, writer)
                if request is None:
                    return
                response = await handler(request)
            except _BodyTooLarge:
                response = HttpResponse(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    body=b"the body is over %d bytes" % MAX_BODY_BYTES,
                )
            await _write_response(connection, writer, response)
            if connection.our_state is h11.MUST_CLOSE or connection.their_state is not h11.DONE:
                return
            connection.start_next_cycle()
    except (OSError, h11.RemoteProtocolError) as error:  # TimeoutError is an OSError
        logger.info("HTTP/1.1 connection closed: %s", error or "idle")
    finally:
        writer.close()


async def _read_request(
    connection: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> HttpRequest | None:
    """Return the next request, or None when the client has left."""
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            if connection.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=100, headers=[])
                writer.write(connection.send(go_on) or b"")
            connection.receive_data(await reader.read(_READ_BYTES))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > MAX_BODY_BYTES:
                raise _BodyTooLarge
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            return HttpRequest(
                head.method.decode(),
                head.target.decode(),
                {name.decode(): value.decode("latin-1") for name, value in head.headers},
                bytes(body),
            )
        else:
            return None


async def _write_response(
    connection: h11.Connection, writer: asyncio.StreamWriter, response: HttpResponse
) -> None:
    head = h11.Response(
        status_code=response.status.value,
        headers=[*response.headers.items(), ("content-length", str(len(response.body)))],
        reason=response.status.phrase,
    )
    for event in (head, h11.Data(data=response.body), h11.EndOfMessage()):
        writer.write(connection.send(event) or b"")
    await writer.drain()
