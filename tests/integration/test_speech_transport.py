"""The duplex HTTP/2 transport by itself, against a real HTTP/2 server on loopback."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path

import pytest
from smithy_core import URI
from smithy_core.aio.types import AsyncBytesProvider
from smithy_core.exceptions import SmithyError
from smithy_http import Fields
from smithy_http.aio import HTTPRequest

from local.aws_wire.http2_server import Http2ServerConnection, Http2Stream, StreamHandler
from local.aws_wire.tls import make_tls
from speech_client.transport import RECEIVE_WINDOW_BYTES, ConnectionLostError, H2Transport

pytestmark = pytest.mark.timeout(60)
CHUNK = bytes(range(256)) * 64  # 16 KiB


async def echo(stream: Http2Stream) -> None:
    await stream.send_headers(HTTPStatus.OK, {"content-type": "application/octet-stream"})
    while (data := await stream.receive()) is not None:
        await stream.send(data)
    await stream.send(b"", end=True)


class Server:
    def __init__(self, port: int, writers: list[asyncio.StreamWriter]) -> None:
        self.port = port
        self.writers = writers

    def request(self, body: object, scheme: str = "http") -> HTTPRequest:
        destination = URI(scheme=scheme, host="127.0.0.1", port=self.port, path="/echo")
        return HTTPRequest(method="POST", destination=destination, fields=Fields(), body=body)

    def abort(self) -> None:
        for writer in self.writers:
            writer.transport.abort()


@asynccontextmanager
async def serving(handler: StreamHandler, tls: object = None) -> AsyncIterator[Server]:
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await Http2ServerConnection(reader, writer, handler).run()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield Server(server.sockets[0].getsockname()[1], writers)
        for writer in writers:
            writer.transport.abort()


@pytest.fixture
def transport_tasks() -> Callable[[], list[str]]:
    """A function: names of the transport's tasks that are alive."""

    def alive() -> list[str]:
        names = [task.get_name() for task in asyncio.all_tasks() if not task.done()]
        return [name for name in names if name.startswith("h2 ")]

    return alive


async def test_both_directions_stream_at_once_without_tls(transport_tasks) -> None:
    """A transport that sends all before it reads, or needs TLS, cannot hold a conversation."""
    async with serving(echo) as server:
        transport = H2Transport()
        body = AsyncBytesProvider()
        response = await transport.send(server.request(body))
        assert response.status == 200
        for n in range(100):
            word = f"word {n}".encode()
            await body.write(word)
            assert await response.body.read(len(word)) == word
        await body.close()
        assert await response.body.read() == b""
        await response.body.close()
        assert transport_tasks() == []
        assert not transport._exchanges


