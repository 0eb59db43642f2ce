"""Serves a Starlette app for the length of a block: the page and the Bedrock stand-in."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.applications import Starlette

_SHUTDOWN_S = 1


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to whoever serves: uvicorn's way ends the process by them, not with 0."""
        yield


@contextlib.asynccontextmanager
async def serving(app: Starlette, host: str, port: int) -> AsyncIterator[int]:
    """Serve `app` until the end of the block; the value is the port, a free one for 0.

    Raises:
        OSError: the address cannot be bound.
    """
    with socket.create_server((host, port)) as listener:
        server = _Server(
            uvicorn.Config(
                app,
                lifespan="off",
                log_config=None,
                access_log=False,
                ws="none",
                timeout_graceful_shutdown=_SHUTDOWN_S,
            )
        )
        task = asyncio.create_task(server.serve([listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await task
