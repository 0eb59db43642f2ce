"""The language model, which is a Strands agent on Amazon Bedrock, and its replies.

`ChatHistory.reply` creates the Strands `Agent`. To give the model tools, pass them to the agent
there.
"""

import asyncio
import contextlib
import copy
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import botocore.config
import botocore.exceptions
import urllib3.exceptions
from strands import Agent
from strands.models import BedrockModel
from strands.types.content import ContentBlock, Messages
from strands.types.exceptions import (
    ContextWindowOverflowException,
    EventLoopException,
    MaxTokensReachedException,
    ModelThrottledException,
)

from voice_agent.settings import Settings
from voice_agent.thoughts import ThoughtFilter, without_thoughts

CONNECT_TIMEOUT_S = 2.0
"""With one retry, the agent reports within five seconds that Bedrock is unreachable."""

READ_MARGIN_S = 2.0
STOP_TIMEOUT_S = 2.0

_BEDROCK_FAILURES = (
    botocore.exceptions.BotoCoreError,
    botocore.exceptions.ClientError,
    urllib3.exceptions.HTTPError,
    ContextWindowOverflowException,
    EventLoopException,
    ModelThrottledException,
    OSError,
)


_MODEL_SERVER_ADVICE = "check that it is running and has the model, and read its log"
_ADVICE_BY_REASON = {
    "cannot be reached": _MODEL_SERVER_ADVICE,
    "status 404": _MODEL_SERVER_ADVICE,
    "status 400": "it does not accept the request; try another model",
    "status 5": "read its log",
}
"""What to do about a failure of the setting `model_server`, by the beginning of its reason."""


class BedrockError(Exception):
    """Bedrock could not be reached, refused the request or did not complete its reply.

    With the setting `model_server`, the message names that server instead of Bedrock.
    """

    code = "bedrock"


@dataclass(frozen=True)
class Text:
    """The next text of the reply."""

    text: str


@dataclass(frozen=True)
class BlockEnd:
    """The end of a block of text, or the start of a tool call.

    The text so far can be spoken.
    """


@dataclass(frozen=True)
class Stopped:
    """The model stopped writing a message, for the `reason` that Bedrock reports."""

    reason: str


def create_model(settings: Settings) -> BedrockModel:
    """Return the Bedrock model that all conversations share.

    boto3 determines its address and credentials.
    """
    return BedrockModel(
        region_name=settings.region,
        model_id=settings.model_id,
        max_tokens=settings.max_reply_tokens,
        boto_client_config=botocore.config.Config(
            connect_timeout=CONNECT_TIMEOUT_S,
            # ChatHistory has its own, shorter time-out, because botocore retries a read that times
            # out.
            read_timeout=settings.model_silence_timeout_s + READ_MARGIN_S,
            retries={"total_max_attempts": 2, "mode": "standard"},
            max_pool_connections=settings.max_conversations,
            tcp_keepalive=True,
        ),
    )


class ChatHistory:
    """The messages of one conversation, and the model that continues them.

    Attributes:
        messages: The conversation so far, oldest first. The list is replaced, never modified.
    """

    def __init__(self, model: BedrockModel, settings: Settings) -> None:
        self._model = model
        self._system_prompt = settings.system_prompt
        self._server = settings.model_server
        self._silence_timeout_s = settings.model_silence_timeout_s
        self.messages: Messages = []

    async def reply(self, prompt: str) -> AsyncGenerator[Text | BlockEnd | Stopped]:
        """Yield the reply to `prompt` while the model writes it, without the model's thoughts.

        The prompt and the reply are added to the history once the reply is complete. If the reply
        has no text, only the prompt is added. Closing the generator early stops the model.

        Raises:
            BedrockError: Bedrock failed. The history is unchanged.
        """
        # Each turn needs a new agent. An agent whose stream was left early refuses another prompt.
        *messages, asked = copy.deepcopy(_with_prompt(self.messages, prompt))
        agent = Agent(
            model=self._model,
            messages=messages,
            system_prompt=self._system_prompt,
            callback_handler=None,
            retry_strategy=None,
        )
        events = agent.stream_async(asked["content"])
        thoughts = ThoughtFilter()
        try:
            while (event := await self._next(events)) is not None:
                if "data" in event:
                    if text := thoughts.feed(event["data"]):
                        yield Text(text)
                    if thoughts.is_thinking and thoughts.ends_sentence:
                        yield BlockEnd()  # the last sentence need not wait for the thought's end
                elif _ends_block(chunk := event.get("event", {})):
                    if text := thoughts.flush():
                        yield Text(text)
                    yield BlockEnd()
                elif "messageStop" in chunk:
                    yield Stopped(chunk["messageStop"]["stopReason"])
        except MaxTokensReachedException:
            pass  # the setting `max_reply_tokens` ends the reply
        except _BEDROCK_FAILURES as error:
            raise BedrockError(_failure(error, self._server)) from error
        finally:
            await _stop(agent, events)
        if text := thoughts.flush():
            yield Text(text)
        yield BlockEnd()
        messages = _without_thoughts(agent.messages)
        # Bedrock refuses a message without content.
        self.messages = messages if messages[-1]["content"] else messages[:-1]

    async def _next(self, events: AsyncIterator[Any]) -> Any:
        """Return the next event, or None after the last one."""
        try:
            async with asyncio.timeout(self._silence_timeout_s):
                return await anext(events, None)
        except TimeoutError as error:
            silence = f"sent nothing for {self._silence_timeout_s:g} s"
            if self._server is not None:
                message = f"the model server at {self._server} {silence}; {_MODEL_SERVER_ADVICE}"
            else:
                message = f"Bedrock {silence}; try again, then check Bedrock's status in the Region"
            raise BedrockError(message) from error

    def replace_last_reply(self, before: Messages, prompt: str, heard: str) -> None:
        """Reduce the last reply to the text that the listener heard.

        If the listener heard nothing, the prompt is removed as well.

        Args:
            before: The messages before `prompt`.
            prompt: The user's prompt.
            heard: The text of the reply that the listener heard.
        """
        self.messages = before
        if heard:
            self.messages = [
                *_with_prompt(before, prompt),
                {"role": "assistant", "content": [{"text": heard}]},
            ]


