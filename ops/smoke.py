"""`smoke`: whether what was deployed is in service, and speaks on every way in.

It is also what verifies, in an account, what a machine without one cannot.
"""

import array
import asyncio
import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError, NoCredentialsError

from ops.advice import next_step
from ops.agentcore import AgentError, AgentRuntime, Event, new_session_id
from ops.aws import AWS_ERRORS, Account, OpsError, error_code, explain
from ops.findings import Finding
from voice_agent.speech.endpoint import SpeechEndpoint
from voice_agent.speech.errors import SpeechError
from voice_agent.speech.protocol import (
    Audio,
    GoingAway,
    RequestError,
    SpeechProtocol,
    SynthesisComplete,
    Unrecognized,
)

TEXT = "The harbor wakes early. Boats leave the bay at dawn."
PROMPT = "In two short sentences: what is a harbor?"
SAMPLE_RATE_HZ = 24_000
MIN_SPEECH_S = 0.5
SILENCE = 300
"""A peak below this, of 32 768, is not speech."""

POLL_S = 15.0
BIDI_TIMEOUT_S = 60.0
TRANSIENT = ("Creating", "Updating", "SystemUpdating", "RollingBack")
ENDPOINT_CONFIG = "AWS::SageMaker::EndpointConfig"


@dataclass(frozen=True)
class Heard:
    """Speech that came: 16-bit mono PCM at 24 kHz, and seconds from asking to its first byte."""

    pcm: bytes
    first_audio_s: float | None

    @property
    def duration_s(self) -> float:
        """Seconds of speech."""
        return len(self.pcm) / (2 * SAMPLE_RATE_HZ)

    def problem(self) -> str:
        """Why this is not speech, empty if it is."""
        if self.duration_s < MIN_SPEECH_S:
            return f"only {self.duration_s:.2f} s of audio came"
        samples = array.array("h", self.pcm[: len(self.pcm) // 2 * 2])
        if max(map(abs, samples)) < SILENCE:
            return f"{self.duration_s:.2f} s of silence came"
        return ""

    def finding(self, subject: str, more: str = "") -> Finding:
        """What to tell about it."""
        if problem := self.problem():
            log = "/aws/sagemaker/Endpoints/<endpoint>"
            return Finding("problem", subject, problem, f"read the container's log: {log}")
        detail = f"{self.duration_s:.1f} s of speech, first audio after {self.first_audio_s:.2f} s"
        return Finding("ok", subject, detail + more)


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
        account: the environment's.
        token: a bearer token, for an agent with JWT authorization.
        qualifier: the runtime's endpoint to ask.
        wait_s: how long an endpoint that is being made or updated is waited for.
        sleep: waits between two looks.

    Raises:
        OpsError: there are no credentials.
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
            raise OpsError("; ".join(explain(error))) from error
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
    resources = account.stack_resources("speech")
    yield compare_configs(
        name,
        status=str(endpoint.endpoint_status),
        in_service=str(endpoint.endpoint_config_name),
        deployed=[
            name_of_arn(resource.get("PhysicalResourceId", ""))
            for resource in resources
            if resource["ResourceType"] == ENDPOINT_CONFIG
        ],
        failure=str(endpoint.failure_reason or ""),
    )


def _endpoint_resource() -> Any:
    """The SageMaker SDK's `Endpoint`: seconds to import, which other commands need not spend."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of its docstrings
        from sagemaker.core.resources import Endpoint
    return Endpoint


def compare_configs(
    endpoint: str, *, status: str, in_service: str, deployed: list[str], failure: str = ""
) -> Finding:
    """Judge an endpoint's state: `InService` alone also describes a rollout that was taken back.

    Args:
        endpoint: its name.
        status: as `DescribeEndpoint` gives it.
        in_service: the name of the configuration it runs on.
        deployed: the names of the configurations in the stack.
        failure: the endpoint's failure reason.
    """
    subject = f"endpoint {endpoint}"
    if status in TRANSIENT:
        detail = f"is {status} on {in_service}"
        return Finding("problem", subject, detail, "wait: --wait 3600 waits an hour")
    if status != "InService":
        step = next_step(failure) or "read /aws/sagemaker/Endpoints/<endpoint>, then deploy again"
        return Finding("problem", subject, f"is {status}: {failure or 'no reason given'}", step)
    if not deployed:
        detail = f"is InService on {in_service}, and no stack has a configuration for it"
        return Finding("problem", subject, detail, "deploy the speech stack")
    if in_service not in deployed:
        detail = f"is InService on {in_service}, but {', '.join(deployed)} was deployed"
        return Finding(
            "problem",
            subject,
            detail,
            "the rollout was taken back: see which alarm rang (docs/operations.md), mend, deploy",
        )
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
    yield Heard(pcm, time.monotonic() - started_s).finding("batch")


def check_bidirectional(account: Account) -> Iterator[Finding]:
    """Whether a bidirectional stream speaks, and which `DataType` its parts carry."""
    try:
        heard, data_types = asyncio.run(speak(account))
    except SpeechError as error:
        step = next_step(str(error)) or "port 8443 must be reachable; else read the container's log"
        yield Finding("problem", "bidirectional", str(error), step)
        return
    seen = ", ".join(f"{count} × {kind}" for kind, count in sorted(data_types.items()))
    yield heard.finding("bidirectional", f"; DataType of its parts: {seen}")
    if "none" in data_types:
        yield Finding(
            "warning",
            "bidirectional",
            "parts came without DataType: control is told from audio by its content",
            "report it: docs/unverified.md",
        )


async def speak(account: Account) -> tuple[Heard, Counter[str]]:
    """Speak one text over a stream of its own; the speech, and the parts by `DataType`.

    Raises:
        SpeechError: the part that failed.
    """
    endpoint = SpeechEndpoint(
        account.settings.endpoint_name,
        region=account.region,
        # The AWS SDKs' own setting, which the transport takes as an argument.
        ca_file=account.session._session.get_config_variable("ca_bundle"),
        session=account.session._session,
    )
    protocol = SpeechProtocol()
    pcm = bytearray()
    first_audio_s: float | None = None
    data_types: Counter[str] = Counter()
    try:
        stream = await endpoint.open_stream()
        try:
            started_s = time.monotonic()
            await stream.send(protocol.speak(TEXT, "smoke"))
            async with asyncio.timeout(BIDI_TIMEOUT_S):
                while (part := await stream.receive()) is not None:
                    data_types[part.data_type or "none"] += 1
                    match protocol.receive(
                        part.bytes_ or b"", part.data_type, part.completion_state
                    ):
                        case Audio(data=data):
                            if first_audio_s is None:
                                first_audio_s = time.monotonic() - started_s
                            pcm += data
                        case SynthesisComplete() | GoingAway():
                            break
                        case RequestError() | Unrecognized() as event:
                            raise SpeechError(f"speech container: {event}")
            await stream.send(protocol.close())
        finally:
            await stream.close()
    except TimeoutError:
        raise SpeechError(f"no complete answer in {BIDI_TIMEOUT_S:.0f} s") from None
    finally:
        await endpoint.close()
    return Heard(bytes(pcm), first_audio_s), data_types


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
    agent = AgentRuntime(account, runtime["agentRuntimeArn"], qualifier=qualifier, token=token)
    for subject, ask in (
        ("agent over SSE", agent.ask_sse),
        ("agent over WebSocket", agent.ask_ws),
    ):
        try:
            yield listen(subject, ask(PROMPT, new_session_id()))
        except AgentError as error:
            step = next_step(str(error)) or _agent_log(runtime["agentRuntimeId"], qualifier)
            yield Finding("problem", subject, str(error), step)
        except NoCredentialsError:
            raise
        except AWS_ERRORS as error:
            detail, step = explain(error)
            step = step or _agent_log(runtime["agentRuntimeId"], qualifier)
            yield Finding("problem", subject, detail, step)


def listen(
    subject: str, events: Iterator[Event], clock: Callable[[], float] = time.monotonic
) -> Finding:
    """Hear one reply of the agent, from the moment it is asked for, to its end."""
    pcm = bytearray()
    first_audio_s: float | None = None
    errors: list[dict[str, Any]] = []
    started_s = clock()
    for event in events:
        if event["type"] == "audio":
            if first_audio_s is None:
                first_audio_s = clock() - started_s
            pcm += event["data"]
        elif event["type"] == "error":
            errors.append(event)
            if event.get("code") == "invalid":
                break  # a refused prompt has no end of its own
    if errors:
        detail = "; ".join(f"{error['code']}: {error['message']}" for error in errors)
        step = next_step(detail) or "README.md, “Operate it”, says whom each code concerns"
        return Finding("problem", subject, detail, step)
    return Heard(bytes(pcm), first_audio_s).finding(subject)


def _agent_log(runtime_id: str, qualifier: str) -> str:
    return f"read the agent's log: /aws/bedrock-agentcore/runtimes/{runtime_id}-{qualifier}"
