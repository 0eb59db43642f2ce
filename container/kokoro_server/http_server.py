"""Runs uvicorn with the limits and time-outs of the speech server."""

import socket
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from kokoro_server.app import MAX_BODY_BYTES
from kokoro_server.settings import Settings

SEND_BUFFER_BYTES = 256 * 1024
"""About 5 s of audio. Otherwise the kernel would buffer minutes of audio for a slow reader."""
PING_INTERVAL_S = 20.0


class HttpServer(uvicorn.Server):
    """uvicorn without its signal handlers, so that sessions can end before sockets are closed."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave SIGINT and SIGTERM to the caller."""
        yield


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Port 0 chooses a free one.

    Raises:
        OSError: The address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=256)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    return listener


def make_http_server(asgi: ASGIApp, settings: Settings) -> HttpServer:
    """Return a server for `asgi`. Run it with `await server.serve(sockets=[listener])`."""
    config = uvicorn.Config(
        asgi,
        ws="websockets-sansio",
        ws_max_size=MAX_BODY_BYTES,
        ws_per_message_deflate=False,  # Compression does not make audio smaller.
        ws_ping_interval=PING_INTERVAL_S,
        ws_ping_timeout=settings.peer_timeout_s,
        timeout_graceful_shutdown=1,
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
    )
    return HttpServer(config)
