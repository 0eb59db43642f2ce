"""`ops smoke` and `ops capacity` as processes: real speech through the official clients.

The container, the SageMaker and Bedrock stand-ins and the agent run as in `make serve`; a
simulation of AWS (moto) is the control plane; before the agent stands AgentCore's front.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import boto3
import httpx
import pytest
import pytest_asyncio
from moto.server import ThreadedMotoServer

from local.aws_wire.sigv4 import Verifier
from local.sagemaker.router import run_router
from local.sagemaker.settings import RouterSettings
from local.supervisor import ROOT, Supervisor
from ops.agentcore import agent_address
from ops.aws import Account
from stacks.settings import load
from tests.agentcore_front import Front, serving
from tests.control_plane import deploy
from tests.own_environments import FOLDER
from voice_agent_client import AgentConnection, AgentEnd, Audio, ask_sse

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

TOKEN = "a-bearer-token"
REPLY = "Boats leave the bay at dawn. White birds follow them home."


class Deployed:
    """What looks like an account with the environment `tests/environments/dev.toml` in it."""

    def __init__(self, environment: dict[str, str], front: Front, account: Account) -> None:
        self.environment = environment
        self.front = front
        self.account = account

    async def ops(self, *arguments: str) -> tuple[int, str, str]:
        """Run a command; its exit code, what it printed, and its progress."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.own_environments", *arguments, "--env", "dev"),
            cwd=ROOT,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, progress = await asyncio.wait_for(process.communicate(), 240)
        return process.returncode or 0, output.decode(), progress.decode()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def deployed(
    path: Supervisor, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Deployed]:
    tls_dir: Path = tmp_path_factory.mktemp("tls")
    moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    moto.start()
    try:
        where = path.addresses
        async with httpx.AsyncClient(base_url=where.bedrock_url) as bedrock:
            (await bedrock.post("/local/script", json={"text": REPLY})).raise_for_status()
        keys = {
            "access_key_id": where.access_key_id,
            "secret_access_key": where.secret_access_key,
            "region": where.region,
        }
        router_settings = RouterSettings.model_validate(
            {
                "tls_dir": tls_dir,
                "endpoints": {
                    name: {"url": where.container_url} for name in ("kokoro-dev", "kokoro-local")
                },
                **keys,
            }
        )
        front = Front(where.agent_url, Verifier(**keys, service="bedrock-agentcore"), TOKEN)
        async with run_router(router_settings) as router, serving(front) as front_url:
            runtime_url = f"https://localhost:{router.port}"
            host, port = moto.get_host_and_port()
            addresses = {
                "AWS_ENDPOINT_URL": f"http://{host}:{port}",
                "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME": runtime_url,
                "AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2": runtime_url,
                "AWS_ENDPOINT_URL_BEDROCK_AGENTCORE": front_url,
                "AWS_CA_BUNDLE": str(tls_dir / "ca.pem"),
                "AWS_ACCESS_KEY_ID": where.access_key_id,
                "AWS_SECRET_ACCESS_KEY": where.secret_access_key,
                "AWS_REGION": where.region,
                "AWS_EC2_METADATA_DISABLED": "true",
                "AWS_CONFIG_FILE": os.devnull,
                "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            }
            inherited = {name: value for name, value in os.environ.items() if name[:4] != "AWS_"}
            with pytest.MonkeyPatch.context() as patch:
                for name, value in addresses.items():
                    patch.setenv(name, value)
                account = Account(boto3.Session(region_name=where.region), load("dev", FOLDER))
                await asyncio.to_thread(deploy, account)
                yield Deployed(inherited | addresses, front, account)
    finally:
        moto.stop()


async def test_everything_that_is_deployed_speaks(deployed: Deployed) -> None:
    """A deploy that CloudFormation calls complete may be silent on any of its ways in."""
    code, output, progress = await deployed.ops("smoke")
    assert code == 0, output + progress
    lines = output.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "ok       endpoint kokoro-dev",
        "ok       batch",
        "ok       bidirectional",
        "ok       agent over SSE",
        "ok       agent over WebSocket",
    ]
    assert progress.splitlines() == [
        f"checking {check} …"
        for check in (
            "endpoint",
            "batch",
            "bidirectional",
            "agent over SSE",
            "agent over WebSocket",
        )
    ]
    assert "as deployed" in lines[0]
    assert all("s of speech, first audio after" in line for line in lines[1:])
    assert "× BINARY" in lines[2]
    assert "× UTF8" in lines[2]
    assert len(set(deployed.front.sessions)) == 2
    assert deployed.front.refused == []


async def test_capacity_is_measured_and_the_settings_follow(deployed: Deployed) -> None:
    """How many it is depends on this machine; that the figures come from speech does not."""
    arguments = ("--endpoint", "kokoro-local", "--ladder", "1", "--utterances", "2")
    _, output, progress = await deployed.ops("capacity", *arguments)
    _, _, table, *_ = output.splitlines()
    sessions, p50_ms, p95_ms, _, errors, speech_s = table.split()
    assert (sessions, errors) == ("1", "0"), output + progress
    assert 0 < float(p50_ms) <= float(p95_ms)
    assert float(speech_s) > 2.0


async def test_a_token_opens_both_ways_where_signatures_do_not(deployed: Deployed) -> None:
    """With JWT authorization AgentCore refuses a signed request, however good."""
    runtime = await asyncio.to_thread(deployed.account.runtime)
    assert runtime is not None
    arn = runtime["agentRuntimeArn"]
    over_sse = ask_sse(agent_address(deployed.account, arn, token=TOKEN), "Hello.")
    async with AgentConnection(agent_address(deployed.account, arn, token=TOKEN)) as agent:
        for asked in (over_sse, agent.ask("Hello.")):
            async with aclosing(asked):
                events = [event async for event in asked]
            assert isinstance(events[-1], AgentEnd)
            assert any(isinstance(event, Audio) for event in events)