def _with_prompt(messages: Messages, prompt: str) -> Messages:
    """Return the messages with one more prompt.

    After a prompt without a reply, both are one message: Bedrock wants the roles to alternate.
    """
    content: list[ContentBlock] = [{"text": prompt}]
    if messages and messages[-1]["role"] == "user":
        return [*messages[:-1], {"role": "user", "content": messages[-1]["content"] + content}]
    return [*messages, {"role": "user", "content": content}]


async def _stop(agent: Agent, events: AsyncIterator[Any]) -> None:
    """Stop the agent's reply. Has no effect after the reply has ended."""
    agent.cancel()
    # Strands' generators are nested. They must end in the task that began them, because of their
    # tracing context. They notice the cancellation at once.
    with contextlib.suppress(*_BEDROCK_FAILURES, MaxTokensReachedException):
        async with asyncio.timeout(STOP_TIMEOUT_S):
            async for _ in events:
                pass
    # The end of the turn has reset the cancellation. The worker thread that reads from Bedrock
    # checks for it between two events, so set it again.
    agent.cancel()


def _without_thoughts(messages: Messages) -> Messages:
    """Return the messages without the model's thoughts. A later reply does not need them."""
    return [
        {**message, "content": list(_said(message["content"]))}
        if message["role"] == "assistant"
        else message
        for message in messages
    ]


def _said(content: list[ContentBlock]) -> Iterator[ContentBlock]:
    for block in content:
        if "text" in block:
            if (text := without_thoughts(block["text"])).strip():
                yield {"text": text}
        elif "reasoningContent" not in block:
            yield block


def _ends_block(event: dict[str, Any]) -> bool:
    return "contentBlockStop" in event or "toolUse" in event.get("contentBlockStart", {}).get(
        "start", {}
    )


def _failure(error: Exception, server: str | None) -> str:
    """Return the message for a failure of Bedrock, or of the server in its place."""
    while isinstance(error, EventLoopException):
        error = error.original_exception
    details = (
        error.response.get("Error", {})
        if isinstance(error, botocore.exceptions.ClientError)
        else None
    )
    if details is not None:
        reason = str(details.get("Message") or "no reason given").removesuffix(".")
    elif isinstance(error, (urllib3.exceptions.HTTPError, OSError)):
        reason = f"the connection was lost ({type(error).__name__})"
    else:
        reason = str(error)
    if server is not None:
        # The server's own message follows its address. Strands words throttling around it.
        reason = (reason.partition(f"{server}: ")[2] or reason).removesuffix(".")
        advice = [text for start, text in _ADVICE_BY_REASON.items() if reason.startswith(start)]
        return f"the model server at {server} failed: {'; '.join([reason, *advice])}"
    if details is not None:
        reason += f" ({details.get('Code')}); check the model's id, access, quota and Region"
    elif isinstance(error, (urllib3.exceptions.HTTPError, OSError)):
        reason += "; try again"
    return f"Bedrock failed: {reason}"
