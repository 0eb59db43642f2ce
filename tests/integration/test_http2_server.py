"""Many streams on one HTTP/2 connection, with httpx as the client."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from http import HTTPStatus

import httpx
import pytest
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import Event, ResponseReceived, StreamReset

from local.aws_wire.http2_server import Http2ServerConnection, Http2Stream, StreamHandler


@contextlib.asynccontextmanager
async def serving(handler: StreamHandler) -> AsyncIterator[httpx.AsyncClient]:
    """A client whose requests all go over one connection."""
    connections: list[asyncio.Task[None]] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Http2ServerConnection(reader, writer, handler)
        connections.append(asyncio.create_task(connection.run()))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        async with httpx.AsyncClient(
            base_url=url, http1=False, http2=True, trust_env=False, timeout=30
        ) as client:
            yield client
        async with asyncio.timeout(20):
            await asyncio.gather(*connections)
    finally:
        server.close()
    assert len(connections) <= 1


async def echo(stream: Http2Stream) -> None:
    body = b""
    while (data := await stream.receive()) is not None:
        body += data
    await stream.send_headers(HTTPStatus.OK, {"x-path": stream.headers[":path"]})
    await stream.send(body, end=True)


async def test_streams_at_once_do_not_mix() -> None:
    """One connection's windows and buffers are shared by all its streams."""
    async with serving(echo) as client:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(client.post(f"/{number}", content=bytes([number]) * 200_000))
                for number in range(64)
            ]
        for number, task in enumerate(tasks):
            assert task.result().content == bytes([number]) * 200_000
            assert task.result().headers["x-path"] == f"/{number}"


async def test_a_connection_lasts_longer_than_its_window() -> None:
    """A window that is not opened again stops the connection after its first 32 MiB."""

    async def handler(stream: Http2Stream) -> None:
        size = 0
        while (data := await stream.receive()) is not None:
            size += len(data)
        await stream.send_headers(HTTPStatus.OK, {})
        await stream.send(b"%d" % size, end=True)

    async with serving(handler) as client:
        for _ in range(2):
            response = await client.post("/", content=bytes(20 << 20))
            assert response.content == b"%d" % (20 << 20)


async def test_one_streams_failure_is_its_own(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(stream: Http2Stream) -> None:
        if stream.headers[":path"] == "/bad":
            raise KeyError("a bug")
        await echo(stream)

    async with serving(handler) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.post("/bad", content=b"x")
        assert (await client.post("/good", content=b"x")).content == b"x"
    assert "the handler of stream 1 failed" in caplog.text


async def test_a_stream_that_nobody_reads_stops_only_itself() -> None:
    """With one window for all, a stuck stream would stop the connection."""
    read_on = asyncio.Event()

    async def handler(stream: Http2Stream) -> None:
        if stream.headers[":path"] == "/stuck":
            await read_on.wait()
        await echo(stream)

    sent = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(128):
            yield bytes(65_536)
            sent += 1

    async with serving(handler) as client:
        stuck = asyncio.create_task(client.post("/stuck", content=pieces()))
        for _ in range(3):
            response = await client.post("/free", content=bytes(2_000_000))
            assert len(response.content) == 2_000_000
        # A window has four pieces; the rest is in the client's hands.
        assert sent < 16
        read_on.set()
        assert len((await stuck).content) == 128 * 65_536


class RawClient:
    """A client whose every frame the test decides."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.h2 = H2Connection()
        self._reader = reader
        self._writer = writer

    def start(self, path: str) -> int:
        stream_id = self.h2.get_next_available_stream_id()
        headers = [(":method", "POST"), (":scheme", "http"), (":authority", "x"), (":path", path)]
        self.h2.send_headers(stream_id, headers)
        self.flush()
        return stream_id

    def flush(self) -> None:
        self._writer.write(self.h2.data_to_send())

    async def receive[E: Event](self, kind: type[E]) -> E:
        async with asyncio.timeout(20):
            while data := await self._reader.read(65_536):
                for event in self.h2.receive_data(data):
                    if isinstance(event, kind):
                        return event
        raise AssertionError(f"the connection ended without {kind.__name__}")


@contextlib.asynccontextmanager
async def raw_client(handler: StreamHandler) -> AsyncIterator[RawClient]:
    async with serving(handler) as client:
        url = client.base_url
        reader, writer = await asyncio.open_connection(url.host, url.port)
        raw = RawClient(reader, writer)
        raw.h2.initiate_connection()
        try:
            yield raw
        finally:
            writer.close()


async def test_a_reset_cancels_the_handler() -> None:
    """Otherwise the handler would wait for ever, and hold its container."""
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def handler(stream: Http2Stream) -> None:
        started.set()
        try:
            await stream.receive()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with raw_client(handler) as client, asyncio.timeout(20):
        stream_id = client.start("/slow")
        await started.wait()
        client.h2.reset_stream(stream_id, ErrorCodes.CANCEL)
        client.flush()
        await cancelled.wait()


async def test_a_reset_before_the_handler_has_begun_leaves_nothing() -> None:
    """A task that is cancelled before its first step runs none of its own clean-up."""
    async with raw_client(echo) as client:
        client.h2.reset_stream(client.start("/one"), ErrorCodes.CANCEL)
        client.flush()
        client.h2.end_stream(client.start("/two"))
        client.flush()
        assert (await client.receive(ResponseReceived)).stream_id == 3


async def test_an_answer_before_the_request_ends_stops_the_upload() -> None:
    """A refused client would otherwise go on to fill its window and wait."""

    async def handler(stream: Http2Stream) -> None:
        await stream.send_headers(HTTPStatus.FORBIDDEN, {})
        await stream.send(b"no", end=True)

    async with raw_client(handler) as client:
        client.start("/")
        assert (await client.receive(StreamReset)).error_code == ErrorCodes.NO_ERROR


async def test_bytes_that_are_no_http2_close_the_connection() -> None:
    ended = asyncio.Event()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Http2ServerConnection(reader, writer, echo).run()
        ended.set()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with asyncio.timeout(20):
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(b"GET / HTTP/1.1\r\n\r\n" * 4)
        await reader.read()
        await ended.wait()
    writer.close()
    server.close()
