"""A duplex HTTP/2 transport for AWS's generated Python clients.

The SDK's default transport cannot stream in both directions at once. The SDK's other transport,
which uses the AWS Common Runtime, leaves TCP_NODELAY off, accepts no CA file and reports a lost
connection as a clean end of the stream. This transport uses the sans-I/O library `h2`. It has none
of these limitations and also supports HTTP/2 without TLS.

Every request has its own connection. A bidirectional stream lasts for a whole conversation, so
sharing a connection would bring no benefit. A lost connection affects only one stream.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterable
from typing import Any, Self

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
from smithy_core.aio.types import AsyncBytesProvider
from smithy_http import Field, Fields
from smithy_http.aio import HTTPResponse
from smithy_http.aio.interfaces import HTTPRequest
from smithy_http.interfaces import HTTPRequestConfiguration

READ_BYTES = 65_536
RECEIVE_WINDOW_BYTES = 1 << 20
"""Unread bytes of a response after which the peer must wait (22 s of 24 kHz speech)."""

CLOSE_TIMEOUT_S = 1.0
_NOT_IN_HTTP2 = {"host", "connection", "transfer-encoding", "keep-alive", "upgrade"}


class ConnectionLostError(ConnectionError):
    """The connection ended before the response was complete."""


class H2Transport:
    """Sends the requests of smithy clients over HTTP/2. Request and response stream concurrently.

    An `https` destination must negotiate `h2` by ALPN. For an `http` destination, the transport
    uses HTTP/2 with prior knowledge.

    Args:
        ca_file: PEM file of the only certificate authorities to trust; None for the system's.
        connect_timeout_s: Time limit in seconds for the TCP and TLS handshakes together.
    """

    TIMEOUT_EXCEPTIONS = (TimeoutError,)
    SUPPORTS_DUPLEX_STREAMING = True

    def __init__(self, *, ca_file: str | None = None, connect_timeout_s: float = 3.0) -> None:
        self._tls = ssl.create_default_context(cafile=ca_file)
        self._tls.set_alpn_protocols(["h2"])
        self._connect_timeout_s = connect_timeout_s
        self._exchanges: set[_Exchange] = set()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        # Clients copy their configuration for every call, and all copies share this transport.
        return self

    async def send(
        self, request: HTTPRequest, *, request_config: HTTPRequestConfiguration | None = None
    ) -> HTTPResponse:
        """Send a request and return its response as soon as the headers have arrived.

        The transport continues to send the request's body, and keeps the connection open, until the
        response's body is closed.

        Raises:
            TimeoutError: There was no connection within the time-out.
            ConnectionLostError: The connection ended before the headers arrived.
            OSError: The connection was refused, or TLS failed.
        """
        exchange = await self._connect(request)
        try:
            return await exchange.start(request)
        except BaseException:
            await exchange.close()
            raise

    async def close(self) -> None:
        """Close all connections. Responses in progress raise `ConnectionLostError`."""
        await asyncio.gather(*(exchange.close() for exchange in list(self._exchanges)))

    async def _connect(self, request: HTTPRequest) -> "_Exchange":
        destination = request.destination
        secure = destination.scheme == "https"
        try:
            async with asyncio.timeout(self._connect_timeout_s):
                reader, writer = await asyncio.open_connection(
                    destination.host,
                    destination.port or (443 if secure else 80),
                    ssl=self._tls if secure else None,
                )
        except TimeoutError:
            raise TimeoutError(
                f"{destination.netloc}: no connection within {self._connect_timeout_s:g} s"
            ) from None
        # A sentence is a small write followed by a pause. It must not wait until the previous write
        # is acknowledged (a round trip on loopback takes 45 ms instead of 1 ms).
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        exchange = _Exchange(reader, writer, forget=self._exchanges.discard)
        self._exchanges.add(exchange)
        if secure and writer.get_extra_info("ssl_object").selected_alpn_protocol() != "h2":
            await exchange.close()
            raise ConnectionError(
                f"{destination.netloc} does not support HTTP/2, which bidirectional streams need"
            )
        return exchange


class _Exchange:
    """One connection with one request and its response. It is also the body of the response."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, forget: Any):
        self._reader = reader
        self._writer = writer
        self._forget = forget
        self._h2 = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=True, header_encoding="utf-8")
        )
        self._h2.local_settings = h2.settings.Settings(
            client=True,
            initial_values={
                h2.settings.SettingCodes.ENABLE_PUSH: 0,
                h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: RECEIVE_WINDOW_BYTES,
            },
        )
        self._stream_id = 1
        self._headers: asyncio.Future[list[tuple[str, str]]] = (
            asyncio.get_running_loop().create_future()
        )
        self._received = bytearray()  # bounded by the receive window
        self._changed = asyncio.Event()  # data in _received, or the end of the response
        self._ended = False
        self._error: Exception | None = None
        self._window_opened = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    async def start(self, request: HTTPRequest) -> HTTPResponse:
        """Send the headers, begin to send the body, and return once the response begins."""
        destination = request.destination
        path = (destination.path or "/") + (f"?{destination.query}" if destination.query else "")
        headers = [
            (":method", request.method),
            (":scheme", destination.scheme or "https"),
            (":authority", destination.netloc),
            (":path", path),
        ]
        for field in request.fields:
            name = field.name.lower()
            if name not in _NOT_IN_HTTP2:
                headers += [(name, value) for value in field.values]
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(RECEIVE_WINDOW_BYTES)
        self._h2.send_headers(self._stream_id, headers)
        self._write()
        self._tasks = [
            asyncio.create_task(self._receive(), name="h2 receive"),
            asyncio.create_task(self._send_body(request.body), name="h2 send"),
        ]
        status, fields = 0, Fields()
        for name, value in await self._headers:
            if name == ":status":
                status = int(value)
            elif name in fields:
                fields[name].add(value)
            else:
                fields.set_field(Field(name=name, values=[value]))
        return HTTPResponse(status=status, fields=fields, body=self)

    # The interface through which the SDK reads the response's body.

    async def read(self, size: int = -1) -> bytes:
        """Return the next `size` bytes of the body, or fewer at its end.

        A negative `size` returns the whole rest of the body.

        Raises:
            ConnectionLostError: The connection ended before the body was complete.
        """
        result = bytearray()
        while size < 0 or len(result) < size:
            if self._received:
                taken = self._received[: None if size < 0 else size - len(result)]
                del self._received[: len(taken)]
                result += taken
                self._acknowledge(len(taken))
            elif self._error is not None:
                raise self._error
            elif self._ended:
                break
            else:
                self._changed.clear()
                await self._changed.wait()
        return bytes(result)

    async def close(self) -> None:
        """End the exchange. Both tasks and the connection have ended when this returns."""
        if self._closed:
            return
        self._closed = True
        self._forget(self)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._error is None:
            with contextlib.suppress(h2.exceptions.ProtocolError):
                if not self._ended:
                    self._h2.reset_stream(self._stream_id, h2.errors.ErrorCodes.CANCEL)
                self._h2.close_connection()
                self._write()
            self._fail(ConnectionLostError("this client closed the stream"))
        self._writer.close()
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._writer.wait_closed()
        except OSError:  # includes TimeoutError
            self._writer.transport.abort()

    def _acknowledge(self, size: int) -> None:
        if self._error is None and not self._closed:
            with contextlib.suppress(h2.exceptions.ProtocolError):
                self._h2.acknowledge_received_data(size, self._stream_id)
                self._write()

    def _write(self) -> None:
        if data := self._h2.data_to_send():
            self._writer.write(data)

    def _fail(self, error: Exception) -> None:
        """Record that no more data will arrive. A body that is complete stays readable."""
        if not self._headers.done():
            self._headers.set_exception(error)
            self._headers.exception()  # marks it as retrieved, in case nothing awaits it
        if not self._ended and self._error is None:
            self._error = error
        self._changed.set()
        self._window_opened.set()

    async def _receive(self) -> None:
        error = ConnectionLostError("the peer closed the connection")
        try:
            while data := await self._reader.read(READ_BYTES):
                for event in self._h2.receive_data(data):
                    self._handle(event)
                self._write()
        except (OSError, h2.exceptions.ProtocolError) as cause:
            error = ConnectionLostError(f"the connection failed: {cause or type(cause).__name__}")
        self._fail(error)
        # The rest of the request can no longer be sent.
        self._tasks[1].cancel()

    def _handle(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.ResponseReceived():
                if not self._headers.done():
                    self._headers.set_result([(str(n), str(v)) for n, v in event.headers])
            case h2.events.DataReceived():
                data = event.data or b""
                self._received += data
                self._changed.set()
                # Padding occupies the window, too, but is never read.
                self._acknowledge((event.flow_controlled_length or 0) - len(data))
            case h2.events.StreamEnded():
                self._ended = True
                self._changed.set()
            case h2.events.StreamReset():
                self._fail(
                    ConnectionLostError(
                        f"the peer reset the stream (HTTP/2 error code {event.error_code})"
                    )
                )
            case h2.events.ConnectionTerminated():
                self._fail(
                    ConnectionLostError(
                        f"the peer is going away (HTTP/2 error code {event.error_code})"
                    )
                )
            case h2.events.WindowUpdated() | h2.events.RemoteSettingsChanged():
                self._window_opened.set()

    async def _send_body(self, body: Any) -> None:
        try:
            if isinstance(body, AsyncIterable):
                async for chunk in body:
                    await self._send_chunk(bytes(chunk))
            elif body:
                await self._send_chunk(bytes(body))
            self._h2.end_stream(self._stream_id)
            self._write()
            await self._writer.drain()
        except (OSError, h2.exceptions.ProtocolError) as cause:
            self._fail(ConnectionLostError(f"sending failed: {cause or type(cause).__name__}"))
        finally:
            # The SDK writes its events into a bounded buffer. Closing the buffer raises an error in
            # a writer that waits for room; otherwise it would wait for ever.
            if isinstance(body, AsyncBytesProvider):
                await body.close(flush=False)

    async def _send_chunk(self, data: bytes) -> None:
        while data:
            size = min(
                len(data),
                self._h2.local_flow_control_window(self._stream_id),
                self._h2.max_outbound_frame_size,
            )
            if size <= 0:
                self._window_opened.clear()
                await self._window_opened.wait()
                if self._error is not None:
                    raise self._error
                continue
            self._h2.send_data(self._stream_id, data[:size])
            data = data[size:]
            self._write()
            await self._writer.drain()
