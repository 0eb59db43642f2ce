"""What each stand-in does to be run as a process: say where it listens, and end on a signal."""

import asyncio
import json
import signal


def announce(host: str, port: int) -> None:
    """Print the one line that tells whoever started us that connections are accepted."""
    print(json.dumps({"event": "listening", "host": host, "port": port}), flush=True)


def stop_event() -> asyncio.Event:
    """Return an event that SIGTERM or SIGINT sets; neither ends the process any more."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    return stop