async def test_a_body_larger_than_every_window_arrives_whole() -> None:
    """A reader that opens the window only when it has all it wants waits for ever."""
    total = 4 * RECEIVE_WINDOW_BYTES
    async with serving(echo) as server:
        transport = H2Transport()
        response = await transport.send(server.request(CHUNK * (total // len(CHUNK))))
        assert await response.body.read(total) == CHUNK * (total // len(CHUNK))
        await transport.close()


async def test_a_server_that_does_not_read_stops_the_writer_and_nothing_is_lost() -> None:
    """Without flow control the agent buffers whatever the network does not take."""
    read = asyncio.Event()
    received = bytearray()

    async def read_later(stream: Http2Stream) -> None:
        await stream.send_headers(HTTPStatus.OK, {})
        await read.wait()
        while (data := await stream.receive()) is not None:
            received.extend(data)
        await stream.send(b"", end=True)

    async with serving(read_later) as server:
        transport = H2Transport()
        body = AsyncBytesProvider()
        response = await transport.send(server.request(body))
        written = 0

        async def write() -> None:
            nonlocal written
            for _ in range(400):
                await body.write(CHUNK)
                written += len(CHUNK)
            await body.close()

        writing = asyncio.create_task(write())
        (exchange,) = transport._exchanges
        async with asyncio.timeout(30):
            while exchange._h2.local_flow_control_window(1) != 0:  # noqa: ASYNC110
                await asyncio.sleep(0.01)  # there is no event for a closed window
        assert not writing.done()
        assert written < 2 * RECEIVE_WINDOW_BYTES
        read.set()
        await writing
        assert await response.body.read() == b""
        assert bytes(received) == CHUNK * 400
        await transport.close()


async def test_a_writer_that_waits_for_room_is_told_when_the_connection_is_lost() -> None:
    """The SDK's buffer holds 16 events: the next one would wait for a reader that is gone."""

    async def never_read(stream: Http2Stream) -> None:
        await stream.send_headers(HTTPStatus.OK, {})
        await asyncio.Event().wait()

    async with serving(never_read) as server:
        transport = H2Transport()
        body = AsyncBytesProvider()
        response = await transport.send(server.request(body))

        async def write() -> None:
            while True:
                await body.write(CHUNK)

        writing = asyncio.create_task(write())
        (exchange,) = transport._exchanges
        async with asyncio.timeout(30):
            while exchange._h2.local_flow_control_window(1) != 0:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        server.abort()
        with pytest.raises(SmithyError, match="clos"):
            await writing
        with pytest.raises(ConnectionLostError):
            await response.body.read(1)
        await transport.close()


@pytest.mark.parametrize("when", ["before the headers", "in the body"])
async def test_a_lost_connection_raises(when, transport_tasks) -> None:
    """The SDK's own transport takes this for the end of the reply."""

    async def half(stream: Http2Stream) -> None:
        if when == "in the body":
            await stream.send_headers(HTTPStatus.OK, {})
            await stream.send(b"half")
        server.abort()

    async with serving(half) as server:
        transport = H2Transport()
        with pytest.raises(ConnectionLostError):
            response = await transport.send(server.request(b""))
            assert await response.body.read(4) == b"half"
            await response.body.read(1)
        await transport.close()
        assert transport_tasks() == []


async def test_what_has_arrived_is_delivered_before_the_loss() -> None:
    """The first half of a sentence is audio too; only what follows is missing."""

    async def all_then_abort(stream: Http2Stream) -> None:
        await stream.send_headers(HTTPStatus.OK, {})
        await stream.send(b"whole", end=True)

    async with serving(all_then_abort) as server:
        transport = H2Transport()
        response = await transport.send(server.request(AsyncBytesProvider()))
        assert await response.body.read(2) == b"wh"
        server.abort()
        assert await response.body.read() == b"ole"
        await transport.close()


async def test_cancelling_a_request_leaves_no_task_and_no_connection(transport_tasks) -> None:
    """A turn may be interrupted while its stream is being opened."""
    arrived = asyncio.Event()
    gone = asyncio.Event()

    async def never_answer(stream: Http2Stream) -> None:
        arrived.set()
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()

    async with serving(never_answer) as server:
        transport = H2Transport()
        sending = asyncio.create_task(transport.send(server.request(AsyncBytesProvider())))
        await arrived.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await gone.wait()
        assert transport_tasks() == []
        assert not transport._exchanges


async def test_a_server_without_http2_is_refused(tmp_path: Path) -> None:
    """HTTP/1.1 frames are no answer to HTTP/2: say so instead of waiting for one."""
    context, ca_file = make_tls(tmp_path)
    context.set_alpn_protocols(["http/1.1"])
    async with serving(echo, context) as server:
        transport = H2Transport(ca_file=str(ca_file))
        with pytest.raises(ConnectionError, match="HTTP/2"):
            await transport.send(server.request(b"", scheme="https"))
        assert not transport._exchanges


async def test_nobody_listening_is_an_error_at_once() -> None:
    async with serving(echo) as server:
        pass
    with pytest.raises(OSError, match=str(server.port)):
        await H2Transport().send(server.request(b""))
