"""The conversations of `/invocations`: bounded, and only idle ones give way."""

import pytest

from kokoro_speech.batch import BatchSynthesizer
from kokoro_speech.endpoint import SpeechEndpoint
from voice_agent.conversation import Conversations, ConversationsFullError, Services
from voice_agent.model import create_model
from voice_agent.settings import Settings


@pytest.fixture
async def conversations():
    settings = Settings(endpoint_name="kokoro", region="us-east-1", max_conversations=2)
    speech = SpeechEndpoint("kokoro", region="us-east-1")
    batch = BatchSynthesizer("kokoro", region="us-east-1", timeout_s=60.0, max_connections=2)
    services = Services(settings, create_model(settings), speech, batch)
    conversations = Conversations(services)
    yield conversations
    await conversations.close()
    await speech.close()


async def test_a_session_keeps_its_conversation(conversations: Conversations) -> None:
    """A new one for every invocation would have no memory of what was said."""
    first = conversations.get("a")
    conversations.put_back("a")
    assert conversations.get("a") is first
    assert conversations.get("b") is not first


async def test_the_longest_idle_gives_way(conversations: Conversations) -> None:
    """Without a bound every session id ever seen would hold a stream."""
    first, second = conversations.get("a"), conversations.get("b")
    conversations.put_back("a")
    conversations.put_back("b")
    conversations.get("a")  # used again, so b is the longer idle
    conversations.get("c")
    assert conversations.get("a") is first
    conversations.put_back("a")
    assert conversations.get("b") is not second


async def test_one_that_is_answering_never_gives_way(conversations: Conversations) -> None:
    """A stranger's prompt must not cut off somebody's reply."""
    for name in ("a", "b"):
        conversations.get(name)._idle.clear()
    with pytest.raises(ConversationsFullError):
        conversations.get("c")
    for name in ("a", "b"):
        conversations.get(name)._idle.set()
    conversations.get("c")
