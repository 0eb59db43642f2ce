"""Runs the project's commands as a person would, and finds what they leave behind."""

import os
import re
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from local.supervisor import ROOT

MARK = "FIRST_SENTENCE_TEST_MARK"
START_TIMEOUT_S = 120.0


class Command:
    """A process started with a mark in its environment, which all its descendants inherit."""

    def __init__(self, arguments: list[str | bytes], log: Path) -> None:
        self.mark = uuid.uuid4().hex
        self.log = log
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                arguments,
                cwd=ROOT,
                env=os.environ | {MARK: self.mark},
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_for(self, pattern: str, count: int = 1) -> re.Match[str]:
        """Until the output holds the pattern `count` times; the last of them."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            found = list(re.finditer(pattern, self.output()))
            if len(found) >= count:
                return found[count - 1]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"{pattern!r} not seen in: {self.output()}")

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def left_behind(self) -> list[str]:
        """Command lines of living processes that carry the mark."""
        left = []
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                environment = (folder / "environ").read_bytes()
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue  # it has just ended, or is not ours
            if f"{MARK}={self.mark}".encode() in environment:
                left.append(command.replace(b"\0", b" ").decode())
        return left

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(30)


@contextmanager
def running(folder: Path) -> Iterator[Callable[..., Command]]:
    """A function that starts commands, output in `folder`; all are stopped at the end."""
    started: list[Command] = []

    def start(*arguments: str | bytes) -> Command:
        started.append(Command(list(arguments), folder / f"output-{len(started)}.txt"))
        return started[-1]

    try:
        yield start
    finally:
        for command in started:
            command.stop()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
