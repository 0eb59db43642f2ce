"""Conversations have one limit over all transports, and only idle ones are closed."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from voice_agent.conversation import Conversation
from voice_agent.conversations import Conversations, ConversationsFullError
from voice_agent.services import Services
from voice_agent.settings import Settings


@pytest.fixture
async def open_conversations():
    """A function that takes settings and returns `Conversations` with a limit of two."""
    async with AsyncExitStack() as stack:

        def create(**settings: float) -> Conversations:
            services = Services.create(
                Settings(
                    endpoint_name="kokoro", region="us-east-1", max_conversations=2
                ).model_copy(update=settings)
            )
            stack.push_async_callback(services.close)
            conversations = Conversations(services)
            stack.push_async_callback(conversations.close)
            return conversations

        yield create


@pytest.fixture
def conversations(open_conversations) -> Conversations:
    return open_conversations()


async def use(conversations: Conversations, session_id: str | None) -> Conversation:
    async with conversations.open(session_id) as conversation:
        return conversation


async def test_a_session_keeps_its_conversation(conversations: Conversations) -> None:
    """A new conversation for every invocation would not know the earlier prompts."""
    first = await use(conversations, "a")
    assert await use(conversations, "a") is first
    assert await use(conversations, "b") is not first
    assert await use(conversations, None) is not await use(conversations, None)


async def test_the_longest_idle_gives_way(conversations: Conversations) -> None:
    """Without a limit, every session id would keep a stream open."""
    first, second = await use(conversations, "a"), await use(conversations, "b")
    await use(conversations, "a")  # used again, so b is the longer idle
    await use(conversations, "c")
    assert await use(conversations, "a") is first
    assert await use(conversations, "b") is not second


@pytest.mark.parametrize("holders", [("a", "b"), ("a", None), (None, "a"), (None, None)])
@pytest.mark.parametrize("newcomer", ["c", None])
async def test_one_in_use_never_gives_way(conversations: Conversations, holders, newcomer) -> None:
    """A prompt of a new session must not end another session's reply or exceed the limit."""
    async with AsyncExitStack() as stack:
        for holder in holders:
            await stack.enter_async_context(conversations.open(holder))
        with pytest.raises(ConversationsFullError, match="all 2 conversations"):
            await use(conversations, newcomer)
    await use(conversations, newcomer)


@pytest.mark.parametrize("newcomer", ["c", None])
async def test_an_idle_session_gives_way_to_any_newcomer(
    conversations: Conversations, newcomer
) -> None:
    """Otherwise, abandoned sessions would lock out connections and single prompts."""
    first = await use(conversations, "a")
    async with conversations.open(None), conversations.open(newcomer):
        with pytest.raises(ConversationsFullError):
            await use(conversations, "a")
    assert await use(conversations, "a") is not first


async def test_a_session_with_two_users_is_in_use_until_both_have_left(
    conversations: Conversations,
) -> None:
    """A prompt that is refused as busy must not mark the session as idle during a reply."""
    async with conversations.open(None), conversations.open("a") as first:
        await use(conversations, "a")
        with pytest.raises(ConversationsFullError):
            await use(conversations, None)
    assert await use(conversations, "a") is first


async def test_only_an_idle_session_expires(open_conversations) -> None:
    """A reply that lasts longer than the idle time is not cut off. An idle session is closed."""
    conversations = open_conversations(conversation_idle_s=0.01)
    async with conversations.open("a") as first:
        await use(conversations, "a")
        await asyncio.sleep(0.05)
        assert await use(conversations, "a") is first
    await asyncio.sleep(0.05)
    assert await use(conversations, "a") is not first
