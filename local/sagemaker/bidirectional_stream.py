"""InvokeEndpointWithBidirectionalStream: one HTTP/2 stream relayed to one container WebSocket.

AWS documents the mapping of frames, the pings and the names of the errors. The members of the
errors are those of `aws-sdk-sagemaker-runtime-http2` 0.12.0. A comment with "guess" marks behavior
that no public source describes.
"""

import asyncio
import logging
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from smithy_aws_event_stream.events import EventMessage
from websockets.frames import CloseCode, Opcode

from local.aws_wire.errors import ApiError
from local.aws_wire.event_stream import (
    CONTENT_TYPE,
    EventDecoder,
    EventStreamError,
    json_event,
)
from local.aws_wire.http2_server import Http2Stream
from local.aws_wire.sigv4 import EventSignatureChain, Verifier
from local.sagemaker.container_socket import (
    ContainerClosed,
    ContainerLost,
    ContainerSocket,
    open_container_socket,
)
from local.sagemaker.payload_parts import FramesToParts, PartsToFrames, PayloadPartError
from local.sagemaker.settings import Endpoint, RouterSettings, endpoint_name, find_endpoint

logger = logging.getLogger(__name__)

_ROUTE = re.compile(r"/endpoints/([^/?]+)/invocations-bidirectional-stream(?:\?.*)?")
_DEFAULT_PATH = "/invocations-bidirectional-stream"
_OPEN_TIMEOUT_S = 10.0
_CLOSING_TIMEOUT_S = 10.0


type _FailureKind = Literal["ModelStreamError", "InternalStreamFailure"]


