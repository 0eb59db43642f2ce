"""`make demo BEDROCK=…` and `make say BEDROCK=…`: the whole path with replies of another model."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from local.aws_wire.sigv4 import Verifier
from local.bedrock.converse import BedrockConverse, Pace, run_bedrock
from tests.command import running
from tests.scripted_openai_server import run_openai_server, text_deltas
from voice_agent_client import AgentConnection, Audio, ErrorEvent, TextDelta

pytestmark = pytest.mark.timeout(300)

REGION, KEY_ID, SECRET = "eu-central-1", "AKIACALLER", "callers/secret+key"


@pytest.fixture
def run(tmp_path: Path) -> Iterator:
    with running(tmp_path) as start:
        yield start


async def ask(agent: AgentConnection, prompt: str) -> tuple[str, int]:
    """The reply's text, and how many bytes of speech came with it."""
    text, audio_bytes = "", 0
    async with aclosing(agent.ask(prompt)) as events:
        async for event in events:
            match event:
                case TextDelta():
                    text += event.text
                case Audio():
                    audio_bytes += len(event.data)
                case ErrorEvent():
                    raise AssertionError(event.message)
    return text, audio_bytes


async def test_demo_converses_through_an_openai_compatible_server(run) -> None:
    """The second prompt has to reach the model with the first exchange, and be spoken."""
    async with run_openai_server() as server:
        demo = run("make", "demo", f"BEDROCK={server.url}", "PORT=0")
        await asyncio.to_thread(demo.wait_for, r"Open \S+ in a browser")
        found = await asyncio.to_thread(demo.wait_for, r"agent ready \(pid \d+, port (\d+)\)")
        assert f"llama3.2 at {server.url}" in demo.output()
        async with AgentConnection(f"http://127.0.0.1:{found[1]}") as agent:
            text, audio_bytes = await ask(agent, "Is it open?")
            assert text == "Yes. It is."
            assert audio_bytes > 24_000
            server.deltas = text_deltas("At nine.")
            assert (await ask(agent, "Since when?"))[0] == "At nine."
        contents = [str(message["content"]) for message in server.requests[1]["messages"]]
        for said in ("Is it open?", "Yes. It is.", "Since when?"):
            assert any(said in content for content in contents), said
        assert "voice assistant" in contents[0]  # the agent's instructions
        await asyncio.to_thread(demo.stop)
    assert demo.left_behind() == []


async def test_say_signs_with_the_callers_own_credentials(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real Bedrock refuses the throw-away keys of the stand-ins, and another Region's signature."""
    account = BedrockConverse(
        verifier=Verifier(KEY_ID, SECRET, REGION, "bedrock"),
        pace=Pace(first_token_s=0.05, tokens_per_s=200),
    )
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    async with run_bedrock(account) as port:
        for name, value in {
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": KEY_ID,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": f"http://127.0.0.1:{port}",
        }.items():
            monkeypatch.setenv(name, value)
        out = tmp_path / "a.wav"
        say = run("make", "say", "BEDROCK=aws", "MODEL=eu.amazon.nova-lite-v1:0", f"OUT={out}")
        assert await asyncio.to_thread(say.process.wait, 200) == 0, say.output()
    assert "The old harbor wakes up" in say.output()
    assert out.stat().st_size > 48_000


def test_aws_without_credentials_says_what_to_do_before_anything_starts(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A laptop without a login learned it from the agent's first reply."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_REGION", REGION)
    say = run("make", "say", "BEDROCK=aws")
    assert say.process.wait(60) != 0
    assert "aws sso login" in say.output()
    assert "model" not in say.output()
    assert "Traceback" not in say.output()
