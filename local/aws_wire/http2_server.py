"""HTTP/2 for one server connection: many streams at once, with flow control in both directions.

The protocol is `h2`'s. Each stream has its own back-pressure: its window opens as its handler
reads, and the connection's window opens as data arrives. A stream that nobody reads stops only its
own sender.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Any

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    DataReceived,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes

logger = logging.getLogger(__name__)

_READ_BYTES = 64 * 1024
_MAX_STREAMS = 128
_STREAM_WINDOW_BYTES = 256 * 1024
_CONNECTION_WINDOW_BYTES = _MAX_STREAMS * _STREAM_WINDOW_BYTES


class Http2Stream:
    """A request and its response. Its handler reads and writes it in any order.

    Attributes:
        headers: The headers by lower-case name, including pseudo-headers such as `:path`.
    """

    def __init__(
        self, connection: "Http2ServerConnection", stream_id: int, headers: Mapping[str, str]
    ) -> None:
        self.headers = headers
        self.stream_id = stream_id
        self.request_ended = False
        self.response_ended = False
        self._connection = connection
        self._received = bytearray()
        self._unopened_bytes = 0
        self._was_reset = False
        self._news = asyncio.Event()

    async def receive(self) -> bytes | None:
        """Return the request's next bytes, or None at its end, and open the window again.

        Raises:
            ConnectionResetError: The client reset the stream.
        """
        while not self._received:
            if self._was_reset:
                raise ConnectionResetError("the client reset the stream")
            if self.request_ended:
                return None
            self._news.clear()
            await self._news.wait()
        data = bytes(self._received)
        self._received.clear()
        self._connection.open_window(self, self._unopened_bytes)
        self._unopened_bytes = 0
        return data

    async def send_headers(self, status: HTTPStatus, headers: Mapping[str, str]) -> None:
        """Begin the response."""
        fields = [(":status", str(status.value)), *headers.items()]
        self._connection.h2.send_headers(self.stream_id, fields)
        await self._connection.flush()

    async def send(self, data: bytes, *, end: bool = False) -> None:
        """Send response bytes, waiting as long as the client's window is closed."""
        rest = memoryview(data)
        h2 = self._connection.h2
        while rest:
            size = min(
                await self._connection.window(self.stream_id), h2.max_outbound_frame_size, len(rest)
            )
            chunk, rest = rest[:size], rest[size:]
            h2.send_data(self.stream_id, chunk.tobytes(), end_stream=end and not rest)
            await self._connection.flush()
        if end:
            if not data:
                h2.end_stream(self.stream_id)
                await self._connection.flush()
            self.response_ended = True

    def data_arrived(self, data: bytes, window_bytes: int) -> None:
        """Store `data`, which used `window_bytes` of the window. The connection calls this."""
        self._received += data
        self._unopened_bytes += window_bytes
        self._news.set()

    def request_complete(self) -> None:
        """Note that the client has sent all of the request. The connection calls this."""
        self.request_ended = True
        self._news.set()

    def reset_arrived(self) -> None:
        """Note that the client has reset the stream. The connection calls this."""
        self._was_reset = self.request_ended = self.response_ended = True
        self._news.set()


type StreamHandler = Callable[[Http2Stream], Coroutine[Any, Any, None]]


