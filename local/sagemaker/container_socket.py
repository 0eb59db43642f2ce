"""A WebSocket to the container that sends and receives single frames with their FIN bit.

The usual clients return whole messages, but SageMaker forwards frames. This is therefore a thin
adapter around the protocol of websockets, which is without I/O.
"""

import asyncio
import contextlib
from dataclasses import dataclass

from smithy_aws_event_stream.events import MAX_PAYLOAD_LENGTH
from websockets.client import ClientProtocol
from websockets.exceptions import InvalidState, InvalidStatus
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from local.sagemaker.settings import model_error

_READ_BYTES = 64 * 1024


class ContainerLost(ConnectionError):
    """The connection ended without a closing handshake, or violated the WebSocket protocol."""


@dataclass(frozen=True)
class ContainerClosed:
    """The container sent a Close frame. If the frame has no code, `code` is 1005."""

    code: int
    reason: str


class ContainerSocket:
    """One open WebSocket. Create it with `open_container_socket` and end it with `close`.

    `send` and `receive` may run in different tasks. asyncio has set TCP_NODELAY.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: ClientProtocol
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._protocol = protocol
        self._received: list[Frame] = []

    async def handshake(self) -> None:
        """Upgrade the connection.

        Raises:
            ApiError: The container answered with an HTTP response without an upgrade.
            ContainerLost: The connection ended, or the answer is not HTTP.
        """
        self._protocol.send_request(self._protocol.connect())
        await self._flush()
        while self._protocol.state is State.CONNECTING and self._protocol.handshake_exc is None:
            await self._read()
        match self._protocol.handshake_exc:
            case InvalidStatus(response=response):
                status = response.status_code
                body = bytes(response.body or b"").decode(errors="replace")
                answer = f"the WebSocket handshake was answered with HTTP {status}"
                raise model_error(status, body or answer)
            case Exception() as error:
                raise ContainerLost(str(error))

    async def send(self, frame: Frame) -> None:
        """Send one text, binary or continuation frame, waiting while the container does not read.

        After a Close frame of either side, frames are dropped, as the peer would drop them.

        Raises:
            ContainerLost: The connection is broken.
        """
        try:
            match frame.opcode:
                case Opcode.TEXT:
                    self._protocol.send_text(frame.data, frame.fin)
                case Opcode.BINARY:
                    self._protocol.send_binary(frame.data, frame.fin)
                case _:
                    self._protocol.send_continuation(frame.data, frame.fin)
        except InvalidState:
            return
        await self._flush()

    def ping(self) -> None:
        """Send a Ping without waiting. `receive` returns its Pong."""
        with contextlib.suppress(InvalidState):
            self._protocol.send_ping(b"")
            self._write_pending()

    async def receive(self) -> Frame | ContainerClosed:
        """Return the next data or Pong frame, or the container's Close.

        It answers Pings and does not return them.

        Raises:
            ContainerLost: The connection ended without a Close frame.
        """
        while True:
            while self._received:
                frame = self._received.pop(0)
                if frame.opcode is Opcode.CLOSE:
                    close = self._protocol.close_rcvd
                    if close is not None:
                        return ContainerClosed(int(close.code), close.reason)
                elif frame.opcode is not Opcode.PING:
                    return frame
            if self._protocol.parser_exc is not None:
                raise ContainerLost(f"the connection to the container broke: {self._why()}")
            data = await self._read()
            # These are Pongs. This does not wait for the writer to drain, because a container that
            # is itself waiting to write must still be read.
            self._write_pending()
            if not data and not self._received and self._protocol.parser_exc is None:
                raise ContainerLost("the connection to the container ended")

    def start_closing(self, code: CloseCode, reason: str = "") -> None:
        """Send a Close frame, unless one was sent. `receive` then returns the container's.

        It does not wait, so that it also works if the container no longer reads.
        """
        with contextlib.suppress(InvalidState):
            self._protocol.send_close(code, reason)
            self._write_pending()

    def close(self) -> None:
        """Close the connection without waiting, after a Close frame with 1001 if none was sent."""
        self.start_closing(CloseCode.GOING_AWAY)
        self._writer.close()

    def _why(self) -> str:
        error = self._protocol.parser_exc
        return "end of stream" if isinstance(error, EOFError) else str(error)

    async def _read(self) -> bytes:
        """Read once and pass the data to the protocol. Return `b""` at the end of the stream."""
        try:
            data = await self._reader.read(_READ_BYTES)
        except OSError as error:
            raise ContainerLost(f"the connection to the container broke: {error}") from error
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        self._received += [
            event for event in self._protocol.events_received() if isinstance(event, Frame)
        ]
        return data

    def _write_pending(self) -> None:
        # Empty data means a half-close, which is not needed because `close` closes both directions.
        for data in self._protocol.data_to_send():
            if data:
                self._writer.write(data)

    async def _flush(self) -> None:
        self._write_pending()
        try:
            await self._writer.drain()
        except OSError as error:
            raise ContainerLost(f"the connection to the container broke: {error}") from error


async def open_container_socket(url: str, timeout_s: float) -> ContainerSocket:
    """Connect to `ws://host:port/path?query`.

    Raises:
        ApiError: With 424: there is no connection or no answer within `timeout_s` seconds, or the
            container refuses the WebSocket or closes the connection.
    """
    uri = parse_uri(url)
    try:
        async with asyncio.timeout(timeout_s):
            reader, writer = await asyncio.open_connection(uri.host, uri.port)
            # An event carries at most this many bytes, so a longer frame could not be forwarded.
            protocol = ClientProtocol(uri, max_size=(None, MAX_PAYLOAD_LENGTH))
            socket = ContainerSocket(reader, writer, protocol)
            try:
                await socket.handshake()
            except BaseException:
                writer.close()
                raise
            return socket
    except TimeoutError as error:
        raise model_error(0, f"no answer within {timeout_s} s") from error
    except OSError as error:
        raise model_error(0, str(error)) from error
