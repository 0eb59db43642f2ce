"""A stand-in for the Bedrock runtime on loopback: ConverseStream on the real wire.

`python -m local.bedrock.converse [--port 0] [--first-token-s 0.4] [--tokens-per-s 12]`

It says what `replies.toml` has for the words of the last user message, at the pace that is set.
With credentials given, requests have to be signed with them.

Routes of its own, all JSON; an unknown key is answered with 400:

- `POST /local/script {"text": …, "error_after_tokens": …}`: the next replies; `null` resets.
- `POST /local/pace {"first_token_s": …, "tokens_per_s": …}`
- `POST /local/hold`: keep back the last text delta of every reply, until `POST /local/release`.
- `GET /local/stats` answers `{"requests": …, "streams_open": …, "model_ids": […],
  "last_message_count": …}`.
"""

import argparse
import asyncio
import contextlib
import logging
import sys
import uuid
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from local.aws_wire.control import ControlBody, ControlError, parse_body
from local.aws_wire.errors import ApiError
from local.aws_wire.event_stream import CONTENT_TYPE, json_event
from local.aws_wire.serving import run_until_signalled, serve_app, stand_in_parser
from local.aws_wire.sigv4 import Verifier
from local.bedrock.replies import choose_reply, load_replies, tokens

logger = logging.getLogger(__name__)


class _ContentBlock(BaseModel):
    """Only text is read; images, tool results and the like are passed over."""

    text: str = ""


class _Message(BaseModel):
    role: str
    content: list[_ContentBlock]


class _ConverseRequest(BaseModel):
    """What of Converse's body decides the reply. boto3 has validated all of it."""

    model_config = ConfigDict(extra="ignore")

    messages: list[_Message] = Field(min_length=1)

    @property
    def prompt(self) -> str:
        """The text of the last user message, `""` when it has none."""
        for message in reversed(self.messages):
            if message.role == "user":
                return " ".join(block.text for block in message.content)
        return ""


class _Script(ControlBody):
    """What the model says from now on.

    Attributes:
        text: Exactly this; None for the replies by keyword again.
        error_after_tokens: After so many tokens the stream breaks with a
            `modelStreamErrorException`; 0 refuses the request with `ThrottlingException`.
    """

    text: Annotated[str, Field(min_length=1)] | None = None
    error_after_tokens: Annotated[int, Field(ge=0)] | None = None


class Pace(ControlBody):
    """How fast the model writes.

    Attributes:
        first_token_s: Seconds until a reply's first token.
        tokens_per_s: Tokens a second after it.
    """

    first_token_s: float = Field(default=0.4, ge=0, allow_inf_nan=False)
    tokens_per_s: float = Field(default=12.0, gt=0, allow_inf_nan=False)


class _Counters(BaseModel):
    """What `GET /local/stats` answers."""

    requests: int = 0
    streams_open: int = 0
    model_ids: list[str] = []
    last_message_count: int = 0


