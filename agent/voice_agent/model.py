"""The language model's reply, as it is written: a Strands agent on Amazon Bedrock.

`ChatHistory.reply` creates the Strands `Agent`; tools for the model are passed to it there.
"""

import asyncio
import contextlib
import copy
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any

import botocore.config
import botocore.exceptions
import urllib3.exceptions
from strands import Agent
from strands.models import BedrockModel
from strands.types.content import Messages
from strands.types.exceptions import (
    ContextWindowOverflowException,
    EventLoopException,
    MaxTokensReachedException,
    ModelThrottledException,
)

from voice_agent.settings import Settings

CONNECT_TIMEOUT_S = 2.0
"""With one retry, an unreachable Bedrock is reported within five seconds."""

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


class BedrockError(Exception):
    """Bedrock could not be reached, refused the request or broke off its reply."""

    code = "bedrock"


@dataclass(frozen=True)
class Text:
    """The next text of the reply."""

    text: str


@dataclass(frozen=True)
class BlockEnd:
    """A block of text is complete, or the model calls a tool: what there is can be spoken."""


def create_model(settings: Settings) -> BedrockModel:
    """Return the Bedrock model all conversations share; its address and credentials are boto3's."""
    return BedrockModel(
        region_name=settings.region,
        model_id=settings.model_id,
        max_tokens=settings.max_reply_tokens,
        boto_client_config=botocore.config.Config(
            connect_timeout=CONNECT_TIMEOUT_S,
            # ChatHistory watches the silence: a read that times out would be tried again.
            read_timeout=settings.model_silence_timeout_s + READ_MARGIN_S,
            retries={"total_max_attempts": 2, "mode": "standard"},
            max_pool_connections=settings.max_conversations,
            tcp_keepalive=True,
        ),
    )


class ChatHistory:
    """One conversation's messages, and the model that continues them.

    Attributes:
        messages: The conversation so far, oldest first; replaced, never changed.
    """

    def __init__(self, model: BedrockModel, settings: Settings) -> None:
        self._model = model
        self._system_prompt = settings.system_prompt
        self._silence_timeout_s = settings.model_silence_timeout_s
        self.messages: Messages = []

    async def reply(self, prompt: str) -> AsyncGenerator[Text | BlockEnd]:
        """Yield the reply to `prompt` as it is written; the history has both once it is complete.

        Closing the generator early stops the model.

        Raises:
            BedrockError: Bedrock failed; the history is as it was.
        """
        # Each turn has an agent of its own: one whose stream was left early refuses a new prompt.
        agent = Agent(
            model=self._model,
            messages=copy.deepcopy(self.messages),
            system_prompt=self._system_prompt,
            callback_handler=None,
            retry_strategy=None,
        )
        events = agent.stream_async(prompt)
        try:
            while (event := await self._next(events)) is not None:
                if "data" in event:
                    yield Text(event["data"])
                elif _ends_block(event.get("event", {})):
                    yield BlockEnd()
        except MaxTokensReachedException:
            yield BlockEnd()  # our own limit cuts the reply short
        except _BEDROCK_FAILURES as error:
            raise BedrockError(f"Bedrock: {_reason(error)}") from error
        finally:
            await _stop(agent, events)
        self.messages = agent.messages

    async def _next(self, events: AsyncIterator[Any]) -> Any:
        """Return the next event, None after the last."""
        try:
            async with asyncio.timeout(self._silence_timeout_s):
                return await anext(events, None)
        except TimeoutError as error:
            raise BedrockError(f"Bedrock: silent for {self._silence_timeout_s:g} s") from error

    def replace_last_reply(self, before: Messages, prompt: str, heard: str) -> None:
        """Reduce the last exchange to what the listener knows of it; drop it if that is nothing.

        Args:
            before: The messages before `prompt`.
            prompt: The user's prompt.
            heard: The text of the reply that was heard.
        """
        self.messages = before
        if heard:
            self.messages = [
                *before,
                {"role": "user", "content": [{"text": prompt}]},
                {"role": "assistant", "content": [{"text": heard}]},
            ]


async def _stop(agent: Agent, events: AsyncIterator[Any]) -> None:
    """Stop the agent's reply; does nothing to one that has ended."""
    agent.cancel()
    # Strands' generators are nested and must end in the task that began them, or their tracing
    # context is lost; they notice the cancellation at once.
    with contextlib.suppress(*_BEDROCK_FAILURES, MaxTokensReachedException):
        async with asyncio.timeout(STOP_TIMEOUT_S):
            async for _ in events:
                pass
    # The worker thread that reads from Bedrock looks at this between two events, and the end of
    # the turn has just reset it.
    agent.cancel()


def _ends_block(event: dict[str, Any]) -> bool:
    return "contentBlockStop" in event or "toolUse" in event.get("contentBlockStart", {}).get(
        "start", {}
    )


def _reason(error: Exception) -> str:
    if isinstance(error, EventLoopException):
        return _reason(error.original_exception)
    if isinstance(error, botocore.exceptions.ClientError):
        details = error.response.get("Error", {})
        return f"{details.get('Code')}: {details.get('Message')}"
    if isinstance(error, (urllib3.exceptions.HTTPError, OSError)):
        return f"the connection broke off ({type(error).__name__})"
    return str(error)
