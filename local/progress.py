"""Progress on standard error, so that no step of a command is silent for long."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

type Progress = Callable[[str], None]
"""Shows one line to the person at the keyboard."""

INTERVAL_S = 5.0


def show(line: str) -> None:
    """Print one line to standard error."""
    print(line, file=sys.stderr, flush=True)


@asynccontextmanager
async def reported(progress: Progress, step: str) -> AsyncIterator[None]:
    """Report that `step` begins, and every `INTERVAL_S` seconds that it still goes on.

    Args:
        progress: Receives the lines.
        step: What is being done, such as "loading the model".
    """
    progress(f"{step} …")
    heartbeat = asyncio.create_task(_report_regularly(progress, step))
    try:
        yield
    finally:
        heartbeat.cancel()


async def _report_regularly(progress: Progress, step: str) -> None:
    loop = asyncio.get_running_loop()
    started_s = loop.time()
    while True:
        await asyncio.sleep(INTERVAL_S)
        progress(f"{step} … {loop.time() - started_s:.0f} s")
