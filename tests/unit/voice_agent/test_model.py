"""The model's messages: what of them is the reply, and what the history keeps."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from strands.models import BedrockModel

from voice_agent.model import BlockEnd, ChatHistory, Stopped, Text
from voice_agent.settings import Settings

type Chunk = dict[str, Any]


class ScriptedModel(BedrockModel):
    """Streams one message, which consists of the given content blocks.

    A block is the list of its deltas; a delta in a dictionary is sent as it is.
    """

    def __init__(self, *blocks: list[str | Chunk], stop_reason: str = "end_turn") -> None:
        self._chunks = list(self._message(blocks, stop_reason))
        self.config = {"model_id": "scripted"}
        self.asked: list[Any] = []

    @staticmethod
    def _message(blocks: tuple[list[str | Chunk], ...], stop_reason: str) -> Iterator[Chunk]:
        yield {"messageStart": {"role": "assistant"}}
        for block in blocks:
            yield {"contentBlockStart": {"start": {}}}
            for delta in block:
                text = {"text": delta} if isinstance(delta, str) else delta
                yield {"contentBlockDelta": {"delta": text}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": stop_reason}}

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:  # type: ignore[override]
        self.asked.append(messages)
        for chunk in self._chunks:
            await asyncio.sleep(0)
            yield chunk


def history(model: ScriptedModel) -> ChatHistory:
    return ChatHistory(model, Settings(endpoint_name="kokoro", region="us-east-1"))


async def events(chat: ChatHistory) -> list[Any]:
    return [event async for event in chat.reply("Hello?")]


def text_of(found: list[Any]) -> str:
    return "".join(event.text for event in found if isinstance(event, Text))


def said(chat: ChatHistory) -> Any:
    return [message["content"] for message in chat.messages if message["role"] == "assistant"]


def roles_and_contents(chat: ChatHistory) -> list[Any]:
    return [(message["role"], message["content"]) for message in chat.messages]


async def test_thoughts_in_tags_are_neither_sent_nor_kept() -> None:
    """Guards against thoughts that are spoken, or come back with the next prompt."""
    model = ScriptedModel(
        ["<think", "ing>The caller", " sounds angry.</", "thinking>\n", "Good day."]
    )
    chat = history(model)
    assert text_of(await events(chat)) == "Good day."
    assert said(chat) == [[{"text": "Good day."}]]
    await events(chat)
    assert "angry" not in str(model.asked[1])


async def test_reasoning_content_is_neither_sent_nor_kept() -> None:
    """Guards against reasoning that is spoken or stored as a part of the reply."""
    reasoning: list[str | Chunk] = [
        {"reasoningContent": {"text": "The caller sounds angry."}},
        {"reasoningContent": {"signature": "abc"}},
    ]
    chat = history(ScriptedModel(reasoning, ["Good day."]))
    assert text_of(await events(chat)) == "Good day."
    assert said(chat) == [[{"text": "Good day."}]]


async def test_a_sentence_before_a_thought_does_not_wait_for_its_end() -> None:
    """Guards against silence while the model thinks after a first sentence."""
    deltas: list[str | Chunk] = ["Let me see. ", "<thinking>", "Hm.", "</thinking>", "It is open."]
    found = await events(history(ScriptedModel(deltas)))
    before = found[: found.index(Text("It is open."))]
    assert before[:2] == [Text("Let me see. "), BlockEnd()]


async def test_a_thought_within_a_sentence_does_not_end_it() -> None:
    """Guards against a pause in the middle of a sentence."""
    deltas: list[str | Chunk] = ["The shop ", "<thinking>", "Hm.", "</thinking>", "is open."]
    found = await events(history(ScriptedModel(deltas)))
    assert found[:2] == [Text("The shop "), Text("is open.")]


@pytest.mark.parametrize("reply", [[], [["<thinking>Only this."]], [[" \n"]]])
async def test_a_reply_without_text_leaves_its_prompt_in_the_history(reply: Any) -> None:
    """Guards against a forgotten prompt, and against what Bedrock refuses in the next request.

    That is an empty message, or two messages of the same role in a row.
    """
    chat = history(ScriptedModel(*reply))
    found = await events(chat)
    assert text_of(found).strip() == ""
    assert Stopped("end_turn") in found
    prompt = {"text": "Hello?"}
    assert roles_and_contents(chat) == [("user", [prompt])]
    await events(chat)
    assert roles_and_contents(chat) == [("user", [prompt, prompt])]
    chat.replace_last_reply(chat.messages, "Hello?", "Good day.")
    assert roles_and_contents(chat) == [
        ("user", [prompt, prompt, prompt]),
        ("assistant", [{"text": "Good day."}]),
    ]


@pytest.mark.parametrize(
    "reason", ["end_turn", "max_tokens", "content_filtered", "guardrail_intervened"]
)
async def test_the_reason_for_the_end_is_reported(reason: str) -> None:
    """Guards against a reply that is cut off in the middle of a sentence and seems complete."""
    chat = history(ScriptedModel(["Good day. The sh"], stop_reason=reason))
    found = await events(chat)
    assert text_of(found) == "Good day. The sh"
    assert [event for event in found if isinstance(event, Stopped)] == [Stopped(reason)]
    assert isinstance(found[-1], BlockEnd)
    assert said(chat) == [[{"text": "Good day. The sh"}]]
