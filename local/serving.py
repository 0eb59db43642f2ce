"""Runs a Starlette app as one part of the local stack."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.applications import Starlette

from local.listening import announce, wait_for_stop_signal


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to `_serve`: uvicorn's way ends the process by the signal, not with 0."""
        yield


def serve(app: Starlette, host: str, port: int) -> int:
    """Serve `app` until SIGTERM or SIGINT; prints where it listens as one line of JSON.

    Args:
        app: what to serve.
        host: address to bind.
        port: 0 takes any free port.

    Returns:
        The exit code, 0.

    Raises:
        OSError: the address cannot be bound.
    """
    with socket.create_server((host, port)) as listener:
        asyncio.run(_serve(app, listener))
    return 0


async def _serve(app: Starlette, listener: socket.socket) -> None:
    server = _Server(uvicorn.Config(app, log_config=None, ws="none"))
    announce(*listener.getsockname()[:2])
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await wait_for_stop_signal()
    server.should_exit = True
    await serving
