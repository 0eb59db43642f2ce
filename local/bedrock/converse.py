"""A stand-in for the Bedrock runtime that serves ConverseStream with scripted replies.

`python -m local.bedrock.converse [--port 0] [--first-token-s 0.4] [--tokens-per-s 12]`

The words of the last user message choose a reply in `replies.toml`. The stand-in writes it at the
configured pace. If keys are given, requests must be signed with them.

The stand-in has routes of its own. They take and return JSON, and answer an unknown key with 400:

- `POST /local/script {"text": …, "error_after_tokens": …, "stop_reason": …}` sets the replies from
  now on. `null` resets a value.
- `POST /local/pace {"first_token_s": …, "tokens_per_s": …}` sets the pace.
- `POST /local/hold` holds back the last text delta of every reply until `POST /local/release`.
- `GET /local/stats` returns `{"requests": …, "streams_open": …, "model_ids": […],
  "last_message_count": …}`.
"""

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from local.aws_wire.control import ControlBody, ControlError, parse_body
from local.aws_wire.errors import ApiError
from local.aws_wire.event_stream import CONTENT_TYPE
from local.aws_wire.serving import serve_app
from local.aws_wire.sigv4 import Verifier
from local.bedrock.replies import choose_reply, load_replies, tokens
from local.bedrock.server_common import (
    create_app,
    event,
    exception,
    run,
    runtime_parser,
    verifier_from,
)


class _ContentBlock(BaseModel):
    """A content block. Only its text is read; images, tool results and others are ignored."""

    text: str = ""


class _Message(BaseModel):
    role: str
    content: list[_ContentBlock]


class _ConverseRequest(BaseModel):
    """The part of a ConverseStream request that chooses the reply. boto3 has validated it."""

    model_config = ConfigDict(extra="ignore")

    messages: list[_Message] = Field(min_length=1)

    @property
    def prompt(self) -> str:
        """The text of the last user message, or `""` if it has none."""
        for message in reversed(self.messages):
            if message.role == "user":
                return " ".join(block.text for block in message.content)
        return ""


class _Script(ControlBody):
    """The reply to every request from now on.

    Attributes:
        text: The reply's exact text. None chooses a reply by keyword again.
        error_after_tokens: The number of tokens after which the reply fails with a
            `modelStreamErrorException`. 0 refuses the request with a `ThrottlingException`.
        stop_reason: The reason for the end of the reply. None is `end_turn`.
    """

    text: Annotated[str, Field(min_length=1)] | None = None
    error_after_tokens: Annotated[int, Field(ge=0)] | None = None
    stop_reason: Annotated[str, Field(min_length=1)] | None = None


class Pace(ControlBody):
    """The speed at which replies are written.

    Attributes:
        first_token_s: Seconds from the request to the first token.
        tokens_per_s: Tokens per second after the first token.
    """

    first_token_s: float = Field(default=0.4, ge=0, allow_inf_nan=False)
    tokens_per_s: float = Field(default=12.0, gt=0, allow_inf_nan=False)


class _Counters(BaseModel):
    """The response of `GET /local/stats`."""

    requests: int = 0
    streams_open: int = 0
    model_ids: list[str] = []
    last_message_count: int = 0


class BedrockConverse:
    """The stand-in's state and routes.

    Args:
        verifier: Checks signatures; None accepts every request.
        pace: The speed of the replies until `/local/pace` changes it.

    Attributes:
        app: The ASGI application.
    """

    def __init__(self, *, verifier: Verifier | None = None, pace: Pace | None = None) -> None:
        self._pace = pace or Pace()
        self._replies = load_replies()
        self._script = _Script()
        self._released = asyncio.Event()
        self._released.set()
        self._stopping = asyncio.Event()
        self._counters = _Counters()
        self.app = create_app(
            verifier,
            self._converse,
            [
                Route("/local/script", self._set_script, methods=["POST"]),
                Route("/local/pace", self._set_pace, methods=["POST"]),
                Route("/local/hold", self._hold, methods=["POST"]),
                Route("/local/release", self._release, methods=["POST"]),
                Route("/local/stats", self._stats, methods=["GET"]),
            ],
        )

    def stop(self) -> None:
        """End every reply that is being written with an error."""
        self._stopping.set()
        self._released.set()

    async def _converse(self, model_id: str, body: bytes) -> Response:
        try:
            converse = parse_body(_ConverseRequest, body)
        except ControlError as error:
            raise ApiError("ValidationException", str(error)) from error
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
            self._stream(text, self._script.error_after_tokens, self._script.stop_reason),
            media_type=CONTENT_TYPE,
            headers={"x-amzn-requestid": str(uuid.uuid4())},
        )

    async def _stream(
        self, text: str, error_after_tokens: int | None, stop_reason: str | None
    ) -> AsyncIterator[bytes]:
        """Yield the encoded events of one reply, each when it is due."""
        loop = asyncio.get_running_loop()
        started_s = loop.time()
        reply_tokens = tokens(text)
        self._counters.streams_open += 1
        try:
            yield event("messageStart", {"role": "assistant"})
            due_s = started_s + self._pace.first_token_s
            for index, token in enumerate(reply_tokens):
                if index == error_after_tokens:
                    yield exception("modelStreamErrorException", "The model stopped working.")
                    return
                # Each token has a time of its own, so that delays in sending do not add up.
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout_at(due_s):
                        await self._stopping.wait()
                if index == len(reply_tokens) - 1:
                    await self._released.wait()
                if self._stopping.is_set():
                    yield exception("serviceUnavailableException", "The stand-in is stopping.")
                    return
                yield event("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": token}})
                due_s += 1 / self._pace.tokens_per_s
            yield event("contentBlockStop", {"contentBlockIndex": 0})
            yield event("messageStop", {"stopReason": stop_reason or "end_turn"})
            yield event(
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
        # A value that is absent does not change.
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


def main() -> None:
    """Run the stand-in as a process."""
    parser = runtime_parser("local.bedrock.converse", __doc__, keys_required=False)
    parser.add_argument(
        "--first-token-s",
        type=float,
        default=Pace().first_token_s,
        help="seconds until the first token of a reply (default: %(default)s)",
    )
    parser.add_argument(
        "--tokens-per-s",
        type=float,
        default=Pace().tokens_per_s,
        help="tokens per second after it (default: %(default)s)",
    )
    options = parser.parse_args()
    verifier = verifier_from(parser, options)
    try:
        pace = Pace(first_token_s=options.first_token_s, tokens_per_s=options.tokens_per_s)
    except ValidationError as error:
        parser.error(str(error))
    stand_in = BedrockConverse(verifier=verifier, pace=pace)
    run(run_bedrock(stand_in, options.host, options.port), options.host)


if __name__ == "__main__":
    main()
