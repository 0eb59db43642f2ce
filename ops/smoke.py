"""`smoke`: whether what was deployed is in service, and speaks on every way in.

It is also what verifies, in an account, what a machine without one cannot.
"""

import asyncio
import json
import time
import warnings
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import Any

from botocore.exceptions import ClientError, NoCredentialsError

from ops.advice import next_step
from ops.agentcore import agent_address
from ops.aws import AWS_ERRORS, Account, OpsError, error_code, explain, summary
from ops.findings import Finding
from ops.speaking import Heard, speak
from speech_client.errors import SpeechError
from stacks.names import RUNTIME_LOGS, endpoint_log_group
from voice_agent_client import AgentError, Audio, ErrorEvent, Event, ask_sse, ask_ws

TEXT = "The harbor wakes early. Boats leave the bay at dawn."
PROMPT = "In two short sentences: what is a harbor?"

POLL_S = 15.0
CONNECT_TIMEOUT_S = 60.0
"""A cold start of the agent's microVM takes longer than a connection elsewhere."""

TRANSIENT = ("Creating", "Updating", "SystemUpdating", "RollingBack")
ENDPOINT_CONFIG = "AWS::SageMaker::EndpointConfig"


def smoke(
    account: Account,
    *,
    token: str | None = None,
    qualifier: str,
    wait_s: float = 0.0,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Finding]:
    """Check the endpoint's configuration, then speak on every way in; yields findings at once.

    Args:
        account: The environment's.
        token: A bearer token, for an agent with JWT authorization.
        qualifier: The runtime's endpoint to ask.
        wait_s: How long to wait for an endpoint that is being created or updated.
        sleep: Waits between two looks.

    Raises:
        OpsError: There are no credentials.
    """
    checks: tuple[tuple[str, Callable[[], Iterable[Finding]]], ...] = (
        ("endpoint", lambda: check_endpoint(account, wait_s=wait_s, sleep=sleep)),
        ("batch", lambda: check_batch(account)),
        ("bidirectional", lambda: check_bidirectional(account)),
        ("agent", lambda: check_agent(account, token=token, qualifier=qualifier)),
    )
    for subject, check in checks:
        try:
            yield from check()
        except NoCredentialsError as error:
            raise OpsError(summary(error)) from error
        except AWS_ERRORS as error:
            yield Finding("problem", subject, *explain(error))


def check_endpoint(
    account: Account, *, wait_s: float = 0.0, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Finding]:
    """Whether the endpoint is in service on the configuration that the stack deployed."""
    name = account.settings.endpoint_name
    try:
        endpoint = _endpoint_resource().get(
            endpoint_name=name, session=account.session, region=account.region
        )
    except ClientError as error:
        # SageMaker's answer for an endpoint that does not exist.
        if error_code(error) != "ValidationException":
            raise
        step = account.cdk("deploy")
        yield Finding("problem", f"endpoint {name}", "there is none", step)
        return
    waited_s = 0.0
    while endpoint.endpoint_status in TRANSIENT and waited_s < wait_s:
        print(
            f"         endpoint {name} is {endpoint.endpoint_status}, {waited_s:.0f} s", flush=True
        )
        sleep(POLL_S)
        waited_s += POLL_S
        endpoint.refresh()
    reason = endpoint.failure_reason  # an object of the SDK's own where there is none
    stack = account.stack(account.stack_name("speech")) or {}
    yield compare_configs(
        name,
        status=str(endpoint.endpoint_status),
        in_service=str(endpoint.endpoint_config_name),
        deployed=[
            name_of_arn(config) for config in account.physical_ids("speech", ENDPOINT_CONFIG)
        ],
        failure=reason if isinstance(reason, str) else "",
        stack_status=stack.get("StackStatus", ""),
    )


def _endpoint_resource() -> Any:
    """The SageMaker SDK's `Endpoint`: seconds to import, which other commands need not spend."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of its docstrings
        from sagemaker.core.resources import Endpoint
    return Endpoint


def compare_configs(
    endpoint: str,
    *,
    status: str,
    in_service: str,
    deployed: list[str],
    failure: str = "",
    stack_status: str = "",
) -> Finding:
    """Judge an endpoint's state: `InService` alone also describes a rollout that was taken back.

    Args:
        endpoint: Its name.
        status: As `DescribeEndpoint` gives it.
        in_service: The name of the configuration it runs on.
        deployed: The names of the configurations in the stack.
        failure: The endpoint's failure reason.
        stack_status: Of the stack, which follows the endpoint back.
    """
    subject = f"endpoint {endpoint}"
    if status in TRANSIENT:
        detail = f"is {status} on {in_service}"
        return Finding("problem", subject, detail, "wait: --wait 3600 waits an hour")
    if status != "InService":
        step = next_step(failure) or f"{_speech_log(endpoint)}; then deploy again"
        return Finding("problem", subject, f"is {status}: {failure or 'no reason given'}", step)
    if not deployed:
        detail = f"is InService on {in_service}, and no stack has a configuration for it"
        return Finding("problem", subject, detail, "deploy the speech stack")
    taken_back = "the rollout was taken back: see which alarm rang (docs/operations.md)"
    if in_service not in deployed:
        detail = f"is InService on {in_service}, but {', '.join(deployed)} was deployed"
        return Finding("problem", subject, detail, taken_back)
    if stack_status == "UPDATE_ROLLBACK_COMPLETE":
        detail = f"is InService on {in_service}, as before the last deploy, which failed"
        return Finding("problem", subject, detail, taken_back)
    return Finding("ok", subject, f"is InService on {in_service}, as deployed")


def name_of_arn(physical_id: str) -> str:
    """The name in an endpoint configuration's physical id, which CloudFormation gives as ARN."""
    return physical_id.rsplit("/", 1)[-1]