class StreamFailure(Exception):
    """The stream ends with an exception event.

    Args:
        kind: The event's name in the service's model.
        message: The event's `Message`.
        error_code: The WebSocket close code as text. Only ModelStreamError has this member.
    """

    def __init__(self, kind: _FailureKind, message: str, error_code: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.error_code = error_code

    def event(self) -> EventMessage:
        """Return the event that reports the failure to the client."""
        body = {"Message": self.message}
        if self.error_code is not None:
            body["ErrorCode"] = self.error_code
        return json_event("exception", self.kind, body)


@dataclass(eq=False)
class BidirectionalStreams:
    """Handles the requests for bidirectional streams.

    Attributes:
        settings: The endpoints and limits.
        verifier: Checks the signatures of requests.
        take_fault: Called once for each request. Returns the error that a test has asked for.
        opened: How many streams have been answered with 200.
        open: How many of these streams are still open.
    """

    settings: RouterSettings
    verifier: Verifier
    take_fault: Callable[[], ApiError | StreamFailure | None]
    opened: int = 0
    open: int = 0

    async def handle(self, stream: Http2Stream) -> None:
        """Answer one request with an error, or with events until either side ends the stream."""
        try:
            fault = self.take_fault()
            if isinstance(fault, ApiError):
                raise fault
            chain, url = self._accept(stream)
            container = await open_container_socket(url, _OPEN_TIMEOUT_S)
        except ApiError as error:
            logger.info("refused %s: %s", stream.headers.get(":path"), error)
            await stream.send_headers(error.status, error.headers)
            await stream.send(error.body, end=True)
            return
        self.opened += 1
        self.open += 1
        try:
            await stream.send_headers(
                HTTPStatus.OK,
                {
                    "content-type": CONTENT_TYPE,
                    "x-amzn-requestid": str(uuid.uuid4()),
                    "x-amzn-invoked-production-variant": self.settings.variant,
                },
            )
            if fault is not None:
                raise fault
            await _Relay(self.settings, stream, container, chain).run()
            await stream.send(b"", end=True)
        except StreamFailure as failure:
            logger.info("stream %d failed: %s", stream.stream_id, failure.message)
            await stream.send(failure.event().encode(), end=True)
        finally:
            self.open -= 1
            container.close()

    def _accept(self, stream: Http2Stream) -> tuple[EventSignatureChain, str]:
        """Check a request. Return the signature chain of its events and the container's URL.

        Raises:
            ApiError: The request is refused.
        """
        headers = dict(stream.headers)
        method, target = headers[":method"], headers[":path"]
        name = endpoint_name(_ROUTE, method, target)
        headers.setdefault("host", headers.get(":authority", ""))
        chain = self.verifier.verify(method, target, headers, None)
        if headers.get("content-type") != CONTENT_TYPE:
            raise ApiError(
                "InputValidationError",
                f"Content-Type is {headers.get('content-type')!r}, not {CONTENT_TYPE}",
            )
        endpoint = find_endpoint(self.settings, name, headers, "InputValidationError")
        if not endpoint.bidirectional:
            # Guess: neither the error nor its text is documented.
            raise ApiError(
                "InputValidationError",
                f"Endpoint {name} does not support bidirectional streaming: its image lacks "
                "the label com.amazonaws.sagemaker.capabilities.bidirectional-streaming=true",
            )
        return chain, _container_url(endpoint, headers)


def _container_url(endpoint: Endpoint, headers: dict[str, str]) -> str:
    path = headers.get("x-amzn-sagemaker-model-invocation-path") or _DEFAULT_PATH
    query = headers.get("x-amzn-sagemaker-model-query-string")
    base = "ws" + endpoint.url.removeprefix("http")
    return f"{base}/{path.removeprefix('/')}" + (f"?{query}" if query else "")


@dataclass(eq=False)
class _Relay:
    """Carries frames both ways until the stream is over."""

    settings: RouterSettings
    stream: Http2Stream
    container: ContainerSocket
    chain: EventSignatureChain
    unanswered_pings: int = 0

    async def run(self) -> None:
        """Return when the container has closed with 1000.

        Raises:
            StreamFailure: The stream ended in another way.
        """
        tasks = [
            asyncio.create_task(self._client_to_container()),
            asyncio.create_task(self._container_to_client()),
            asyncio.create_task(self._ping()),
        ]
        try:
            # The first task that ends, in whatever way, ends the session. After the client's
            # half-close, it is the container's answer that ends it.
            done, _ = await asyncio.wait(
                tasks, timeout=self.settings.max_session_s, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
            if not done:
                # Guess: the limit of thirty minutes is reported, but not how the stream ends.
                self.container.start_closing(CloseCode.GOING_AWAY, "session limit")
                raise StreamFailure(
                    "InternalStreamFailure",
                    f"The session reached its limit of {self.settings.max_session_s:g} s.",
                )
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _client_to_container(self) -> None:
        """Forward PayloadParts. After the client's half-close, wait for the container's Close."""
        parts = PartsToFrames()
        envelopes = EventDecoder()
        ended = False
        try:
            while (data := await self.stream.receive()) is not None:
                for envelope in envelopes.feed(data):
                    if ended:
                        raise PayloadPartError("an event follows the one that ended the stream")
                    inner = self.chain.open(envelope)
                    ended = not inner
                    for event in _decode_all(inner):
                        await self.container.send(parts.frame(event))
            if envelopes.buffered_bytes:
                raise EventStreamError("the stream ended inside an event")
        except ContainerLost as error:
            # If there was a Close frame, the other direction has read it and ends the session.
            await asyncio.sleep(_CLOSING_TIMEOUT_S)
            raise _lost(error) from error
        except (ApiError, EventStreamError, PayloadPartError) as error:
            # Guess: the error for a bad event inside an open stream is not documented.
            self.container.start_closing(CloseCode.GOING_AWAY, "bad event")
            raise StreamFailure("InternalStreamFailure", str(error)) from error
        # Guess: the service is known to close the connection after a half-close, but not with which
        # code. Frames that the container sends before its own Close are still forwarded.
        self.container.start_closing(CloseCode.NORMAL_CLOSURE)
        await asyncio.sleep(_CLOSING_TIMEOUT_S)
        raise StreamFailure(
            "ModelStreamError", f"no Close frame within {_CLOSING_TIMEOUT_S:g} s", "1006"
        )

    async def _container_to_client(self) -> None:
        """Forward frames until the container sends Close."""
        parts = FramesToParts()
        while True:
            try:
                received = await self.container.receive()
            except ContainerLost as error:
                raise _lost(error) from error
            if isinstance(received, ContainerClosed):
                # Guess: in the documentation, every Close frame becomes a ModelStreamError. Here, a
                # normal closure, 1000, ends the stream without an error.
                if received.code == CloseCode.NORMAL_CLOSURE:
                    return
                raise StreamFailure(
                    "ModelStreamError",
                    received.reason or f"the container closed with {received.code}",
                    str(received.code),
                )
            if received.opcode is Opcode.PONG:
                self.unanswered_pings = 0
            else:
                await self.stream.send(parts.event(received).encode())

    async def _ping(self) -> None:
        """Send pings at intervals, and fail the stream if the container does not answer."""
        while True:
            await asyncio.sleep(self.settings.ping_interval_s)
            if self.unanswered_pings >= self.settings.max_unanswered_pings:
                raise StreamFailure(
                    "ModelStreamError",
                    f"the container left {self.unanswered_pings} pings unanswered",
                    "1006",
                )
            self.unanswered_pings += 1
            self.container.ping()


def _lost(error: ContainerLost) -> StreamFailure:
    return StreamFailure("ModelStreamError", str(error), "1006")


def _decode_all(encoded: bytes) -> list[EventMessage]:
    decoder = EventDecoder()
    events = decoder.feed(encoded)
    if decoder.buffered_bytes:
        raise EventStreamError("an envelope holds an incomplete event")
    return events
