"""One WebSocket connection: the asynchronous input and output of a `Session`."""

import asyncio
import logging
import time
from contextlib import aclosing
from functools import partial

from starlette.websockets import WebSocket, WebSocketDisconnect

from kokoro_server.messages import INTERNAL, ProtocolError
from kokoro_server.metrics import Record
from kokoro_server.off_loop import read_text
from kokoro_server.session import Session
from kokoro_server.synthesis import Speech
from kokoro_server.utterance import Utterance, UtteranceState

TICK_S = 0.5

logger = logging.getLogger(__name__)


class Connection:
    """Reads, synthesizes and writes concurrently until the peer leaves or the session ends.

    Args:
        websocket: The accepted WebSocket.
        session: Decides what is to be done. It must not be used elsewhere.
        speech: Shared with the other connections.
        peer_timeout_s: How long a peer that does not read may hold up one frame, in seconds.
        record: Called with each utterance when it has ended.
    """

    def __init__(
        self,
        websocket: WebSocket,
        session: Session,
        speech: Speech,
        peer_timeout_s: float,
        record: Record,
    ) -> None:
        self._websocket = websocket
        self._session = session
        self._speech = speech
        self._peer_timeout_s = peer_timeout_s
        self._record = record
        # Each event wakes one task after a change that may concern it.
        self._to_speak = asyncio.Event()
        self._to_write = asyncio.Event()
        self._written = asyncio.Event()
        self._speaking: tuple[Utterance, asyncio.Task[None]] | None = None

    async def run(self) -> None:
        """Serve the connection to its end. No task and no work is left running."""
        try:
            async with asyncio.TaskGroup() as tasks:
                reader = tasks.create_task(self._read())
                writer = tasks.create_task(self._write())
                others = [
                    tasks.create_task(self._speak(tasks)),
                    tasks.create_task(self._watch_time()),
                ]
                await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
                for task in (reader, writer, *others):
                    task.cancel()
        finally:
            self._session.connection_lost()

    def shut_down(self, deadline_s: float) -> None:
        """Announce to the client that the server stops in `deadline_s` seconds."""
        self._session.shut_down(time.monotonic(), deadline_s)
        self._session_changed()

    def _session_changed(self) -> None:
        if self._speaking is not None and self._speaking[0].state is UtteranceState.CANCELLED:
            self._speaking[1].cancel()
        self._to_speak.set()
        self._to_write.set()

    async def _read(self) -> None:
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            # An empty text frame is legal, so compare with None instead of testing for truth.
            frame = message.get("text")
            if frame is None:
                frame = message["bytes"]
            arrived_s = time.monotonic()
            read = partial(self._session.read, frame, time.time())
            self._session.take(await read_text(frame, read), arrived_s)
            self._session_changed()
            while not self._session.can_receive:
                self._written.clear()
                await self._written.wait()

    async def _speak(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            self._to_speak.clear()
            utterance = self._session.next_utterance(time.monotonic())
            if utterance is None:
                await self._to_speak.wait()
                continue
            # The work is a task of its own, so that cancelling the utterance can cancel it.
            work = tasks.create_task(self._synthesize(utterance))
            self._speaking = (utterance, work)
            try:
                await asyncio.wait({work})
            finally:
                self._speaking = None
                work.cancel()

    async def _synthesize(self, utterance: Utterance) -> None:
        try:
            async with aclosing(self._speech.speak(utterance)) as chunks:
                async for chunk in chunks:
                    self._session.add_chunk(utterance, chunk)
                    self._to_write.set()
                    while not self._session.has_room:
                        self._written.clear()
                        await self._written.wait()
            self._session.complete(utterance)
        except ProtocolError as error:
            self._session.fail(utterance, error)
        except Exception:
            # A fault in one request must not end the session. The client learns only that the
            # request failed. The log has the cause.
            logger.exception("request %s failed", utterance.request.request_id)
            self._session.fail(utterance, INTERNAL)
        self._record(utterance)
        self._to_write.set()

    async def _write(self) -> None:
        while True:
            self._to_write.clear()
            frame = self._session.next_frame(time.monotonic())
            if frame is None and self._session.close_code is None:
                await self._to_write.wait()
                continue
            try:
                async with asyncio.timeout(self._peer_timeout_s):
                    if frame is None:
                        assert self._session.close_code is not None
                        await self._websocket.close(self._session.close_code)
                        return
                    if isinstance(frame, str):
                        await self._websocket.send_text(frame)
                    else:
                        await self._websocket.send_bytes(frame)
            except TimeoutError:
                logger.warning(
                    "dropped a peer that did not read a frame for %s s", self._peer_timeout_s
                )
                return
            except (WebSocketDisconnect, RuntimeError):
                # RuntimeError: uvicorn itself has closed the connection, after a frame that it
                # refused or a ping that was not answered.
                return
            self._written.set()

    async def _watch_time(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            self._session.tick(time.monotonic())
            self._session_changed()