def check_batch(account: Account) -> Iterator[Finding]:
    """Whether `InvokeEndpoint` speaks."""
    endpoint = _endpoint_resource()(endpoint_name=account.settings.endpoint_name)
    started_s = time.monotonic()
    answer = endpoint.invoke(
        body=json.dumps({"text": TEXT, "format": "pcm"}),
        content_type="application/json",
        session=account.session,
        region=account.region,
    )
    pcm = answer.body.read()
    heard = Heard(pcm, time.monotonic() - started_s)
    yield _judge("batch", heard, _speech_log(account.settings.endpoint_name))


def check_bidirectional(account: Account) -> Iterator[Finding]:
    """Whether a bidirectional stream speaks, and which `DataType` its parts carry."""
    log = _speech_log(account.settings.endpoint_name)
    try:
        heard, data_types = asyncio.run(speak(account, TEXT))
    except SpeechError as error:
        step = next_step(str(error)) or f"let port 8443 through; {log}"
        yield Finding("problem", "bidirectional", str(error), step)
        return
    seen = ", ".join(f"{count} × {kind}" for kind, count in sorted(data_types.items()))
    yield _judge("bidirectional", heard, log, f"; DataType of its parts: {seen}")
    if "none" in data_types:
        yield Finding(
            "warning",
            "bidirectional",
            "parts came without DataType: control is told from audio by its content",
            "write it down in docs/unverified.md",
        )


def check_agent(account: Account, *, qualifier: str, token: str | None) -> Iterator[Finding]:
    """Whether the agent answers in speech over server-sent events and over a WebSocket."""
    runtime = account.runtime()
    name = account.settings.runtime_name
    if runtime is None:
        step = account.cdk("deploy")
        yield Finding("problem", f"runtime {name}", "there is none", step)
        return
    if runtime["status"] != "READY":
        detail = f"is {runtime['status']}"
        yield Finding("problem", f"runtime {name}", detail, "see the agent stack's events")
        return
    if account.settings.agent.auth == "jwt" and not token:
        step = "set VOICE_AGENT_TOKEN to a token of one of agent.jwt's clients or audiences"
        yield Finding("problem", "agent", "cannot be asked without a bearer token", step)
        return
    log = f"read the agent's log: {RUNTIME_LOGS}{runtime['agentRuntimeId']}-{qualifier}"
    for subject, ask in (("agent over SSE", ask_sse), ("agent over WebSocket", ask_ws)):
        arn = runtime["agentRuntimeArn"]
        address = agent_address(account, arn, qualifier=qualifier, token=token)
        try:
            events = ask(address, PROMPT, connect_timeout_s=CONNECT_TIMEOUT_S)
            yield asyncio.run(listen(subject, events, log))
        except NoCredentialsError:
            raise
        except AgentError as error:
            yield Finding("problem", subject, str(error), next_step(str(error)) or log)
        except AWS_ERRORS as error:
            detail, step = explain(error)
            yield Finding("problem", subject, detail, step or log)


async def listen(
    subject: str,
    events: AsyncGenerator[Event],
    log: str,
    clock: Callable[[], float] = time.monotonic,
) -> Finding:
    """Hear one reply of the agent, from the moment it is asked for, to its end."""
    pcm = bytearray()
    first_audio_s: float | None = None
    errors: list[str] = []
    started_s = clock()
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Audio):
                if first_audio_s is None:
                    first_audio_s = clock() - started_s
                pcm += event.data
            elif isinstance(event, ErrorEvent):
                errors.append(f"{event.code}: {event.message}")
    if errors:
        detail = "; ".join(errors)
        step = next_step(detail) or "README.md, “Operate it”, says whom each code concerns"
        return Finding("problem", subject, detail, step)
    return _judge(subject, Heard(bytes(pcm), first_audio_s), log)


def _judge(subject: str, heard: Heard, log: str, more: str = "") -> Finding:
    if problem := heard.problem():
        return Finding("problem", subject, problem, log)
    detail = f"{heard.duration_s:.1f} s of speech, first audio after {heard.first_audio_s:.2f} s"
    return Finding("ok", subject, detail + more)


def _speech_log(endpoint_name: str) -> str:
    return f"read the container's log: {endpoint_log_group(endpoint_name)}"
