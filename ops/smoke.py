"""`smoke`: checks whether the deployed version is in service, and speaks over every interface.

In an account, it also verifies the assumptions that cannot be verified without one.
"""

import asyncio
import json
import sys
import time
import warnings
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import Any

from botocore.exceptions import ClientError, NoCredentialsError

from ops.advice import next_step
from ops.agentcore import agent_address
from ops.aws import AWS_ERRORS, Account, OpsError, connection_step, error_code, explain
from ops.findings import Finding
from ops.speaking import Heard, speak
from speech_client.errors import SpeechConnectionError, SpeechError, SpeechTimeoutError
from stacks.names import RUNTIME_LOGS, endpoint_log_group
from voice_agent_client import (
    AgentError,
    AgentUnreachableError,
    Audio,
    ErrorEvent,
    Event,
    ask_sse,
    ask_ws,
)

TEXT = "The harbor wakes early. Boats leave the bay at dawn."
PROMPT = "In two short sentences: what is a harbor?"

POLL_S = 15.0
CONNECT_TIMEOUT_S = 60.0
"""Longer than usual, because a connection may wait for a cold start of the agent's microVM."""

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
    """Check the endpoint's configuration, then speak over every interface; yield each finding.

    Args:
        account: The account of the environment.
        token: A bearer token, for an agent with JWT authorization.
        qualifier: The endpoint of the AgentCore runtime.
        wait_s: The seconds to wait for an endpoint that is being created or updated.
        sleep: The function that waits between two checks of the endpoint.

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
        if subject != "agent":  # its two checks announce themselves
            _announce(subject)
        try:
            yield from check()
        except NoCredentialsError as error:
            raise OpsError(*explain(error)) from error
        except AWS_ERRORS as error:
            yield Finding("problem", subject, *explain(error))


def _announce(check: str) -> None:
    """Show which check begins: without a connection, each waits for several attempts."""
    print(f"checking {check} …", file=sys.stderr, flush=True)


def check_endpoint(
    account: Account, *, wait_s: float = 0.0, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Finding]:
    """Check whether the endpoint is in service with the configuration that the stack deployed."""
    name = account.settings.endpoint_name
    try:
        endpoint = _endpoint_resource().get(
            endpoint_name=name, session=account.session, region=account.region
        )
    except ClientError as error:
        # SageMaker reports an endpoint that does not exist with this code.
        if error_code(error) != "ValidationException":
            raise
        step = account.cdk("deploy")
        yield Finding("problem", f"endpoint {name}", "does not exist", step)
        return
    waited_s = 0.0
    while endpoint.endpoint_status in TRANSIENT and waited_s < wait_s:
        print(
            f"         endpoint {name} is {endpoint.endpoint_status} after {waited_s:.0f} s",
            flush=True,
        )
        sleep(POLL_S)
        waited_s += POLL_S
        endpoint.refresh()
    reason = endpoint.failure_reason  # without a reason, a placeholder object of the SDK
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
    """Import the SageMaker SDK's `Endpoint`, which takes seconds that other commands can save."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # from the SDK's docstrings
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
    """Compare the configuration in service with the deployed one.

    The status alone does not suffice: an endpoint is `InService` after a rollback, too.

    Args:
        endpoint: The name of the endpoint.
        status: The status from `DescribeEndpoint`.
        in_service: The name of the configuration in service.
        deployed: The names of the configurations in the stack.
        failure: The failure reason of the endpoint.
        stack_status: The status of the stack, which is rolled back together with the endpoint.
    """
    subject = f"endpoint {endpoint}"
    if status in TRANSIENT:
        detail = f"is {status} with {in_service}"
        return Finding(
            "problem",
            subject,
            detail,
            "run the command with --wait 3600, which waits up to an hour",
        )
    if status != "InService":
        step = next_step(failure) or f"{_speech_log(endpoint)}; then deploy again"
        return Finding("problem", subject, f"is {status}: {failure or 'no reason given'}", step)
    if not deployed:
        detail = f"is InService with {in_service}, but no stack has a configuration for it"
        return Finding("problem", subject, detail, "deploy the speech stack")
    rolled_back = "find the alarm that rolled it back: docs/operations.md, “Roll back”"
    if in_service not in deployed:
        detail = f"is InService with {in_service}, but {', '.join(deployed)} was deployed"
        return Finding("problem", subject, detail, rolled_back)
    if stack_status == "UPDATE_ROLLBACK_COMPLETE":
        detail = f"is InService with {in_service}, because the last deploy was rolled back"
        return Finding("problem", subject, detail, rolled_back)
    return Finding("ok", subject, f"is InService with {in_service}, as deployed")


