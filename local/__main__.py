"""Runs the whole voice agent on this machine: `say`, `serve` and `container`.

    python -m local say "PROMPT"    speak one reply into a WAV file
    python -m local serve           keep the agent running until Ctrl-C
    python -m local container       keep the speech server alone running until Ctrl-C

`python -m local --make TARGET` is what the Makefile calls: the options are its variables.
"""

import asyncio
import os
import signal
import sys
from argparse import Namespace

from local.bedrock.http_client import UpstreamError
from local.bedrock.reply_sources import reply_source
from local.command_line import parse, parse_make
from local.process import ProcessError
from local.progress import show
from local.say import say
from local.serve import serve, serve_container
from voice_agent_client import AgentError


async def _run(options: Namespace) -> int:
    """Run the command; Ctrl-C, SIGTERM and SIGHUP cancel it, once: cleaning up is not cancelled.

    Returns:
        The command's exit status, or 128 plus the signal's number.
    """
    task = asyncio.current_task()
    assert task is not None
    received: list[int] = []

    def end(number: int) -> None:
        if not received:
            show("stopping")
            task.cancel()
        received.append(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            asyncio.get_running_loop().add_signal_handler(number, end, number)
    try:
        if options.command == "container":
            return await serve_container(options)
        source = await reply_source(options.bedrock, options.model)
        return await (say if options.command == "say" else serve)(options, source)
    except asyncio.CancelledError:
        return 128 + received[0]


def main(arguments: list[str]) -> int:
    """Run a command: 0 it did its work, 1 it failed, 2 bad usage, 128 + n ended by signal n."""
    if arguments[:1] == ["--make"]:
        options = parse_make(arguments[1], os.environ)
    else:
        options = parse(arguments)
    try:
        return asyncio.run(_run(options))
    except (ProcessError, UpstreamError, AgentError, OSError) as error:
        show(f"error: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
