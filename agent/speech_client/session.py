"""A conversation's speech: sentences in, audio out, over one stream as long as it lasts."""

import asyncio
import logging
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
"""No request starts on an older stream: SageMaker ends a session after 30 minutes."""

SILENCE_TIMEOUT_S = 15.0
MAX_WAITING_EVENTS = 64
"""What one utterance may hold for a slow reader before the stream has to wait (1 MiB)."""

_CLOSE_TIMEOUT_S = 2.0

type UtteranceEvent = SynthesisStart | Timing | Audio | SynthesisComplete | Cancelled


class Utterance:
    """One request's events, in order: iterate it.

    `SynthesisStart`, `Audio`… (each text segment after its `Timing`, if that was asked for), then
    `SynthesisComplete` or `Cancelled`. The audio is all there only if the iteration reached
    `SynthesisComplete`; anything else ends it with an exception.

    Raises (while iterating):
        SpeechInputError: The container refuses the request; the session goes on.
        SpeechContainerError: The container failed, or ended the session before it was done.
        SpeechConnectionError: The connection was lost.
        SpeechTimeoutError: Nothing at all came over the stream for the time-out.
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
                # While other requests are being answered this one is only waiting its turn.
                if self._connection.heard_at > last_sign:
                    continue
                raise SpeechTimeoutError(
                    "SageMaker runtime or speech container: silent for "
                    f"{self._silence_timeout_s:g} s"
                ) from None
            if event is not None:
                return event
        raise self._error or StopAsyncIteration

    def discard(self) -> None:
        """Drop what has come and what will come: nobody reads this any more."""
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
            self._events.put_nowait(None)  # for a reader that waits


class SpeechSession:
    """Speaks one conversation's sentences.

    The stream is opened by `open`, or by the first `speak`. It stays open between sentences and
    turns. It is replaced, between two sentences, when the container is going away, when it has
    grown too old, and after a loss; what was in flight finishes on the old one if that lives.

    Read utterances in the order they were asked for: a stream whose first utterance nobody reads
    comes to rest when its buffers are full.

    Args:
        endpoint: Where to speak. The session does not close it.
        silence_timeout_s: How long an utterance waits for any sign of life.

    Attributes:
        streams_opened: How many streams this session has opened so far.
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

    async def open(self) -> None:
        """Make sure that a stream is open; returns at once if one is.

        Raises:
            SpeechError: As `SpeechEndpoint.open_stream` says.
        """
        await self._get_connection()

    async def speak(
        self, text: str, request_id: str, **settings: Unpack[SpeakSettings]
    ) -> Utterance:
        """Ask for `text` to be spoken after what was asked for before; does not wait for audio.

        Args:
            text: What to say.
            request_id: Names the request in every event about it; unique among those in flight.
            **settings: How to say it; see `SpeakSettings`.

        Returns:
            The utterance to iterate.

        Raises:
            SpeechInputError: The text is blank or the id is in flight.
            SpeechError: As `SpeechEndpoint.open_stream` does, or the connection is lost.
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
            utterance.discard()  # nobody will read it, and it must not hold up the stream
            raise
        return utterance

    async def cancel(self) -> None:
        """Stop what is being spoken and drop what is queued.

        Every utterance in flight ends with `Cancelled`, or with `SynthesisComplete` if that was
        on its way. Where none is, the container learns that what it sent is played no more: it
        schedules by what its listeners have left to play. A lost connection is no error here:
        there is nothing left to stop.
        """
        for connection in list(self._connections):
            try:
                await connection.stream.send(connection.protocol.cancel())
            except SpeechError as error:
                logger.info("cancel: %s", error)

    async def close(self) -> None:
        """Close the session and its streams; utterances in flight end, unfinished."""
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
                raise SpeechInputError("the speech session is closed")
            if self._connection is not None and self._connection.takes_requests:
                return self._connection
            if self._connection is not None:
                self._retire(self._connection)
                self._connection = None
            stream = await self._endpoint.open_stream()
            self.streams_opened += 1
            self._connection = _Connection(stream)
            self._connections.add(self._connection)
            return self._connection

    def _retire(self, connection: "_Connection") -> None:
        async def finish() -> None:
            # The request's side stays open until the last audio is here.
            await connection.finished()
            await connection.close()
            self._connections.discard(connection)

        task = asyncio.create_task(finish(), name="retire speech stream")
        self._retired.add(task)
        task.add_done_callback(self._retired.discard)


class _Connection:
    """A stream in use: its protocol state, its utterances, and the task that reads it."""

    def __init__(self, stream: SpeechStream) -> None:
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
            # The container answers by closing its WebSocket, which ends our reading.
            async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                if not self._reader.done():
                    await self.stream.send(self.protocol.close())
                    for utterance in self.utterances.values():
                        utterance.discard()
                    await asyncio.shield(self._reader)
        except (SpeechError, TimeoutError) as error:
            logger.info("closing a speech stream: %s", error or type(error).__name__)
        finally:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
            await self.stream.close()

    async def _read(self) -> None:
        error: SpeechError = SpeechContainerError("speech container: closed the session")
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
                logger.warning("%s with %d utterances in flight", error, len(self.utterances))
            for utterance in self.utterances.values():
                utterance._end(error)
            self.utterances.clear()
            self._idle.set()

    async def _dispatch(
        self, event: UtteranceEvent | RequestError | GoingAway | Unrecognized
    ) -> None:
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
