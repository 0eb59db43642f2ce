"""Run a stand-in as a process: serve, print where it listens, and end on a signal."""

import argparse
import asyncio
import contextlib
import json
import signal
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

_SHUTDOWN_S = 1


def stand_in_parser(program: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser with `--host` and `--port`, to which more arguments can be added."""
    parser = argparse.ArgumentParser(
        prog=program,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free port")
    return parser


async def run_until_signalled(
    server: contextlib.AbstractAsyncContextManager[int], host: str
) -> None:
    """Serve until SIGTERM or SIGINT. Neither signal ends the process in another way.

    It prints one line for the parent process as soon as connections are accepted.

    Args:
        server: Serves until the end of its block. Its value is the port.
        host: The address on which it listens.
    """
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with server as port:
        print(json.dumps({"event": "listening", "host": host, "port": port}), flush=True)
        await stop.wait()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals. uvicorn would end the process by the signal, not with exit code 0."""
        yield


@contextlib.asynccontextmanager
async def serve_app(app: Starlette, host: str, port: int) -> AsyncIterator[int]:
    """Serve `app` until the end of the block. The value is the port, which is a free one for 0.

    Raises:
        OSError: The address cannot be bound.
    """

    async def without_cancellation(scope: Scope, receive: Receive, send: Send) -> None:
        # At shutdown, uvicorn cancels unfinished responses and logs each one as a failure.
        with contextlib.suppress(asyncio.CancelledError):
            await app(scope, receive, send)

    with socket.create_server((host, port)) as listener:
        config = uvicorn.Config(
            without_cancellation,
            lifespan="off",
            log_config=None,
            access_log=False,
            ws="none",
            timeout_graceful_shutdown=_SHUTDOWN_S,
        )
        server = _Server(config)
        task = asyncio.create_task(server.serve([listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await task
