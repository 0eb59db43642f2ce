"""The whole path on one machine: container, AWS stand-ins and agent, each a process."""

import asyncio
import contextlib
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType

import httpx
from pydantic import BaseModel, ConfigDict

from local.process import Part, PartError

ROOT = Path(__file__).resolve().parent.parent
REGION = "us-east-1"
ENDPOINT_NAME = "kokoro-local"
READY_TIMEOUT_S = 180.0
PINGED = ("container", "agent")
MAX_QUICK_RESTARTS = 3
QUICK_S = 5.0


class Addresses(BaseModel):
    """Where the parts listen and how to sign for them; what `serve --json` writes."""

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


async def model_dir() -> str:
    """The folder with the model, fetched and built first where it is missing.

    Raises:
        PartError: it could not be built; the reason has been printed by then.
    """
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
        raise PartError("the model could not be fetched: see above")
    return output.decode().splitlines()[-1]


class Stack:
    """Container, stand-ins and agent on free loopback ports, from `start` to `stop`.

    Use as an async context manager. A part that ends by itself is started again on its port
    when `restart` is set, and is reported through `say` either way.

    Args:
        say: prints one line of progress.
        restart: start parts again that have ended.
        page: also serve the page in `web/`.
        bedrock_arguments: for the Bedrock stand-in, as `--first-token-s`.
        agent_env: settings for the agent, as `VOICE_AGENT_VOICE`.
    """

    def __init__(
        self,
        say: Callable[[str], None],
        *,
        restart: bool = False,
        page: bool = False,
        bedrock_arguments: list[str] | None = None,
        agent_env: Mapping[str, str] | None = None,
    ) -> None:
        self._say = say
        self._restart = restart
        self._page = page
        self._bedrock_arguments = bedrock_arguments or []
        self._agent_env = dict(agent_env or {})
        self._access_key_id = "AKIALOCAL" + secrets.token_hex(4).upper()
        self._secret_access_key = secrets.token_hex(20)
        self._signature = [
            *("--region", REGION),
            *("--access-key-id", self._access_key_id),
            *("--secret-access-key", self._secret_access_key),
        ]
        self._work_dir = Path(tempfile.mkdtemp(prefix="first-sentence-"))
        self._keep_logs = False
        self._guard: asyncio.subprocess.Process | None = None
        self._watchers: list[asyncio.Task[None]] = []
        self.parts: dict[str, Part] = {}

    async def __aenter__(self) -> "Stack":
        try:
            await self._start()
        except BaseException as error:
            self._keep_logs = isinstance(error, PartError)
            await self.stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
        return f"{scheme}://{host}:{self.parts[name].port}"

    async def _start(self) -> None:
        self._guard = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "local.guard"),
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        model = await model_dir()
        container = self._part(
            "container", ["-m", "kokoro_server", "serve"], "container", {"KOKORO_MODEL_DIR": model}
        )
        bedrock = self._part(
            "bedrock",
            ["-m", "local.bedrock.converse", *self._signature, *self._bedrock_arguments],
        )
        await asyncio.gather(container.start(), bedrock.start())
        sagemaker = self._part(
            "sagemaker",
            [
                *("-m", "local.sagemaker.router"),
                *("--endpoint", f"{ENDPOINT_NAME}={self._url('container')}"),
                *("--tls-dir", str(self._work_dir / "tls")),
                *self._signature,
            ],
        )
        await sagemaker.start()
        agent = self._part(
            "agent", ["-m", "voice_agent"], "agent", self._agent_env | self._aws_environment()
        )
        await agent.start()
        if self._page:
            arguments = ["-m", "local.page", "--agent-url", self._url("agent")]
            await self._part("page", arguments).start()
        await asyncio.gather(*(self.ready(name) for name in self.parts))
        self._watchers = [asyncio.create_task(self._watch(part)) for part in self.parts.values()]

    def _part(
        self,
        name: str,
        arguments: list[str],
        folder: str = ".",
        env: Mapping[str, str] | None = None,
    ) -> Part:
        inherited = {
            key: value
            for key, value in os.environ.items()
            # The developer's own account is never touched, nor are settings meant for images.
            if not key.startswith(("AWS_", "KOKORO_", "VOICE_AGENT_"))
            # All a part talks to is on loopback, where no proxy leads.
            and not key.lower().endswith("_proxy")
        }
        part = Part(
            name,
            [*arguments, "--host", "127.0.0.1"],
            log_file=self._work_dir / f"{name}.log",
            cwd=ROOT / folder,
            env=inherited | {"PYTHONUNBUFFERED": "1"} | dict(env or {}),
            note_pid=self._note_pid,
        )
        self.parts[name] = part
        return part

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
        """Wait until a started part can serve, as its `/ping` says where it has one.

        Raises:
            PartError: it ended, or was not ready within `READY_TIMEOUT_S`.
        """
        part = self.parts[name]
        if name in PINGED:
            try:
                async with (
                    asyncio.timeout(READY_TIMEOUT_S),
                    httpx.AsyncClient(trust_env=False) as http,
                ):
                    while not await self._answers(http, self._url(name)):
                        if part.pid is None:
                            raise PartError(f"{name} ended before it was ready{part.log_tail()}")
                        await asyncio.sleep(0.1)
            except TimeoutError:
                raise PartError(
                    f"{name} was not ready within {READY_TIMEOUT_S:.0f} s{part.log_tail()}"
                ) from None
        self._say(f"{name} ready (pid {part.pid}, port {part.port})")

    @staticmethod
    async def _answers(http: httpx.AsyncClient, url: str) -> bool:
        try:
            return (await http.get(url + "/ping", timeout=2.0)).status_code == 200
        except httpx.TransportError:
            return False

    async def _watch(self, part: Part) -> None:
        loop = asyncio.get_running_loop()
        quick = 0
        while True:
            started_s = loop.time()
            code = await part.wait()
            self._keep_logs = True
            self._say(f"{part.name} ended with code {code}; its log: {part.log_file}")
            quick = quick + 1 if loop.time() - started_s < QUICK_S else 0
            if not self._restart or quick >= MAX_QUICK_RESTARTS:
                return
            try:
                await part.start()
                await self.ready(part.name)
            except PartError as error:
                self._say(str(error))

    def _note_pid(self, line: str) -> None:
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.write(line.encode() + b"\n")

    async def stop(self) -> None:
        """End every part, whatever state it is in. Logs are kept only if a part had failed."""
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        self._watchers = []
        # The agent first: it says goodbye to the others while they are there.
        for name in ("page", "agent", "sagemaker", "container", "bedrock"):
            if name in self.parts:
                await self.parts[name].stop()
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()
            await self._guard.wait()
        if self._keep_logs:
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(self._work_dir / "tls")
        else:
            shutil.rmtree(self._work_dir, ignore_errors=True)
