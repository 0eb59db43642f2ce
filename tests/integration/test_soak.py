"""Long runs of the whole path (`make soak`): what only shows after many turns or many losses."""

import asyncio
import random
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from local.bedrock.reply_sources import SCRIPTED
from local.supervisor import Supervisor
from voice_agent_client import AgentConnection, ErrorEvent

pytestmark = [
    pytest.mark.soak,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(3600),
]

FAST = replace(SCRIPTED, arguments=("--first-token-s", "0.05", "--tokens-per-s", "200"))
PROMPTS = ["Tell me about the harbor.", "What is the weather like?", "How do I bake bread?"]
TURNS, WARM_UP_TURNS = 120, 30
MAX_GROWTH = 1.10
LOSSES = 30


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def supervisor():
    async with Supervisor(print, source=FAST) as running:
        yield running


def resident_kib(supervisor: Supervisor, name: str) -> int:
    status = Path(f"/proc/{supervisor.processes[name].pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


async def test_memory_stays_flat_over_a_long_conversation(supervisor: Supervisor) -> None:
    """Audio, history or tasks that are kept after a turn fill an instance within a day."""
    names = ("container", "sagemaker", "agent")
    before: dict[str, int] = {}
    async with AgentConnection(supervisor.addresses.agent_url) as agent:
        for turn in range(TURNS):
            async with aclosing(agent.ask(PROMPTS[turn % len(PROMPTS)])) as events:
                kinds = [event.type async for event in events]
            assert "error" not in kinds
            if turn == WARM_UP_TURNS:
                before = {name: resident_kib(supervisor, name) for name in names}
    for name in names:
        assert resident_kib(supervisor, name) <= before[name] * MAX_GROWTH, name


async def test_every_loss_at_any_moment_is_reported_and_survived(supervisor: Supervisor) -> None:
    """A process can go at any step of a turn: each must be named in time, and none may stick."""
    chance = random.Random(20_261_130)
    for _ in range(LOSSES):
        name = chance.choice(["container", "sagemaker", "bedrock"])
        process = supervisor.processes[name]
        moment = chance.randrange(40)
        errors: list[str] = []
        async with AgentConnection(supervisor.addresses.agent_url) as agent:
            seen, killed = 0, False
            async with aclosing(agent.ask(PROMPTS[0])) as events, asyncio.timeout(120) as limit:
                async for event in events:
                    seen += 1
                    if seen == moment:
                        killed = True
                        process.kill()
                        # What was already on its way may still end the reply well.
                        limit.reschedule(asyncio.get_running_loop().time() + 60)
                    if isinstance(event, ErrorEvent):
                        errors.append(event.code)
            if killed:  # the reply may have ended before the process had
                await process.wait()
                await process.start()
                await supervisor.ready(name)
            allowed = {"speech_container", "speech_connection", "bedrock"}
            assert set(errors) <= allowed, (name, moment)
            async with aclosing(agent.ask(PROMPTS[1])) as events:
                kinds = [event.type async for event in events]
            assert "error" not in kinds, (name, moment)
            assert "audio" in kinds, (name, moment)
