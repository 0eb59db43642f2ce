"""A small OpenAI-compatible server: `GET /v1/models` and streamed `POST /v1/chat/completions`.

https://platform.openai.com/docs/api-reference/chat-streaming
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from local.aws_wire.serving import serve_app
from local.bedrock.server_common import BrokenOffError, EventStream


def text_deltas(text: str) -> list[dict[str, Any]]:
    """One delta for each word, with the space before it."""
    return [{"content": word} for word in re.findall(r"\s*\S+|\s+$", text)]


@dataclass
class OpenAIServer:
    """The server's answers, and what it has received.

    Attributes:
        models: The listed models.
        deltas: The deltas of every reply.
        finish_reason: The end of a reply that is shorter than `max_tokens`; None leaves it out.
        refusal: Status and message of the answer to every request, instead of a reply.
        break_after: The number of deltas after which the connection breaks off.
        error_after: The number of deltas after which an error is sent in the stream.
        streams: Whether a reply is streamed, or is one JSON document.
        length_name: The only name that the server accepts for the limit of a reply's length.
        interval_s: Seconds between two deltas.
        released: The last delta of a reply waits for this event.
        requests: The bodies of the requests for replies.
        keys: The API keys of all requests.
        streams_open: The number of replies that are being written.
    """

    models: list[str] | None = field(default_factory=lambda: ["llama3.2"])
    deltas: list[dict[str, Any]] = field(default_factory=lambda: text_deltas("Yes. It is."))
    finish_reason: str | None = "stop"
    refusal: tuple[int, str] | None = None
    break_after: int | None = None
    error_after: int | None = None
    streams: bool = True
    length_name: str | None = None
    interval_s: float = 0.0
    released: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    streams_open: int = 0
    url: str = ""

    def __post_init__(self) -> None:
        self.released.set()

    def _refused(self, request: Request) -> Response | None:
        self.keys.add(request.headers["authorization"].removeprefix("Bearer "))
        if self.refusal is None:
            return None
        status, message = self.refusal
        error = {"message": message, "type": "api_error", "param": None, "code": None}
        return JSONResponse({"error": error}, status)

    async def list_models(self, request: Request) -> Response:
        listed = self.models and [{"id": name, "object": "model"} for name in self.models]
        return self._refused(request) or JSONResponse({"object": "list", "data": listed})

    async def complete(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(body)
        if body.get("tools") == []:
            self.refusal = (400, "[] is too short - 'tools'")
        names = {"max_tokens", "max_completion_tokens"} & body.keys()
        if self.length_name is not None and names != {self.length_name}:
            message = f"Unsupported parameter: {names}. Use '{self.length_name}' instead."
            return JSONResponse({"error": {"message": message}}, 400)
        if refused := self._refused(request):
            return refused
        assert body["stream"] is True
        if not self.streams:
            text = "".join(delta["content"] for delta in self.deltas)
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
            return JSONResponse({"object": "chat.completion", "choices": [choice]})

        async def nothing() -> None:
            pass

        headers = {"content-type": "text/event-stream"}
        return EventStream(self._chunks(body), nothing, headers=headers)

    async def _chunks(self, body: dict[str, Any]) -> AsyncIterator[bytes]:
        def chunk(choices: list[dict[str, Any]], **more: Any) -> bytes:
            data = {
                "id": "chatcmpl-1",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": body["model"],
                "choices": choices,
                **more,
            }
            return f"data: {json.dumps(data)}\n\n".encode()

        self.streams_open += 1
        try:
            deltas, finish_reason = self.deltas, self.finish_reason
            if len(deltas) > body.get("max_tokens", len(deltas)):
                deltas, finish_reason = deltas[: body["max_tokens"]], "length"
            yield chunk([{"index": 0, "delta": {"role": "assistant", "content": ""}}])
            for index, delta in enumerate(deltas):
                if index == self.break_after:
                    raise BrokenOffError("requested by the test")
                if index == self.error_after:
                    yield b'data: {"error": {"message": "out of memory", "type": "server"}}\n\n'
                    return
                await asyncio.sleep(self.interval_s)
                if index == len(deltas) - 1:
                    await self.released.wait()
                yield chunk([{"index": 0, "delta": delta, "finish_reason": None}])
            if finish_reason is not None:
                yield chunk([{"index": 0, "delta": {}, "finish_reason": finish_reason}])
                count = len(deltas)
                yield chunk(
                    [],
                    usage={
                        "prompt_tokens": 7,
                        "completion_tokens": count,
                        "total_tokens": 7 + count,
                    },
                )
            yield b"data: [DONE]\n\n"
        finally:
            self.streams_open -= 1


@asynccontextmanager
async def run_openai_server() -> AsyncIterator[OpenAIServer]:
    """Serve on a free port until the end of the block."""
    server = OpenAIServer()
    app = Starlette(
        routes=[
            Route("/v1/models", server.list_models),
            Route("/v1/chat/completions", server.complete, methods=["POST"]),
        ]
    )
    async with serve_app(app, "127.0.0.1", 0) as port:
        server.url = f"http://127.0.0.1:{port}/v1"
        yield server
