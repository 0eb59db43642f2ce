"""Answers the agent's ConverseStream requests from an OpenAI-compatible server.

`python -m local.bedrock.openai_compatible --url http://127.0.0.1:11434/v1 [--model NAME]
--access-key-id ID --secret-access-key SECRET`

Ollama, llama.cpp, vLLM and others have this interface. The reply comes through the OpenAI model
of Strands Agents. The model is `--model`, or the first one that the server lists; the model id in
the agent's requests is ignored. The API key is `OPENAI_API_KEY`, if it is set.

The thoughts of a reasoning model are left out of the reply.
"""

import logging
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Annotated, Any, cast, override

import httpx
import openai
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from starlette.responses import Response
from strands.models.openai import OpenAIModel
from strands.types.content import Messages
from strands.types.exceptions import ContextWindowOverflowException, ModelThrottledException
from strands.types.streaming import StreamEvent

from local.aws_wire.control import ControlError, parse_body
from local.aws_wire.errors import ApiError
from local.aws_wire.serving import serve_app
from local.aws_wire.sigv4 import Verifier
from local.bedrock.http_client import UpstreamError, http_client, reason
from local.bedrock.openai_discovery import Server, api_key, usual_url
from local.bedrock.server_common import (
    EventStream,
    create_app,
    event,
    exception,
    run,
    runtime_parser,
    verifier_from,
)

logger = logging.getLogger(__name__)


type _Event = tuple[str, Mapping[str, Any]]


class _TruncatedError(Exception):
    """The server has ended a reply without a `finish_reason`, or has not streamed it."""


_STRANDS_ERRORS = (ContextWindowOverflowException, ModelThrottledException)
_FAILURES = (
    _TruncatedError,
    openai.APIError,
    httpx.HTTPError,
    *_STRANDS_ERRORS,
    ValueError,  # the server sends something other than JSON
    KeyError,  # Strands cannot translate a content block
    TypeError,  # likewise
)
_MODEL_ERRORS = (openai.InternalServerError, httpx.HTTPError, ValueError, _TruncatedError)
"""Errors of the model; so is `openai.APIError` itself, which stands for an error in the stream."""

_NO_FINISH_REASON = "end_turn"
"""What Strands puts in the place of a missing `finish_reason`."""

_NOT_STREAMED = (
    "the server did not stream a reply: it must answer `stream: true` with server-sent events, the "
    "last of which has a finish_reason"
)
"""The answer is JSON, or a stream without text."""

_NEW_LENGTH_NAME = "max_completion_tokens"
"""https://platform.openai.com/docs/api-reference/chat/create"""

_STREAM_EXCEPTIONS = {
    "ThrottlingException": "throttlingException",
    "ValidationException": "validationException",
    "ServiceUnavailableException": "serviceUnavailableException",
}
"""Exceptions within a stream, by error. Any other error is a `modelStreamErrorException`."""


class _PlainTextModel(OpenAIModel):
    """Sends plain text, and checks that a reply is complete. An instance asks once.

    The content of a message is a string where Strands sends a list of text parts. Many servers
    accept only a string, and all servers accept one.
    """

    _in_block: bool | None = None  # before the first block

    @override
    def format_chunk(self, event: dict[str, Any], **options: Any) -> StreamEvent:
        """Return the event of Bedrock for a part of the reply.

        Raises:
            _TruncatedError: The reply has ended without a `finish_reason`.
        """
        match event["chunk_type"]:
            case "content_start":
                self._in_block = True
            case "content_stop":
                self._in_block = False
            case "message_stop" if event["data"] == _NO_FINISH_REASON:
                if self._in_block is None:
                    raise _TruncatedError(_NOT_STREAMED)
                if self._in_block:
                    raise _TruncatedError("the stream ended without a finish_reason")
        return super().format_chunk(event, **options)

    @override
    @classmethod
    def format_request_messages(
        cls, messages: Messages, system_prompt: str | None = None, **options: Any
    ) -> list[dict[str, Any]]:
        """Return the messages for the chat completions API."""
        formatted = super().format_request_messages(messages, system_prompt, **options)
        for message in formatted:
            parts = message.get("content")
            if isinstance(parts, list) and all(part.get("type") == "text" for part in parts):
                message["content"] = "\n".join(part["text"] for part in parts)
        return formatted


