"""Runs a program of `local/` that prints where it listens, and ends it with a signal."""

import asyncio
import json
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.documents import ROOT


@dataclass(frozen=True)
class Listening:
    """A running program, and the port that it announced on its first line."""

    process: asyncio.subprocess.Process
    port: int

    async def end(self, number: signal.Signals) -> bytes:
        """Send a signal, which must end the program cleanly; its log."""
        self.process.send_signal(number)
        async with asyncio.timeout(60):
            output, log = await self.process.communicate()
        assert self.process.returncode == 0
        assert output == b""
        assert b"Traceback" not in log, log.decode()
        return log


@asynccontextmanager
async def listening(*command: str) -> AsyncIterator[Listening]:
    """Start a program and wait until it listens; it is killed if the block does not end it."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            line = json.loads(await process.stdout.readline())
        assert line == {"event": "listening", "host": "127.0.0.1", "port": line["port"]}
        yield Listening(process, line["port"])
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
