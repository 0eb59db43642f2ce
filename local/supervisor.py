"""The whole path on one machine: container, AWS stand-ins and agent, each a process."""

import asyncio
import contextlib
import os
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import httpx
from pydantic import BaseModel, ConfigDict

from local.bedrock.reply_sources import SCRIPTED, ReplySource
from local.process import Process, ProcessError
from local.progress import Progress, reported

ROOT = Path(__file__).resolve().parent.parent
REGION = "us-east-1"
ENDPOINT_NAME = "kokoro-local"
READY_TIMEOUT_S = 180.0
PINGED = ("container", "agent")
MAX_QUICK_RESTARTS = 3
QUICK_S = 5.0


class Addresses(BaseModel):
    """Where the processes listen and how to sign for them; what `serve --json` writes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent_url: str
    container_url: str
    sagemaker_url: str
    bedrock_url: str
    ca_file: str
    endpoint_name: str
    region: str
    access_key_id: str
    secret_access_key: str


async def model_dir(progress: Progress) -> str:
    """Return the model directory; the model is fetched and built first if it is missing.

    Raises:
        ProcessError: The model could not be built; the reason has been printed by then.
    """
    async with reported(progress, "checking the model (the first time: fetching and building it)"):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "kokoro_model"),
            cwd=ROOT / "container",
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            output, _ = await process.communicate()
        except asyncio.CancelledError:
            with contextlib.suppress(ProcessLookupError):  # Ctrl-C may have reached it first
                process.terminate()
            await process.wait()
            raise
    if process.returncode:
        raise ProcessError("the model could not be fetched; the reason is above")
    return output.decode().splitlines()[-1]


def check_port(port: int) -> None:
    """Check that a process can listen on `port` of the loopback interface; 0 always can.

    Raises:
        ProcessError: It cannot, because another program does, or because it is not allowed.
    """
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise ProcessError(
            f"port {port} cannot be used ({os.strerror(error.errno or 0)}); choose another with "
            "PORT=… (make) or --port … (python -m local), 0 for any free one"
        ) from None


def free_port() -> int:
    """Return a port of the loopback interface that no program uses at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Supervisor:
    """Runs container, stand-ins and agent on free loopback ports.

    Use it as an async context manager. A process that ends by itself is started again on its port
    when `restart` is set, and is reported through `progress` either way.

    Args:
        progress: Shows one line.
        source: Writes the replies.
        restart: Whether to start processes again that have ended.
        page: Whether to serve the page in `web/` as well.
        agent_environment: The agent's settings beside those of the source.
        first_port: Port of the agent; the speech server has the next one, and the page the one
            after. With 0, and for all other processes, any free port.

    Attributes:
        processes: By name; for tests that end one.
    """

    def __init__(
        self,
        progress: Progress,
        *,
        source: ReplySource = SCRIPTED,
        restart: bool = False,
        page: bool = False,
        first_port: int = 0,
        agent_environment: Mapping[str, str] | None = None,
    ) -> None:
        self._progress = progress
        self._source = source
        self._restart = restart
        self._page = page
        self._first_port = first_port
        self._agent_environment = dict(agent_environment or {})
        self._access_key_id = "AKIALOCAL" + secrets.token_hex(4).upper()
        self._secret_access_key = secrets.token_hex(20)
        self._signature = [
            *("--region", REGION),
            *("--access-key-id", self._access_key_id),
            *("--secret-access-key", self._secret_access_key),
        ]
        self._work_dir = Path(tempfile.mkdtemp(prefix="first-sentence-"))
        self._keep_logs = False
        self._reaper: asyncio.subprocess.Process | None = None
        self._watchers: list[asyncio.Task[None]] = []
        self.processes: dict[str, Process] = {}

    async def __aenter__(self) -> "Supervisor":
        try:
            await self._start()
        except BaseException as error:
            self._keep_logs = isinstance(error, ProcessError)
            await self.stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def addresses(self) -> Addresses:
        """Where everything is, once started."""
        return Addresses(
            agent_url=self._url("agent"),
            container_url=self._url("container"),
            sagemaker_url=self._url("sagemaker", "https", "localhost"),
            bedrock_url=self._url("bedrock"),
            ca_file=str(self._ca_file),
            endpoint_name=ENDPOINT_NAME,
            region=REGION,
            access_key_id=self._access_key_id,
            secret_access_key=self._secret_access_key,
        )

    @property
    def page_url(self) -> str:
        """The page in `web/`, served when `page` was set."""
        return self._url("page")

    @property
    def _ca_file(self) -> Path:
        return self._work_dir / "tls" / "ca.pem"

    def _url(self, name: str, scheme: str = "http", host: str = "127.0.0.1") -> str:
        return f"{scheme}://{host}:{self.processes[name].port}"

    async def _start(self) -> None:
        ports = {
            name: self._first_port + offset if self._first_port else 0
            for offset, name in enumerate(("agent", "container", "page"))
        }
        if self._page and not ports["page"]:
            ports["page"] = free_port()  # the agent learns it before the page is served
        for name, port in ports.items():
            if name != "page" or self._page:
                check_port(port)
        self._reaper = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "local.reaper"),
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        model = await model_dir(self._progress)
        async with reported(self._progress, "starting the agent and loading the speech model"):
            await self._start_processes(model, ports)
        self._watchers = [
            asyncio.create_task(self._watch(process)) for process in self.processes.values()
        ]

    async def _start_processes(self, model: str, ports: Mapping[str, int]) -> None:
        container = self._add(
            "container",
            ["-m", "kokoro_server", "serve"],
            folder="container",
            env={"KOKORO_MODEL_DIR": model},
            port=ports["container"],
        )
        bedrock = self._add(
            "bedrock",
            ["-m", self._source.module, *self._signature, *self._source.arguments],
            env=self._source.environment,
        )
        await asyncio.gather(container.start(), bedrock.start())
        sagemaker = self._add(
            "sagemaker",
            [
                *("-m", "local.sagemaker.router"),
                *("--endpoint", f"{ENDPOINT_NAME}={self._url('container')}"),
                *("--tls-dir", str(self._work_dir / "tls")),
                *self._signature,
            ],
        )
        await sagemaker.start()
        page_environment = {}
        if self._page:
            page_environment["VOICE_AGENT_PAGE_URL"] = f"http://127.0.0.1:{ports['page']}"
        agent = self._add(
            "agent",
            ["-m", "voice_agent"],
            folder="agent",
            env={
                **self._aws_environment(),
                **self._source.agent_environment,
                **self._agent_environment,
                **page_environment,
            },
            port=ports["agent"],
        )
        await agent.start()
        if self._page:
            arguments = ["-m", "local.page", "--agent-url", self._url("agent")]
            arguments += ["--replies", self._source.description]
            await self._add("page", arguments, port=ports["page"]).start()
        await asyncio.gather(*(self.ready(name) for name in self.processes))

    def _add(
        self,
        name: str,
        arguments: list[str],
        *,
        folder: str = ".",
        env: Mapping[str, str] | None = None,
        port: int = 0,
    ) -> Process:
        inherited = {
            key: value
            for key, value in os.environ.items()
            # Without the developer's AWS account, and without settings that are meant for images.
            if not key.startswith(("AWS_", "KOKORO_", "VOICE_AGENT_"))
            # All these processes talk to each other on loopback, where no proxy leads.
            and not key.lower().endswith("_proxy")
        }
        process = Process(
            name,
            [*arguments, "--host", "127.0.0.1"],
            log_file=self._work_dir / f"{name}.log",
            cwd=ROOT / folder,
            env=inherited | {"PYTHONUNBUFFERED": "1"} | dict(env or {}),
            note_pid=self._note_pid,
            port=port,
        )
        self.processes[name] = process
        return process

    def _aws_environment(self) -> dict[str, str]:
        sagemaker = self._url("sagemaker", "https", "localhost")
        return {
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": self._access_key_id,
            "AWS_SECRET_ACCESS_KEY": self._secret_access_key,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_CA_BUNDLE": str(self._ca_file),
            "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME": sagemaker,
            "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2": sagemaker,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self._url("bedrock"),
            "VOICE_AGENT_ENDPOINT_NAME": ENDPOINT_NAME,
        }

    async def ready(self, name: str) -> None:
        """Wait until a started process can serve, as its `/ping` says where it has one.

        Raises:
            ProcessError: It ended, or was not ready within `READY_TIMEOUT_S`.
        """
        process = self.processes[name]
        if name in PINGED:
            try:
                async with (
                    asyncio.timeout(READY_TIMEOUT_S),
                    httpx.AsyncClient(trust_env=False) as http,
                ):
                    while not await self._answers(http, self._url(name)):
                        if process.pid is None:
                            raise ProcessError(
                                f"{name} ended before it was ready{process.log_tail()}"
                            )
                        await asyncio.sleep(0.1)
            except TimeoutError:
                raise ProcessError(
                    f"{name} was not ready within {READY_TIMEOUT_S:.0f} s{process.log_tail()}"
                ) from None
        self._progress(f"{name} ready (pid {process.pid}, port {process.port})")

    @staticmethod
    async def _answers(http: httpx.AsyncClient, url: str) -> bool:
        try:
            return (await http.get(url + "/ping", timeout=2.0)).status_code == 200
        except httpx.TransportError:
            return False

    async def _watch(self, process: Process) -> None:
        loop = asyncio.get_running_loop()
        quick_ends = 0
        while True:
            started_s = loop.time()
            code = await process.wait()
            self._keep_logs = True
            self._progress(f"{process.name} ended with code {code}; its log: {process.log_file}")
            quick_ends = quick_ends + 1 if loop.time() - started_s < QUICK_S else 0
            if not self._restart or quick_ends >= MAX_QUICK_RESTARTS:
                return
            try:
                await process.start()
                await self.ready(process.name)
            except ProcessError as error:
                self._progress(str(error))

    def _note_pid(self, line: str) -> None:
        if self._reaper is not None and self._reaper.stdin is not None:
            self._reaper.stdin.write(line.encode() + b"\n")

    async def stop(self) -> None:
        """End every process, whatever state it is in. Logs are kept only if one had failed."""
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        self._watchers = []
        # The agent before the others: it says goodbye to them while they are there.
        for process in reversed(self.processes.values()):
            await process.stop()
        if self._reaper is not None and self._reaper.stdin is not None:
            self._reaper.stdin.close()
            await self._reaper.wait()
        if self._keep_logs:
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(self._work_dir / "tls")
        else:
            shutil.rmtree(self._work_dir, ignore_errors=True)
