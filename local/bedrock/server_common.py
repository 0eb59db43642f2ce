"""The shared parts of the servers at the agent's Bedrock address.

All of them serve ConverseStream, verify the agent's signature, answer errors as Bedrock does, and
stop work on a reply when the agent hangs up.
"""

import argparse
import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from local.aws_wire.control import ControlError
from local.aws_wire.errors import ApiError
from local.aws_wire.event_stream import CONTENT_TYPE, json_event
from local.aws_wire.serving import run_until_signalled, stand_in_parser
from local.aws_wire.sigv4 import Verifier

logger = logging.getLogger(__name__)

type Answer = Callable[[str, bytes], Coroutine[Any, Any, Response]]
"""Takes the model id and the body of a request, and returns its response."""


class BrokenOffError(Exception):
    """A reply cannot be continued, and no error event can be sent in its place."""


class EventStream(StreamingResponse):
    """A reply as it is written.

    A `BrokenOffError` from the body closes the connection without ending the response.

    Args:
        body: The bytes of the event stream.
        close: Releases what the body reads from. It is called however the response ends, even if
            the body has not been read at all.
        status: The HTTP status.
        headers: Further response headers. A `content-type` replaces that of an event stream.
    """

    def __init__(
        self,
        body: AsyncIterator[bytes],
        close: Callable[[], Awaitable[None]],
        status: int = HTTPStatus.OK,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(body, status, headers, media_type=CONTENT_TYPE)
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, until it is complete or the agent hangs up."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._close()

    async def stream_response(self, send: Send) -> None:
        """Send the status, the headers and the body."""
        try:
            await super().stream_response(send)
        except BrokenOffError as error:
            logger.warning("%s", error)


def create_app(
    verifier: Verifier | None, answer: Answer, routes: Sequence[BaseRoute] = ()
) -> Starlette:
    """Return the ASGI application.

    Args:
        verifier: Checks signatures; None accepts every request.
        answer: Answers a verified request. It is cancelled when the agent hangs up before the
            response begins.
        routes: Further routes.
    """

    async def converse_stream(request: Request) -> Response:
        body = await request.body()
        if verifier is not None:
            target = request.scope["raw_path"].decode()
            verifier.verify(request.method, target, dict(request.headers), body)
        return await _while_connected(request, answer(request.path_params["model_id"], body))

    return Starlette(
        routes=[
            # The slashes of an ARN arrive decoded.
            Route("/model/{model_id:path}/converse-stream", converse_stream, methods=["POST"]),
            *routes,
        ],
        exception_handlers={ApiError: _api_error, ControlError: _control_error},
    )


async def _while_connected(request: Request, answer: Coroutine[Any, Any, Response]) -> Response:
    """Await the answer to a request whose body has been read, unless the agent hangs up first."""
    answering = asyncio.create_task(answer)
    hanging_up = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait((answering, hanging_up), return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            return answering.result()
        return Response()  # nobody receives it
    finally:
        answering.cancel()
        hanging_up.cancel()
        await asyncio.gather(answering, hanging_up, return_exceptions=True)


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    logger.info("refused %s: %s: %s", request.url.path, error.code, error)
    return Response(error.body, error.status, error.headers)


async def _control_error(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, HTTPStatus.BAD_REQUEST)


def event(name: str, body: object) -> bytes:
    """Return an encoded event of ConverseStream, such as `contentBlockDelta`."""
    return json_event("event", name, body).encode()


def exception(name: str, message: str) -> bytes:
    """Return an encoded exception of ConverseStream, such as `modelStreamErrorException`."""
    return json_event("exception", name, {"message": message}).encode()


def runtime_parser(
    program: str, description: str | None, *, keys_required: bool = True
) -> argparse.ArgumentParser:
    """Return a command line with the address to listen on and the keys that the agent signs with.

    Args:
        program: The module's name.
        description: The module's docstring.
        keys_required: Whether the program refuses to run without keys.
    """
    parser = stand_in_parser(program, description)
    parser.add_argument(
        "--access-key-id",
        required=keys_required,
        help="the access key that the agent signs its requests with",
    )
    parser.add_argument(
        "--secret-access-key", required=keys_required, help="the secret of that access key"
    )
    parser.add_argument(
        "--region", default="us-east-1", help="the AWS Region that the agent signs for"
    )
    return parser


def verifier_from(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Verifier | None:
    """Return the verifier for the keys on the command line, None without keys."""
    keys = options.access_key_id, options.secret_access_key
    if keys.count(None) == 1:
        parser.error("--access-key-id and --secret-access-key must be given together")
    return None if None in keys else Verifier(*keys, options.region, "bedrock")


def run(server: AbstractAsyncContextManager[int], host: str) -> None:
    """Serve until SIGTERM or SIGINT, and log to standard error."""
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    asyncio.run(run_until_signalled(server, host))
