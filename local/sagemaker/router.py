"""A stand-in for the SageMaker runtime on loopback, with the real protocols on one TLS port.

`python -m local.sagemaker.router --endpoint NAME=http://127.0.0.1:8080 --tls-dir DIR
--access-key-id A --secret-access-key S`

The client chooses the protocol by ALPN. Over HTTP/2, the stand-in serves bidirectional streams.
Over HTTP/1.1, it serves InvokeEndpoint and two control routes of its own. The official SDKs need
its address, its CA file and the credentials.

- `GET /local/stats` answers `{"streams_opened": …, "streams_open": …, "requests": …}`.
- `POST /local/fault {"error": …}` makes the next stream fail with that error, for tests.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import ssl
import sys
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path
from typing import Literal

import httpx
from pydantic import ValidationError

from local.aws_wire.control import ControlBody, ControlError, parse_body
from local.aws_wire.errors import ApiError
from local.aws_wire.http1_server import HttpRequest, HttpResponse, serve_http1
from local.aws_wire.http2_server import Http2ServerConnection
from local.aws_wire.serving import run_until_signalled, stand_in_parser
from local.aws_wire.sigv4 import Verifier
from local.aws_wire.tls import make_tls
from local.sagemaker.batch_invocations import BatchInvocations
from local.sagemaker.bidirectional_stream import BidirectionalStreams, StreamFailure
from local.sagemaker.settings import RouterSettings

logger = logging.getLogger(__name__)

_OPEN_ERRORS = {
    "InternalServerError": HTTPStatus.INTERNAL_SERVER_ERROR,
    "ServiceUnavailableError": HTTPStatus.SERVICE_UNAVAILABLE,
}


class _Fault(ControlBody):
    """The error with which the next bidirectional stream fails."""

    error: Literal[
        "InternalServerError",
        "ServiceUnavailableError",
        "InternalStreamFailure",
        "ModelStreamError",
    ]


class SageMakerRouter:
    """The stand-in. Use `run_router`, which starts and stops it.

    Attributes:
        ca_file: The CA file that clients have to trust.
        port: The port on which it listens.
    """

    def __init__(self, settings: RouterSettings, client: httpx.AsyncClient) -> None:
        self._settings = settings
        verifier = Verifier(
            settings.access_key_id, settings.secret_access_key, settings.region, "sagemaker"
        )
        self._fault: ApiError | StreamFailure | None = None
        self._streams = BidirectionalStreams(settings, verifier, self._take_fault)
        self._batch = BatchInvocations(settings, verifier, client)
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.ca_file = Path()
        self.port = 0

    @property
    def url(self) -> str:
        """The endpoint URL for clients."""
        return f"https://{self._settings.host}:{self.port}"

    @property
    def counters(self) -> dict[str, int]:
        """The numbers of streams opened, of streams still open, and of batch requests forwarded."""
        return {
            "streams_opened": self._streams.opened,
            "streams_open": self._streams.open,
            "requests": self._batch.requests,
        }

    async def start(self) -> None:
        """Make the certificates and listen."""
        context, self.ca_file = make_tls(self._settings.tls_dir)
        self._server = await asyncio.start_server(
            self._accept, self._settings.host, self._settings.port, ssl=context
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening, and end every stream and connection."""
        if self._server is not None:
            self._server.close()
        connections = list(self._connections)
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._connections.add(task)
        task.add_done_callback(self._connection_ended)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tls: ssl.SSLObject = writer.get_extra_info("ssl_object")
        if tls.selected_alpn_protocol() == "h2":
            await Http2ServerConnection(reader, writer, self._streams.handle).run()
        else:
            await serve_http1(reader, writer, self._handle_http1)

    def _connection_ended(self, task: asyncio.Task[None]) -> None:
        self._connections.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("a connection's handler failed", exc_info=error)

    async def _handle_http1(self, request: HttpRequest) -> HttpResponse:
        match request.method, request.target:
            case "GET", "/local/stats":
                return _json_response(HTTPStatus.OK, self.counters)
            case "POST", "/local/fault":
                return self._set_fault(request.body)
            case _:
                return await self._batch.handle(request)

    def _set_fault(self, body: bytes) -> HttpResponse:
        try:
            name = parse_body(_Fault, body).error
        except ControlError as error:
            return _json_response(HTTPStatus.BAD_REQUEST, {"error": str(error)})
        message = "a test asked for this error"
        if name == "InternalStreamFailure" or name == "ModelStreamError":
            self._fault = StreamFailure(name, message)
        else:
            self._fault = ApiError(name, message, _OPEN_ERRORS[name])
        return _json_response(HTTPStatus.OK, {"error": name})

    def _take_fault(self) -> ApiError | StreamFailure | None:
        fault, self._fault = self._fault, None
        return fault


def _json_response(status: HTTPStatus, content: object) -> HttpResponse:
    return HttpResponse(status, {"content-type": "application/json"}, json.dumps(content).encode())


@contextlib.asynccontextmanager
async def run_router(settings: RouterSettings) -> AsyncIterator[SageMakerRouter]:
    """Start a router, and stop it at the end of the block."""
    # The environment's proxy variables do not apply to the container.
    async with httpx.AsyncClient(timeout=None, trust_env=False) as client:
        router = SageMakerRouter(settings, client)
        await router.start()
        try:
            yield router
        finally:
            await router.stop()


def _endpoint(argument: str) -> tuple[str, str]:
    name, separator, url = argument.partition("=")
    if not (name and separator and url):
        raise argparse.ArgumentTypeError(f"{argument!r}: must be NAME=http://HOST:PORT")
    return name, url


def _settings(arguments: list[str]) -> RouterSettings:
    parser = stand_in_parser("local.sagemaker.router", __doc__)
    parser.add_argument(
        "--endpoint",
        action="append",
        type=_endpoint,
        required=True,
        metavar="NAME=URL",
        help="an endpoint and its container; may be repeated",
    )
    parser.add_argument("--tls-dir", required=True, help="folder for ca.pem, cert.pem and key.pem")
    parser.add_argument("--access-key-id", required=True, help="the only caller's key id")
    parser.add_argument("--secret-access-key", required=True, help="the only caller's secret key")
    parser.add_argument("--region", default="us-east-1", help="the Region that requests name")
    parser.add_argument(
        "--max-session-s", type=float, default=1800.0, help="the longest time that a stream lives"
    )
    options = vars(parser.parse_args(arguments))
    endpoints = {name: {"url": url} for name, url in options.pop("endpoint")}
    try:
        return RouterSettings.model_validate({"endpoints": endpoints, **options})
    except ValidationError as error:
        parser.error(str(error))


@contextlib.asynccontextmanager
async def _serving(settings: RouterSettings) -> AsyncIterator[int]:
    async with run_router(settings) as router:
        yield router.port


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    options = _settings(sys.argv[1:])
    asyncio.run(run_until_signalled(_serving(options), options.host))