class Http2ServerConnection:
    """Serves one accepted connection until either side ends it.

    Args:
        reader: The connection's reader.
        writer: The connection's writer. asyncio has set TCP_NODELAY on it.
        handler: Called for each request in its own task. The task is cancelled when the client
            resets the stream or closes the connection.

    Attributes:
        h2: The protocol's state. `flush` writes what it has to send.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: StreamHandler
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._handler = handler
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._streams: dict[int, Http2Stream] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._window_opened = asyncio.Condition()

    async def run(self) -> None:
        """Read until the connection ends. All handlers have ended when this returns."""
        self.h2.initiate_connection()
        self.h2.update_settings(
            {
                SettingCodes.INITIAL_WINDOW_SIZE: _STREAM_WINDOW_BYTES,
                SettingCodes.MAX_CONCURRENT_STREAMS: _MAX_STREAMS,
            }
        )
        self.h2.increment_flow_control_window(_CONNECTION_WINDOW_BYTES)
        self._write_pending()
        try:
            while data := await self._reader.read(_READ_BYTES):
                await self._receive(data)
        except ProtocolError as error:
            logger.warning("HTTP/2 connection closed: %s", error)
        except OSError as error:
            logger.info("HTTP/2 connection lost: %s", error)
        finally:
            await self._stop()

    async def _receive(self, data: bytes) -> None:
        try:
            events = self.h2.receive_data(data)
        finally:
            # After a protocol error, this sends the GOAWAY frame.
            self._write_pending()
        for event in events:
            match event:
                case RequestReceived(stream_id=int(stream_id), headers=headers):
                    self._start(stream_id, {str(name): str(value) for name, value in headers or []})
                case DataReceived(
                    stream_id=int(stream_id), data=data, flow_controlled_length=int(length)
                ):
                    if length:
                        self.h2.increment_flow_control_window(length)
                    if stream := self._streams.get(stream_id):
                        stream.data_arrived(data or b"", length)
                case StreamEnded(stream_id=int(stream_id)):
                    if stream := self._streams.get(stream_id):
                        stream.request_complete()
                case StreamReset(stream_id=int(stream_id)):
                    if stream := self._streams.get(stream_id):
                        stream.reset_arrived()
                        self._tasks[stream_id].cancel()
                case WindowUpdated() | RemoteSettingsChanged():
                    async with self._window_opened:
                        self._window_opened.notify_all()
        # Answers to control frames are few, so this does not wait for the writer to drain. A client
        # that is itself waiting to write must still be read.
        self._write_pending()

    def _start(self, stream_id: int, headers: Mapping[str, str]) -> None:
        stream = Http2Stream(self, stream_id, headers)
        task = asyncio.create_task(self._handler(stream))
        self._streams[stream_id] = stream
        self._tasks[stream_id] = task
        # A callback, because a task that is cancelled before it starts runs no `finally`.
        task.add_done_callback(lambda task: self._handler_ended(stream, task))

    def _handler_ended(self, stream: Http2Stream, task: asyncio.Task[None]) -> None:
        del self._streams[stream.stream_id], self._tasks[stream.stream_id]
        error = None if task.cancelled() else task.exception()
        if isinstance(error, (ProtocolError, OSError)):
            # The client reset the stream or left, and the handler wrote before it was cancelled.
            logger.info("stream %d ended early: %s", stream.stream_id, error)
        elif error is not None:
            logger.error("the handler of stream %d failed", stream.stream_id, exc_info=error)
        if stream.request_ended and stream.response_ended:
            return
        # RFC 9113, 8.1: NO_ERROR stops a request that has already been answered.
        code = ErrorCodes.NO_ERROR if stream.response_ended else ErrorCodes.INTERNAL_ERROR
        try:
            self.h2.reset_stream(stream.stream_id, code)
        except ProtocolError:
            return  # The stream is already closed.
        self._write_pending()

    async def _stop(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            self.h2.close_connection()
            self._write_pending()
        except ProtocolError:
            pass  # The client has already closed the connection.
        self._writer.close()

    def open_window(self, stream: Http2Stream, size: int) -> None:
        """Let the client send `size` more bytes on a stream. The stream calls this."""
        if size and not stream.request_ended:
            self.h2.increment_flow_control_window(size, stream.stream_id)
            self._write_pending()

    async def window(self, stream_id: int) -> int:
        """Wait until the client's window is open, and return its size. The stream calls this."""
        async with self._window_opened:
            await self._window_opened.wait_for(
                lambda: self.h2.local_flow_control_window(stream_id) > 0
            )
        return self.h2.local_flow_control_window(stream_id)

    def _write_pending(self) -> None:
        if data := self.h2.data_to_send():
            self._writer.write(data)

    async def flush(self) -> None:
        """Write what `h2` has to send, waiting while the client does not read."""
        self._write_pending()
        await self._writer.drain()
