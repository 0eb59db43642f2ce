"""The model's reply over the real Bedrock wire: stopped early, broken off, gone."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import httpx
import pytest

from local.bedrock.converse import BedrockConverse, Pace, run_bedrock
from voice_agent.model import BedrockError, BlockEnd, ChatHistory, Text, create_model
from voice_agent.settings import Settings

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def talking(monkeypatch: pytest.MonkeyPatch):
    """A function: a Bedrock of the given pace, and a history on it."""

    @asynccontextmanager
    async def run(
        model_silence_timeout_s: float = 20.0, **pace: float
    ) -> AsyncIterator[tuple[str, ChatHistory]]:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "AKIATEST",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_CONFIG_FILE": "/dev/null",
        }.items():
            monkeypatch.setenv(name, value)
        async with run_bedrock(BedrockConverse(pace=Pace(**pace))) as port:
            url = f"http://127.0.0.1:{port}"
            monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", url)
            settings = Settings(
                endpoint_name="kokoro",
                region="us-east-1",
                model_silence_timeout_s=model_silence_timeout_s,
            )
            yield url, ChatHistory(create_model(settings), settings)

    return run


async def written(history: ChatHistory, prompt: str = "Tell me about the harbor.") -> str:
    async with aclosing(history.reply(prompt)) as reply:
        return "".join([piece.text async for piece in reply if isinstance(piece, Text)])


async def test_a_reply_and_the_history_it_leaves(talking) -> None:
    """The next turn is answered in the light of this one, so both sides of it must be kept."""
    async with talking(first_token_s=0.0, tokens_per_s=1000.0) as (_, history):
        async with aclosing(history.reply("Tell me about the harbor.")) as reply:
            pieces = [piece async for piece in reply]
        assert isinstance(pieces[-1], BlockEnd)
        text = "".join(piece.text for piece in pieces if isinstance(piece, Text))
        assert [message["role"] for message in history.messages] == ["user", "assistant"]
        assert history.messages[1]["content"] == [{"text": text}]
        await written(history)
        assert len(history.messages) == 4


async def test_leaving_a_reply_stops_the_model(talking, caplog) -> None:
    """Bedrock is paid by the token, also for those that nobody reads; and the next prompt works."""
    async with talking(first_token_s=0.0, tokens_per_s=5.0) as (url, history):
        async with aclosing(history.reply("Tell me about the harbor.")) as reply:
            async for piece in reply:
                assert isinstance(piece, Text)
                break
        # The reply has some eighty tokens: sixteen seconds, if nothing stopped it.
        async with asyncio.timeout(8), httpx.AsyncClient(base_url=url, trust_env=False) as http:
            while (await http.get("/local/stats")).json()["streams_open"]:
                continue
        assert history.messages == []
        assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []
        async with aclosing(history.reply("And the weather?")) as reply:
            assert isinstance(await anext(reply), Text)


async def test_a_bedrock_that_is_gone_is_named_soon(talking) -> None:
    """The user waits in silence until it is."""
    async with talking() as (_, history):
        pass
    async with asyncio.timeout(5):
        with pytest.raises(BedrockError, match="Bedrock"):
            await written(history)
    assert history.messages == []


async def test_a_bedrock_that_hangs_is_named_within_the_time_out(talking) -> None:
    """botocore retries what timed out: the user waited in silence twice as long as was set."""
    async with talking(2.0, first_token_s=0.0, tokens_per_s=0.01) as (url, history):
        with pytest.raises(BedrockError, match="sent nothing for 2 s"):
            await written(history)
        assert history.messages == []
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            await http.post("/local/pace", json={"tokens_per_s": 1000})
        assert await written(history)
