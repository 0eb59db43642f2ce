"""The speech of one conversation, which sends sentences and receives audio over one stream."""

import asyncio
import logging
from collections.abc import Callable
from typing import Self, Unpack

from speech_client.endpoint import SpeechEndpoint, SpeechStream
from speech_client.errors import (
    SpeechContainerError,
    SpeechError,
    SpeechInputError,
    SpeechTimeoutError,
    refusal,
)
from speech_client.protocol import (
    Audio,
    Cancelled,
    GoingAway,
    RequestError,
    SpeakSettings,
    SpeechProtocol,
    SynthesisComplete,
    SynthesisStart,
    Timing,
    Unrecognized,
)

logger = logging.getLogger(__name__)

MAX_STREAM_AGE_S = 1500.0
"""Seconds after which a stream takes no new request. SageMaker ends a session after 30 minutes."""

SILENCE_TIMEOUT_S = 15.0
MAX_WAITING_EVENTS = 64
"""Most events that an utterance buffers for a slow reader before the stream waits (1 MiB)."""

_CLOSE_TIMEOUT_S = 2.0

type UtteranceEvent = SynthesisStart | Timing | Audio | SynthesisComplete | Cancelled


class Utterance:
    """The events of one request. Iterate over it to get them in order.

    The events are `SynthesisStart`, then any number of `Audio`, then `SynthesisComplete` or
    `Cancelled`. If the request has `timestamps`, a `Timing` precedes the audio of each text
    segment. The audio is complete only if the iteration reaches `SynthesisComplete`. The iteration
    ends with an exception if the request fails.

    Raises (while iterating):
        SpeechInputError: The container refuses the request. The session stays open.
        SpeechContainerError: The container failed, or ended the session before the request was
            complete.
        SpeechConnectionError: The connection was lost.
        SpeechTimeoutError: Nothing arrived over the stream for the silence time-out.
    """

    def __init__(
        self, request_id: str, text: str, connection: "_Connection", silence_timeout_s: float
    ):
        self.request_id = request_id
        self.text = text
        self._connection = connection
        self._silence_timeout_s = silence_timeout_s
        self._events = asyncio.Queue[UtteranceEvent | None](MAX_WAITING_EVENTS)
        self._ended = False
        self._error: SpeechError | None = None
        self._discarded = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> UtteranceEvent:
        waiting_since = asyncio.get_running_loop().time()
        while not (self._ended and self._events.empty()):
            last_sign = max(waiting_since, self._connection.heard_at)
            try:
                async with asyncio.timeout_at(last_sign + self._silence_timeout_s):
                    event = await self._events.get()
            except TimeoutError:
                # Data for another request arrived, so this request is only waiting for its turn.
                if self._connection.heard_at > last_sign:
                    continue
                raise SpeechTimeoutError(
                    "SageMaker runtime or speech container sent nothing for "
                    f"{self._silence_timeout_s:g} s while the audio of request "
                    f"{self.request_id!r} was due; read the container's log, then check the network"
                ) from None
            if event is not None:
                return event
        raise self._error or StopAsyncIteration

    def discard(self) -> None:
        """Drop all events, buffered and future, because nothing reads them any more."""
        self._discarded = True
        while not self._events.empty():
            self._events.get_nowait()

    async def _put(self, event: UtteranceEvent) -> None:
        if not self._discarded:
            await self._events.put(event)

    def _end(self, error: SpeechError | None = None) -> None:
        self._ended = True
        self._error = error
        if self._events.empty():
            self._events.put_nowait(None)  # wakes a reader that waits