def name_of_arn(physical_id: str) -> str:
    """Return the name in the physical id of an endpoint configuration, which is an ARN."""
    return physical_id.rsplit("/", 1)[-1]


def check_batch(account: Account) -> Iterator[Finding]:
    """Check whether a batch request (`InvokeEndpoint`) returns speech."""
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
    """Check whether a bidirectional stream returns speech, and with which `DataType`."""
    log = _speech_log(account.settings.endpoint_name)
    try:
        heard, data_types = asyncio.run(speak(account, TEXT))
    except SpeechError as error:
        step = next_step(str(error))
        if not step and isinstance(error, SpeechConnectionError):
            step = connection_step("allow outgoing connections to port 8443")
            if isinstance(error, SpeechTimeoutError):  # the container may be the one that hangs
                step = f"{step}; {log}"
        yield Finding("problem", "bidirectional", str(error), step or log)
        return
    seen = ", ".join(f"{count} × {kind}" for kind, count in sorted(data_types.items()))
    yield _judge("bidirectional", heard, log, f"; DataType of the payload parts: {seen}")
    if "none" in data_types:
        yield Finding(
            "warning",
            "bidirectional",
            "payload parts have no DataType, so control messages are recognized by their content",
            "record this in docs/unverified.md",
        )


def check_agent(account: Account, *, qualifier: str, token: str | None) -> Iterator[Finding]:
    """Check whether the agent speaks over server-sent events and over a WebSocket."""
    runtime = account.runtime()
    name = account.settings.runtime_name
    if runtime is None:
        step = account.cdk("deploy")
        yield Finding("problem", f"runtime {name}", "does not exist", step)
        return
    if runtime["status"] != "READY":
        detail = f"is {runtime['status']}"
        yield Finding("problem", f"runtime {name}", detail, "read the events of the agent stack")
        return
    if account.settings.agent.auth == "jwt" and not token:
        step = "set VOICE_AGENT_TOKEN to a token for a client or audience of agent.jwt"
        yield Finding("problem", "agent", "requires a bearer token", step)
        return
    log = f"read the agent's log: {RUNTIME_LOGS}{runtime['agentRuntimeId']}-{qualifier}"
    for subject, ask in (("agent over SSE", ask_sse), ("agent over WebSocket", ask_ws)):
        _announce(subject)
        arn = runtime["agentRuntimeArn"]
        address = agent_address(account, arn, qualifier=qualifier, token=token)
        try:
            events = ask(address, PROMPT, connect_timeout_s=CONNECT_TIMEOUT_S)
            yield asyncio.run(listen(subject, events, log))
        except NoCredentialsError:
            raise
        except AgentUnreachableError as error:
            yield Finding("problem", subject, str(error), connection_step())
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
    """Listen to one reply of the agent, from the prompt to the end."""
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
        step = next_step(detail) or "look the code up in README.md, “Operate it”"
        return Finding("problem", subject, detail, step)
    return _judge(subject, Heard(bytes(pcm), first_audio_s), log)


def _judge(subject: str, heard: Heard, log: str, more: str = "") -> Finding:
    if problem := heard.problem():
        return Finding("problem", subject, problem, log)
    detail = f"{heard.duration_s:.1f} s of speech, first audio after {heard.first_audio_s:.2f} s"
    return Finding("ok", subject, detail + more)


def _speech_log(endpoint_name: str) -> str:
    return f"read the container's log: {endpoint_log_group(endpoint_name)}"
