"""The whole path, started once for all modules that need it."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest_asyncio

from local.bedrock.reply_sources import SCRIPTED
from local.supervisor import Supervisor

FAST = replace(SCRIPTED, arguments=("--first-token-s", "0.05", "--tokens-per-s", "200"))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def session_path() -> AsyncIterator[Supervisor]:
    """Use `path` instead, which is always complete."""
    async with Supervisor(print, source=FAST) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def path(session_path: Supervisor) -> Supervisor:
    """Every process of the path, running, whatever the module before it has done to them.

    Starting the path takes about 15 s of CPU time. Tests that use it run on the session's loop.
    """
    for name, process in session_path.processes.items():
        if process.pid is None:
            await process.start()
            await session_path.ready(name)
    return session_path
