"""One of the processes that the supervisor runs: started, watched, ended."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

LISTEN_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 10.0


class ProcessError(Exception):
    """A process did not start or has ended; the message says which, and where its log is."""


@dataclass(eq=False)
class Process:
    """A program that prints `{"event": "listening", "host": …, "port": …}` when its socket is up.

    Attributes:
        name: What users call it: container, sagemaker, bedrock, agent or page.
        arguments: Of the interpreter, without `--port`.
        log_file: Receives what the process writes to standard error.
        cwd: Working folder of the process.
        env: Its whole environment.
        note_pid: Called with `+PID` and `-PID` as processes come and go.
        port: Where it listens; 0 before its first start.
    """

    name: str
    arguments: list[str]
    log_file: Path
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    note_pid: Callable[[str], None]
    port: int = 0
    _process: asyncio.subprocess.Process | None = None
    _exit: asyncio.Task[int] | None = None

    @property
    def pid(self) -> int | None:
        """The running process, or None."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def start(self) -> None:
        """Start the process and wait until it listens; one that is started again keeps its port.

        Raises:
            ProcessError: It ended, or was killed as it did not listen within `LISTEN_TIMEOUT_S`.
        """
        command = [sys.executable, *self.arguments, "--port", str(self.port)]
        with self.log_file.open("ab") as log:
            process = self._process = await asyncio.create_subprocess_exec(
                *command,
                cwd=self.cwd,
                env=self.env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                start_new_session=True,  # Ctrl-C reaches the supervisor alone; it ends the rest
            )
        self.note_pid(f"+{process.pid}")
        assert process.stdout is not None
        try:
            async with asyncio.timeout(LISTEN_TIMEOUT_S):
                line = await process.stdout.readline()
        except TimeoutError:
            line = b""
            self.kill()
        self._exit = asyncio.create_task(self._watch_exit(process), name=f"{self.name} exit")
        if not line:
            code = await self.wait()
            raise ProcessError(f"{self.name} did not start to listen, code {code}{self.log_tail()}")
        self.port = int(json.loads(line)["port"])

    async def wait(self) -> int:
        """Wait for the process to end; its exit code (minus the signal's number if killed)."""
        assert self._exit is not None
        return await asyncio.shield(self._exit)  # several may wait; none of them ends the watch

    async def _watch_exit(self, process: asyncio.subprocess.Process) -> int:
        assert process.stdout is not None
        async for _ in process.stdout:
            pass  # a full pipe would stop the process
        code = await process.wait()
        self.note_pid(f"-{process.pid}")
        return code

    def kill(self) -> None:
        """Kill the process at once, as a crash would."""
        self._signal(signal.SIGKILL)

    async def stop(self) -> None:
        """End the process: SIGTERM, and SIGKILL after `STOP_TIMEOUT_S`."""
        if self.pid is None or self._exit is None:
            self.kill()
            return
        self._signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await self.wait()
        except TimeoutError:
            self.kill()
            await self.wait()

    def _signal(self, number: signal.Signals) -> None:
        if self.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def log_tail(self, lines: int = 3) -> str:
        """The end of the log, ready to follow a message, or nothing when the log is empty."""
        text = self.log_file.read_text(errors="replace") if self.log_file.exists() else ""
        tail = [line for line in text.splitlines() if line.strip()][-lines:]
        return ": " + " | ".join(tail) if tail else ""
