"""`python -m local say "PROMPT"` speaks one reply; `python -m local serve` keeps serving."""

import argparse
import asyncio
import io
import os
import signal
import sys
import time
import wave
from collections.abc import Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx

from local.process import ProcessError
from local.supervisor import Supervisor
from local.timeline import SAMPLE_WIDTH_BYTES, ReplyTimeline
from voice_agent_client import AgentError, PromptSettings, TextDelta, ask_sse, ask_ws


def progress(line: str) -> None:
    """Print one line of progress to standard error."""
    print(line, file=sys.stderr, flush=True)


async def say(arguments: argparse.Namespace) -> int:
    """Start everything, ask once, write the reply; the exit code."""
    prompt = arguments.prompt or "Please read this."
    async with Supervisor(progress) as supervisor:
        if arguments.text is not None:
            url = f"{supervisor.addresses.bedrock_url}/local/script"
            async with httpx.AsyncClient(trust_env=False) as http:
                (await http.post(url, json={"text": arguments.text})).raise_for_status()
        url = supervisor.addresses.agent_url
        settings: PromptSettings = {"mode": arguments.mode, "voice": arguments.voice}
        timeline = ReplyTimeline()
        print(f"you    {prompt}\nagent  ", end="", flush=True)
        started_s = time.monotonic()
        ask = ask_sse if arguments.transport == "sse" else ask_ws
        async with aclosing(ask(url, prompt, **settings)) as events:
            async for event in events:
                timeline.feed(event, time.monotonic() - started_s)
                if isinstance(event, TextDelta):
                    print(event.text, end="", flush=True)
    print("\n\n" + "\n".join(timeline.lines()))
    for error in timeline.errors:
        progress(f"error: {error.message} ({error.code})")
    if not timeline.audio:
        progress("error: no speech came")
        return 1
    if arguments.out:
        wav = io.BytesIO()
        with wave.open(wav, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(SAMPLE_WIDTH_BYTES)
            file.setframerate(timeline.sample_rate_hz)
            file.writeframes(timeline.audio)
        _write(arguments.out, wav.getvalue())
        print(f"           written to {arguments.out}")
    if arguments.json:
        report = timeline.report(mode=arguments.mode, transport=arguments.transport)
        _write(arguments.json, report.model_dump_json(indent=2).encode() + b"\n")
    return 1 if timeline.errors else 0


async def serve(arguments: argparse.Namespace) -> int:
    """Start everything and keep it running until Ctrl-C; the exit code."""
    async with Supervisor(progress, restart=True, page=arguments.page) as supervisor:
        addresses = supervisor.addresses
        if arguments.json:
            _write(arguments.json, addresses.model_dump_json(indent=2).encode() + b"\n")
        for name, value in addresses:
            if name != "secret_access_key":
                print(f"{name:18} {value}")
        if arguments.page:
            print(f"\nOpen {supervisor.page_url} and talk. Ctrl-C ends everything.", flush=True)
        else:
            print("\nServing. Ctrl-C ends everything.", flush=True)
        await asyncio.Event().wait()
    return 0


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:  # a full disk's error does not say whose file it was
        raise OSError(error.errno, error.strerror, str(path)) from error


def _words(argument: str) -> str:
    if not argument.strip():
        raise argparse.ArgumentTypeError("there is nothing in it to say")
    try:
        argument.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("is not UTF-8") from None
    return argument


def _output(argument: str) -> Path:
    """A file to write: that it cannot be is said before the work, not after it."""
    path = Path(argument)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{path} cannot be written")
    return path


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local", description=__doc__)
    commands = parser.add_subparsers(required=True)
    speak = commands.add_parser("say", help="speak the reply to one prompt")
    speak.add_argument("prompt", type=_words, nargs="?", help="what you say to the agent")
    speak.add_argument(
        "--text", type=_words, help="what the agent replies (default: a scripted reply)"
    )
    speak.add_argument("--mode", choices=("bidi", "batch"), default="bidi")
    speak.add_argument("--transport", choices=("ws", "sse"), default="ws")
    speak.add_argument("--voice", default="af_heart")
    speak.add_argument("--out", type=_output, help="WAV file to write")
    speak.add_argument("--json", type=_output, help="file for the timeline's figures")
    speak.set_defaults(command=say)
    keep = commands.add_parser("serve", help="keep everything running until Ctrl-C")
    keep.add_argument("--json", type=_output, help="file for the addresses and credentials")
    keep.add_argument("--page", action="store_true", help="also serve the page in web/")
    keep.set_defaults(command=serve)
    return parser


async def _until_signalled(command: Coroutine[Any, Any, int]) -> int:
    """Run the command; Ctrl-C, SIGTERM and SIGHUP cancel it, once: cleaning up is not cancelled.

    Returns:
        The command's exit code, or 128 plus the signal's number.
    """
    task = asyncio.current_task()
    assert task is not None
    received: list[int] = []

    def end(number: int) -> None:
        if not received:
            progress("stopping")
            task.cancel()
        received.append(number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            asyncio.get_running_loop().add_signal_handler(number, end, number)
    try:
        return await command
    except asyncio.CancelledError:
        return 128 + received[0]


def main() -> int:
    """Run a command: 0 it did its work, 1 it failed, 2 bad usage, 128 + n ended by signal n."""
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.command is say and not (arguments.prompt or arguments.text):
        parser.error("say what? Give a PROMPT, or the reply itself with --text")
    try:
        return asyncio.run(_until_signalled(arguments.command(arguments)))
    except (ProcessError, AgentError, OSError) as error:
        progress(f"error: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