class BedrockConverse:
    """The stand-in's state and routes; `app` is the ASGI application.

    Args:
        verifier: Checks signatures; None accepts every request.
        pace: How fast the model writes at first.
    """

    def __init__(self, *, verifier: Verifier | None = None, pace: Pace | None = None) -> None:
        self._verifier = verifier
        self._pace = pace or Pace()
        self._replies = load_replies()
        self._script = _Script()
        self._released = asyncio.Event()
        self._released.set()
        self._stopping = asyncio.Event()
        self._counters = _Counters()
        self.app = Starlette(
            routes=[
                # An ARN has slashes, which arrive decoded.
                Route("/model/{model_id:path}/converse-stream", self._converse, methods=["POST"]),
                Route("/local/script", self._set_script, methods=["POST"]),
                Route("/local/pace", self._set_pace, methods=["POST"]),
                Route("/local/hold", self._hold, methods=["POST"]),
                Route("/local/release", self._release, methods=["POST"]),
                Route("/local/stats", self._stats, methods=["GET"]),
            ],
            exception_handlers={ApiError: _api_error, ControlError: _control_error},
        )

    def stop(self) -> None:
        """End the replies that are being written with an error."""
        self._stopping.set()
        self._released.set()

    async def _converse(self, request: Request) -> Response:
        body = await request.body()
        if self._verifier is not None:
            self._verifier.verify(
                request.method,
                request.scope["raw_path"].decode(),
                dict(request.headers),
                body,
            )
        try:
            converse = parse_body(_ConverseRequest, body)
        except ControlError as error:
            raise ApiError("ValidationException", str(error)) from error
        model_id = request.path_params["model_id"]
        self._counters.requests += 1
        self._counters.last_message_count = len(converse.messages)
        if model_id not in self._counters.model_ids:
            self._counters.model_ids.append(model_id)
        if self._script.error_after_tokens == 0:
            raise ApiError(
                "ThrottlingException", "Too many requests.", HTTPStatus.TOO_MANY_REQUESTS
            )
        text = self._script.text or choose_reply(self._replies, converse.prompt)
        return StreamingResponse(
            self._stream(text, self._script.error_after_tokens),
            media_type=CONTENT_TYPE,
            headers={"x-amzn-requestid": str(uuid.uuid4())},
        )

    async def _stream(self, text: str, error_after_tokens: int | None) -> AsyncIterator[bytes]:
        """The events of one reply, each when it is due."""
        loop = asyncio.get_running_loop()
        started_s = loop.time()
        reply_tokens = tokens(text)
        self._counters.streams_open += 1
        try:
            yield _event("messageStart", {"role": "assistant"})
            due_s = started_s + self._pace.first_token_s
            for index, token in enumerate(reply_tokens):
                if index == error_after_tokens:
                    yield _exception("modelStreamErrorException", "The model stopped working.")
                    return
                # By the clock, so that what sending takes does not add up.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout_at(due_s):
                        await self._stopping.wait()
                if index == len(reply_tokens) - 1:
                    await self._released.wait()
                if self._stopping.is_set():
                    yield _exception("serviceUnavailableException", "The stand-in is stopping.")
                    return
                yield _event(
                    "contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": token}}
                )
                due_s += 1 / self._pace.tokens_per_s
            yield _event("contentBlockStop", {"contentBlockIndex": 0})
            yield _event("messageStop", {"stopReason": "end_turn"})
            yield _event(
                "metadata",
                {
                    "usage": {
                        "inputTokens": 1,
                        "outputTokens": len(reply_tokens),
                        "totalTokens": 1 + len(reply_tokens),
                    },
                    "metrics": {"latencyMs": round((loop.time() - started_s) * 1000)},
                },
            )
        finally:
            self._counters.streams_open -= 1

    async def _set_script(self, request: Request) -> Response:
        self._script = parse_body(_Script, await request.body())
        return JSONResponse(self._script.model_dump())

    async def _set_pace(self, request: Request) -> Response:
        pace = parse_body(Pace, await request.body())
        # What is absent stays as it is.
        self._pace = self._pace.model_copy(update=pace.model_dump(exclude_unset=True))
        return JSONResponse(self._pace.model_dump())

    async def _hold(self, request: Request) -> Response:
        parse_body(ControlBody, await request.body())
        self._released.clear()
        return JSONResponse({"held": True})

    async def _release(self, request: Request) -> Response:
        parse_body(ControlBody, await request.body())
        self._released.set()
        return JSONResponse({"held": False})

    async def _stats(self, request: Request) -> Response:
        return JSONResponse(self._counters.model_dump())


async def _api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    logger.info("refused %s: %s", request.url.path, error)
    return Response(error.body, error.status, error.headers)


async def _control_error(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, HTTPStatus.BAD_REQUEST)


def _event(name: str, body: object) -> bytes:
    return json_event("event", name, body).encode()


def _exception(name: str, message: str) -> bytes:
    return json_event("exception", name, {"message": message}).encode()


@contextlib.asynccontextmanager
async def run_bedrock(
    stand_in: BedrockConverse, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[int]:
    """Serve until the end of the block; the value is the port."""
    async with serve_app(stand_in.app, host, port) as bound_port:
        try:
            yield bound_port
        finally:
            stand_in.stop()


def _parser() -> argparse.ArgumentParser:
    parser = stand_in_parser("local.bedrock.converse", __doc__)
    parser.add_argument("--first-token-s", type=float, default=Pace().first_token_s)
    parser.add_argument("--tokens-per-s", type=float, default=Pace().tokens_per_s)
    parser.add_argument("--access-key-id", help="with it, signatures are verified")
    parser.add_argument("--secret-access-key")
    parser.add_argument("--region", default="us-east-1")
    return parser


def _stand_in(parser: argparse.ArgumentParser, options: argparse.Namespace) -> BedrockConverse:
    keys = options.access_key_id, options.secret_access_key
    if keys.count(None) == 1:
        parser.error("--access-key-id and --secret-access-key go together")
    try:
        pace = Pace(first_token_s=options.first_token_s, tokens_per_s=options.tokens_per_s)
    except ValidationError as error:
        parser.error(str(error))
    verifier = None if None in keys else Verifier(*keys, options.region, "bedrock")
    return BedrockConverse(verifier=verifier, pace=pace)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    parser = _parser()
    options = parser.parse_args()
    server = run_bedrock(_stand_in(parser, options), options.host, options.port)
    asyncio.run(run_until_signalled(server, options.host))
