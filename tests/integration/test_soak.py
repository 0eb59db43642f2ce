"""Long runs of the whole path (`make soak`): what only shows after many turns or many losses."""

import asyncio
import random
from contextlib import aclosing
from pathlib import Path

import pytest
import pytest_asyncio

from local.agent_client import AgentSocket
from local.supervisor import Stack

pytestmark = [
    pytest.mark.soak,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(3600),
]

FAST = ["--first-token-s", "0.05", "--tokens-per-s", "200"]
PROMPTS = ["Tell me about the harbor.", "What is the weather like?", "How do I bake bread?"]
TURNS, WARM_UP_TURNS = 120, 30
MAX_GROWTH = 1.10
LOSSES = 30


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack():
    async with Stack(print, bedrock_arguments=FAST) as running:
        yield running


def resident_kib(stack: Stack, name: str) -> int:
    status = Path(f"/proc/{stack.parts[name].pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


async def test_memory_stays_flat_over_a_long_conversation(stack: Stack) -> None:
    """Audio, history or tasks that are kept after a turn fill an instance within a day."""
    names = ("container", "sagemaker", "agent")
    before: dict[str, int] = {}
    async with AgentSocket(stack.addresses.agent_url) as socket:
        for turn in range(TURNS):
            async with aclosing(socket.ask(PROMPTS[turn % len(PROMPTS)])) as events:
                kinds = [event["type"] async for event in events]
            assert "error" not in kinds
            if turn == WARM_UP_TURNS:
                before = {name: resident_kib(stack, name) for name in names}
    for name in names:
        assert resident_kib(stack, name) <= before[name] * MAX_GROWTH, name


async def test_every_loss_at_any_moment_is_reported_and_survived(stack: Stack) -> None:
    """A part can go at any step of a turn: each must be named in time, and none may stick."""
    chance = random.Random(20_261_130)
    for _ in range(LOSSES):
        name = chance.choice(["container", "sagemaker", "bedrock"])
        part = stack.parts[name]
        moment = chance.randrange(40)
        errors: list[str] = []
        async with AgentSocket(stack.addresses.agent_url) as socket:
            seen, killed = 0, False
            async with aclosing(socket.ask(PROMPTS[0])) as events, asyncio.timeout(120) as limit:
                async for event in events:
                    seen += 1
                    if seen == moment:
                        killed = True
                        part.kill()
                        # What was already on its way may still end the reply well.
                        limit.reschedule(asyncio.get_running_loop().time() + 60)
                    if event["type"] == "error":
                        errors.append(event["code"])
            if killed:  # the reply may have ended before the process had
                await part.wait()
                await part.start()
                await stack.ready(name)
            allowed = {"speech_container", "speech_connection", "bedrock"}
            assert set(errors) <= allowed, (name, moment)
            async with aclosing(socket.ask(PROMPTS[1])) as events:
                kinds = [event["type"] async for event in events]
            assert "error" not in kinds, (name, moment)
            assert "audio" in kinds, (name, moment)
