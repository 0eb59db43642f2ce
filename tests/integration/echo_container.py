"""A container in miniature: a real WebSocket server that records and echoes single frames."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

from websockets.frames import Close, Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol


class EchoContainer:
    """Echoes every frame, FIN bit and all, except the text frames that are orders.

    Orders: `close CODE REASON`, `drop` (the connection, without a Close), `fragments` (send a
    message in two frames), `send N` (a binary frame of N bytes), `flood N` (N binary frames of
    64 KiB), `ping`, `deaf` (read no more until `hearing` is set).
    """

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.frames: list[Frame] = []
        self.closes: list[Close] = []
        self.flooded = 0
        self.pongs = True
        self.hearing = asyncio.Event()
        self.port = 0
        self._news = asyncio.Condition()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something that was received makes the condition true."""
        async with asyncio.timeout(20), self._news:
            await self._news.wait_for(condition)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        protocol = ServerProtocol(max_size=None)
        try:
            while data := await reader.read(65536):
                protocol.receive_data(data)
                for event in protocol.events_received():
                    if isinstance(event, Request):
                        self.paths.append(event.path)
                        refused = event.path.startswith("/refuse")
                        protocol.send_response(
                            protocol.reject(403, "no entry") if refused else protocol.accept(event)
                        )
                    elif isinstance(event, Frame):
                        await self._received(protocol, event, writer)
                async with self._news:
                    if protocol.close_rcvd and protocol.close_rcvd not in self.closes:
                        self.closes.append(protocol.close_rcvd)
                    self._news.notify_all()
                self._flush(protocol, writer)
                await writer.drain()
        except OSError:
            pass  # The router has hung up.
        finally:
            writer.close()

    async def _received(
        self, protocol: ServerProtocol, frame: Frame, writer: asyncio.StreamWriter
    ) -> None:
        self.frames.append(frame)
        if not self.pongs and frame.opcode is Opcode.PING:
            protocol.data_to_send()  # thrown away
        if frame.opcode is Opcode.BINARY:
            protocol.send_binary(frame.data, frame.fin)
        elif frame.opcode is Opcode.CONT:
            protocol.send_continuation(frame.data, frame.fin)
        elif frame.opcode is Opcode.TEXT:
            match bytes(frame.data).split(b" ", 2):
                case [b"close", code, reason]:
                    protocol.send_close(int(code), reason.decode())
                case [b"drop"]:
                    writer.transport.abort()
                case [b"fragments"]:
                    protocol.send_text(b"first ", fin=False)
                    protocol.send_continuation(b"second", fin=True)
                case [b"send", size]:
                    protocol.send_binary(bytes(int(size)))
                case [b"flood", count]:
                    for _ in range(int(count)):
                        protocol.send_binary(bytes(65536))
                        self._flush(protocol, writer)
                        await writer.drain()
                        self.flooded += 1
                case [b"ping"]:
                    protocol.send_ping(b"are you there")
                case [b"deaf"]:
                    await self.hearing.wait()
                case _:
                    protocol.send_text(frame.data, frame.fin)

    @staticmethod
    def _flush(protocol: ServerProtocol, writer: asyncio.StreamWriter) -> None:
        for data in protocol.data_to_send():
            if data:
                writer.write(data)
            elif writer.can_write_eof():
                writer.write_eof()


@contextlib.asynccontextmanager
async def run_echo_container() -> AsyncIterator[EchoContainer]:
    container = EchoContainer()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        await container.serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    container.port = server.sockets[0].getsockname()[1]
    try:
        yield container
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
