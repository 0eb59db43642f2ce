"""The command `python -m voice_agent`, which serves the agent."""

import argparse
import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import uvicorn

from voice_agent.settings import Settings, SettingsError

MAX_FRAME_BYTES = 2 << 20
"""A longer frame closes the connection (1009). An overlong prompt in a shorter one is answered."""

SHUTDOWN_TIMEOUT_S = 8
"""Longer than a reply takes to stop (2 s for the model, 1 s for speech, 2 s for the stream)."""
PING_INTERVAL_S = 20.0


class _Server(uvicorn.Server):
    """A server that prints its address and exits with status 0 after SIGINT or SIGTERM."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.should_exit:
            return
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        print(json.dumps({"event": "listening", "host": host, "port": port}), flush=True)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn's own method raises the signal again on exit, which would kill the process.
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)


def main() -> int:
    """Serve until SIGINT or SIGTERM. Return the exit status."""
    parser = argparse.ArgumentParser(prog="voice_agent", description="Serve the voice agent.")
    parser.add_argument("--host", default="0.0.0.0", help="address to listen on (default: 0.0.0.0)")
    parser.add_argument(
        "--port",
        type=int,
        default=8080,
        help="port to listen on; 0 for any free port (default: 8080)",
    )
    arguments = parser.parse_args()
    logging.basicConfig(
        level=logging.WARNING,
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
    )
    for package in ("voice_agent", "speech_client"):
        logging.getLogger(package).setLevel(logging.INFO)
    try:
        settings = Settings.from_environment(os.environ)
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 2
    # Importing the agent takes seconds. Wrong settings are reported first.
    from voice_agent.app import VoiceAgentApp

    server = _Server(
        uvicorn.Config(
            VoiceAgentApp(settings).asgi,
            host=arguments.host,
            port=arguments.port,
            log_config=None,
            log_level="warning",
            access_log=False,
            ws_max_size=MAX_FRAME_BYTES,
            ws_ping_interval=PING_INTERVAL_S,
            ws_ping_timeout=PING_INTERVAL_S,
            timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_S,
        )
    )
    asyncio.run(_serve(server, settings))
    return 0


async def _serve(server: _Server, settings: Settings) -> None:
    # A reply occupies one thread while the model writes it, and a batch request occupies another.
    executor = ThreadPoolExecutor(2 * settings.max_conversations, thread_name_prefix="aws")
    asyncio.get_running_loop().set_default_executor(executor)
    await server.serve()
    # Everything is closed by now, but a thread may still wait for data from Bedrock. A regular exit
    # would wait for this thread.
    logging.shutdown()
    os._exit(0 if server.started else 1)


if __name__ == "__main__":
    sys.exit(main())