class _Body(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class _InferenceConfig(_Body):
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop_sequences: list[str] | None = None

    def parameters(self, length_name: str) -> dict[str, Any]:
        """Return the values that are set, by their names in the chat completions API.

        Args:
            length_name: The server's name for the limit of the reply's length.
        """
        named = {
            length_name: self.max_tokens,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "stop": self.stop_sequences,
        }
        return {name: value for name, value in named.items() if value is not None}


class _ToolConfig(_Body):
    tools: list[dict[str, Any]]
    tool_choice: Any = None


class _ConverseRequest(_Body):
    """The part of a ConverseStream request that is passed on. boto3 has validated it."""

    messages: Annotated[list[Any], Field(min_length=1)]
    system: list[dict[str, Any]] = []
    inference_config: _InferenceConfig = _InferenceConfig()
    tool_config: _ToolConfig = _ToolConfig(tools=[])


@asynccontextmanager
async def run_openai_compatible(
    server: Server, verifier: Verifier | None, host: str = "127.0.0.1", port: int = 0
) -> AsyncIterator[int]:
    """Serve until the end of the block; the value is the port.

    Args:
        server: The server and the model that answer.
        verifier: Checks the agent's signatures.
        host: The address to listen on.
        port: The port to listen on; 0 takes a free one.
    """

    length_name = "max_tokens"

    async def answer(_model_id: str, body: bytes) -> Response:
        nonlocal length_name
        try:
            request = parse_body(_ConverseRequest, body)
        except ControlError as error:
            raise ApiError("ValidationException", str(error)) from error
        try:
            events = _ask(server, request, length_name)
            converted = _converted(events)
            try:
                first = await anext(converted)
            except openai.BadRequestError as error:
                # The reasoning models of OpenAI itself refuse `max_tokens`.
                if _NEW_LENGTH_NAME not in str(error) or length_name == _NEW_LENGTH_NAME:
                    raise
                length_name = _NEW_LENGTH_NAME
                events = _ask(server, request, length_name)
                converted = _converted(events)
                first = await anext(converted)
        except _FAILURES as error:
            raise _api_error(error, server) from error
        return EventStream(_encoded(first, converted, server), events.aclose)

    async with serve_app(create_app(verifier, answer), host, port) as bound_port:
        yield bound_port


def _ask(
    server: Server, request: _ConverseRequest, length_name: str
) -> AsyncGenerator[StreamEvent, None]:
    """Return Strands' events of the reply. Closing them closes the connection to the server."""
    tools: Any = [tool["toolSpec"] for tool in request.tool_config.tools if "toolSpec" in tool]
    parameters = request.inference_config.parameters(length_name)
    if not tools:
        parameters["tools"] = openai.omit  # vLLM and OpenAI refuse an empty list
    model = _PlainTextModel(
        client_args={
            "base_url": server.url,
            "api_key": api_key(),
            "max_retries": 0,  # the agent's own client retries
            "http_client": http_client(server.url, None),  # the agent limits the silence
        },
        model_id=server.model,
        params=parameters,
    )
    system_prompt = "\n".join(block["text"] for block in request.system if "text" in block)
    return model.stream(
        request.messages, tools, system_prompt, tool_choice=request.tool_config.tool_choice
    )


async def _converted(events: AsyncIterator[StreamEvent]) -> AsyncIterator[_Event]:
    """Yield the events of ConverseStream for those of Strands.

    Strands gives content blocks no index. It also begins a block of text with an event that
    Bedrock does not send and that boto3 cannot read.
    """
    index = 0
    sent_to_agent = False
    async for strands_event in events:
        ((name, body),) = cast(dict[str, Any], strands_event).items()
        indexed = {**body, "contentBlockIndex": index}
        match name:
            case "contentBlockStart":
                if "toolUse" in body["start"]:
                    sent_to_agent = True
                    yield name, indexed
            case "contentBlockDelta":
                if body["delta"].get("text") or "toolUse" in body["delta"]:
                    sent_to_agent = True
                    yield name, indexed
            case "contentBlockStop":
                if sent_to_agent:
                    yield name, indexed
                    index += 1
                    sent_to_agent = False
            case _:
                yield name, body


async def _encoded(
    first: _Event, rest: AsyncIterator[_Event], server: Server
) -> AsyncIterator[bytes]:
    """Yield the encoded events of a reply, and an exception if it fails."""
    try:
        yield event(*first)
        async for name, body in rest:
            yield event(name, body)
    except _FAILURES as error:
        failure = _api_error(error, server)
        logger.warning("a reply broke off: %s: %s", failure.code, failure)
        name = _STREAM_EXCEPTIONS.get(failure.code, "modelStreamErrorException")
        yield exception(name, failure.message)


def _api_error(error: Exception, server: Server) -> ApiError:
    """Return the error that Bedrock would answer with; it contains the server's own message."""
    cause = error.__cause__ if isinstance(error, _STRANDS_ERRORS) else error
    message = f"{server.url}: {_server_message(cause or error)}"
    if isinstance(error, ModelThrottledException):
        return ApiError("ThrottlingException", message, HTTPStatus.TOO_MANY_REQUESTS)
    if isinstance(error, openai.APIConnectionError):
        return ApiError("ServiceUnavailableException", message, HTTPStatus.SERVICE_UNAVAILABLE)
    if isinstance(error, (openai.AuthenticationError, openai.PermissionDeniedError)):
        message += " Set OPENAI_API_KEY to a key that the server accepts."
        return ApiError("AccessDeniedException", message, HTTPStatus.FORBIDDEN)
    if isinstance(error, openai.NotFoundError) and (usual := usual_url(server.url)):
        message += f" (did you mean BEDROCK={usual}?)"
    if type(error) is openai.APIError or isinstance(error, _MODEL_ERRORS):
        return ApiError("ModelErrorException", message, HTTPStatus.FAILED_DEPENDENCY)
    return ApiError("ValidationException", message)


def _server_message(error: BaseException) -> str:
    if isinstance(error, openai.APIConnectionError):
        return f"cannot be reached: {reason(error.__cause__ or error)}"
    if isinstance(error, openai.APIStatusError):
        body = error.body
        message = body.get("message") if isinstance(body, Mapping) else None
        return f"status {error.status_code}: {message or error.response.text.strip()}"
    return reason(error)


def main() -> None:
    """Run the stand-in as a process."""
    parser = runtime_parser("local.bedrock.openai_compatible", __doc__)
    parser.add_argument("--url", required=True, help="base URL, such as http://127.0.0.1:11434/v1")
    parser.add_argument("--model", help="the model's name (default: the first that is listed)")
    options = parser.parse_args()
    verifier = verifier_from(parser, options)
    try:
        server = Server.find(options.url, options.model)
    except UpstreamError as error:
        sys.exit(f"error: {error}")
    print(f"Replies come from {server}.", file=sys.stderr)
    run(run_openai_compatible(server, verifier, options.host, options.port), options.host)


if __name__ == "__main__":
    main()