class SpeechSession:
    """Speaks the sentences of one conversation.

    `open` or the first `speak` opens the stream. It stays open between sentences and turns. The
    session replaces the stream between two sentences when the container is going away, when the
    stream is too old, and after the connection was lost. Requests in flight finish on the old
    stream if it still works.

    Read the utterances in the order in which you requested them. If nothing reads the first
    utterance, the stream stops when its buffers are full.

    Args:
        endpoint: The endpoint that speaks. The session does not close it.
        silence_timeout_s: Seconds that an utterance waits while nothing arrives over the stream.

    Attributes:
        streams_opened: Number of streams that this session has opened so far.
    """

    def __init__(
        self, endpoint: SpeechEndpoint, *, silence_timeout_s: float = SILENCE_TIMEOUT_S
    ) -> None:
        self.streams_opened = 0
        self._endpoint = endpoint
        self._silence_timeout_s = silence_timeout_s
        self._opening = asyncio.Lock()
        self._connection: _Connection | None = None
        self._retired: set[asyncio.Task[None]] = set()
        self._connections: set[_Connection] = set()
        self._closed = False
        self._warned = False

    async def open(self) -> None:
        """Open a stream if none is open.

        Raises:
            SpeechError: Opening failed, as `SpeechEndpoint.open_stream` describes.
        """
        await self._get_connection()

    async def speak(
        self, text: str, request_id: str, **settings: Unpack[SpeakSettings]
    ) -> Utterance:
        """Request speech for `text`, to follow the earlier requests. Does not wait for audio.

        Args:
            text: What to say.
            request_id: Identifies the request in its events. It must be unique among the requests
                in flight.
            **settings: How to say it; see `SpeakSettings`.

        Returns:
            The utterance to iterate over.

        Raises:
            SpeechInputError: The text is blank, or a request with this id is in flight.
            SpeechError: Opening a stream failed, as `SpeechEndpoint.open_stream` describes, or the
                connection was lost.
        """
        connection = await self._get_connection()
        try:
            message = connection.protocol.speak(text, request_id, **settings)
        except ValueError as error:
            raise SpeechInputError(str(error)) from error
        utterance = Utterance(request_id, text, connection, self._silence_timeout_s)
        connection.utterances[request_id] = utterance
        try:
            await connection.stream.send(message)
        except BaseException:
            utterance.discard()  # nothing will read it, and it must not block the stream
            raise
        return utterance

    async def cancel(self) -> None:
        """Stop the request that is being spoken and drop the queued requests.

        Every utterance in flight ends with `Cancelled`, or with `SynthesisComplete` if that event
        was on its way. The message is sent even if no utterance is in flight. It tells the
        container that the listener no longer plays the audio received so far; the container
        schedules by how much audio each listener has left to play. A lost connection is not an
        error here, because there is nothing left to stop.
        """
        for connection in list(self._connections):
            try:
                await connection.stream.send(connection.protocol.cancel())
            except SpeechError as error:
                logger.info("the cancel message was not sent: %s", error)

    async def close(self) -> None:
        """Close the session and its streams. Utterances in flight end unfinished."""
        self._closed = True
        async with self._opening:
            self._connection = None
        await asyncio.gather(*(connection.close() for connection in list(self._connections)))
        await asyncio.gather(*self._retired)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _get_connection(self) -> "_Connection":
        async with self._opening:
            if self._closed:
                raise SpeechInputError("the speech session is closed; create a new SpeechSession")
            if self._connection is not None and self._connection.takes_requests:
                return self._connection
            if self._connection is not None:
                self._retire(self._connection)
                self._connection = None
            stream = await self._endpoint.open_stream()
            self.streams_opened += 1
            self._connection = _Connection(stream, self._warn)
            self._connections.add(self._connection)
            return self._connection

    def _warn(self, warning: str) -> None:
        """Log the container's first warning of this session. It quotes no text."""
        if not self._warned:
            self._warned = True
            logger.warning("speech container: %s", warning)

    def _retire(self, connection: "_Connection") -> None:
        async def finish() -> None:
            # The request side stays open until the last audio has arrived.
            await connection.finished()
            await connection.close()
            self._connections.discard(connection)

        task = asyncio.create_task(finish(), name="retire speech stream")
        self._retired.add(task)
        task.add_done_callback(self._retired.discard)


class _Connection:
    """A stream in use, with its protocol state, its utterances and the task that reads it."""

    def __init__(self, stream: SpeechStream, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self.protocol = SpeechProtocol()
        self.utterances: dict[str, Utterance] = {}
        now = asyncio.get_running_loop().time()
        self.heard_at = now
        self._opened_at = now
        self.stream = stream
        self._going_away = False
        self._idle = asyncio.Event()
        self._reader = asyncio.create_task(self._read(), name="read speech stream")
        self._closing: asyncio.Task[None] | None = None

    @property
    def takes_requests(self) -> bool:
        age_s = asyncio.get_running_loop().time() - self._opened_at
        return not self._going_away and not self._reader.done() and age_s < MAX_STREAM_AGE_S

    async def finished(self) -> None:
        """Wait until no utterance is in flight."""
        while self.utterances:
            self._idle.clear()
            await self._idle.wait()

    async def close(self) -> None:
        """Close the session in the container, then the stream."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="close speech stream")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            # The container answers by closing its WebSocket, which ends the reading task.
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                if not self._reader.done():
                    await self.stream.send(self.protocol.close())
                    for utterance in self.utterances.values():
                        utterance.discard()
                    await asyncio.shield(self._reader)
        except (SpeechError, TimeoutError) as error:
            logger.info("a speech stream did not close cleanly: %s", error or type(error).__name__)
        finally:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
            await self.stream.close()

    async def _read(self) -> None:
        error: SpeechError = SpeechContainerError(
            "speech container closed the session; read the container's log"
        )
        try:
            while (part := await self.stream.receive()) is not None:
                self.heard_at = asyncio.get_running_loop().time()
                event = self.protocol.receive(
                    part.bytes_ or b"", part.data_type, part.completion_state
                )
                if event is not None:
                    await self._dispatch(event)
        except SpeechError as lost:
            error = lost
        finally:
            if self.utterances:
                logger.warning("%s (%d utterances were in flight)", error, len(self.utterances))
            for utterance in self.utterances.values():
                utterance._end(error)
            self.utterances.clear()
            self._idle.set()

    async def _dispatch(
        self, event: UtteranceEvent | RequestError | GoingAway | Unrecognized
    ) -> None:
        if isinstance(event, SynthesisStart) and event.warning is not None:
            self._warn(event.warning)
        match event:
            case Audio() | SynthesisStart() | Timing():
                if utterance := self.utterances.get(event.request_id):
                    await utterance._put(event)
            case SynthesisComplete() | Cancelled():
                if utterance := self.utterances.pop(event.request_id, None):
                    await utterance._put(event)
                    utterance._end()
            case RequestError(request_id=str() as request_id):
                if utterance := self.utterances.pop(request_id, None):
                    utterance._end(refusal(event.code, event.message))
            case GoingAway():
                logger.info("speech container is going away: %s", event.reason)
                self._going_away = True
            case RequestError() | Unrecognized():
                logger.warning("speech container: %s", event)
        if not self.utterances:
            self._idle.set()
