"""`ops smoke` without anything to speak to: what is deployed against what is in service."""

import array
from collections import Counter
from collections.abc import AsyncGenerator, Iterator

import pytest
from moto import mock_aws

from ops import smoke
from ops.speaking import Heard
from speech_client.errors import SpeechConnectionError
from stacks.names import QUALIFIER
from stacks.settings import load
from tests.control_plane import deploy, simulated_endpoint
from tests.recorded import RecordedAccount
from voice_agent_client import (
    AgentEnd,
    AgentStart,
    AgentUnreachableError,
    Audio,
    ErrorEvent,
    Event,
    Metrics,
)


@pytest.fixture
def account() -> Iterator[RecordedAccount]:
    with mock_aws():
        yield RecordedAccount(load("dev"))


def test_a_deployed_endpoint_is_in_service_on_what_was_deployed(account: RecordedAccount) -> None:
    deploy(account)
    (finding,) = smoke.check_endpoint(account)
    assert finding.verdict == "ok", finding


def test_an_endpoint_on_its_old_configuration_is_a_problem(account: RecordedAccount) -> None:
    """After a rollback the endpoint is InService, and CloudFormation may say so, too."""
    deployed = deploy(account)
    simulated_endpoint(account).endpoint_config_name = "older"  # as a rollback does
    (finding,) = smoke.check_endpoint(account)
    assert finding.verdict == "problem"
    assert "InService with older" in finding.detail
    assert f"{deployed} was deployed" in finding.detail
    assert "rolled it back" in finding.next_step


def test_no_endpoint_is_told_with_how_to_deploy(account: RecordedAccount) -> None:
    (finding,) = smoke.check_endpoint(account)
    assert finding.verdict == "problem"
    assert finding.next_step == 'make cdk ARGS="deploy -c env=dev --all"'


def test_a_rollout_is_waited_for_with_progress(
    account: RecordedAccount, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wait without a sign of life is taken for a hang, and ended."""
    deploy(account)
    endpoint = simulated_endpoint(account)
    endpoint.endpoint_status = "Updating"
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            endpoint.endpoint_status = "InService"

    (finding,) = smoke.check_endpoint(account, wait_s=600, sleep=sleep)
    assert finding.verdict == "ok"
    assert capsys.readouterr().out.splitlines() == [
        "         endpoint kokoro-dev is Updating after 0 s",
        "         endpoint kokoro-dev is Updating after 15 s",
    ]
    assert slept == [smoke.POLL_S] * 2


def test_a_deploy_that_was_rolled_back_as_a_whole_is_a_problem() -> None:
    """CloudFormation follows the endpoint back, and then both name the old configuration."""
    finding = smoke.compare_configs(
        "e",
        status="InService",
        in_service="old",
        deployed=["old"],
        stack_status="UPDATE_ROLLBACK_COMPLETE",
    )
    assert finding.verdict == "problem"
    assert "the last deploy was rolled back" in finding.detail


def test_the_wait_has_an_end() -> None:
    finding = smoke.compare_configs("e", status="Updating", in_service="old", deployed=["new"])
    assert finding.verdict == "problem"
    assert "--wait" in finding.next_step


def test_a_failed_endpoint_is_told_with_what_to_do() -> None:
    """`Failed` alone sends people to the console."""
    finding = smoke.compare_configs(
        "e",
        status="Failed",
        in_service="c",
        deployed=["c"],
        failure="The primary container for production variant AllTraffic did not pass the ping "
        "health check. Please check CloudWatch logs for this endpoint.",
    )
    assert finding.verdict == "problem"
    assert "CUDA major" in finding.next_step


def test_a_failed_endpoint_may_give_no_reason(account: RecordedAccount) -> None:
    deploy(account)
    simulated_endpoint(account).endpoint_status = "Failed"
    (finding,) = smoke.check_endpoint(account)
    assert finding.detail == "is Failed: no reason given"
    assert "/aws/sagemaker/Endpoints/kokoro-dev" in finding.next_step


def test_a_stack_without_a_configuration_is_half_made() -> None:
    finding = smoke.compare_configs("e", status="InService", in_service="c", deployed=[])
    assert finding.verdict == "problem"


def test_physical_ids_are_arns_or_names() -> None:
    """CloudFormation gives a configuration's ARN, DescribeEndpoint its name."""
    arn = "arn:aws:sagemaker:us-east-1:111122223333:endpoint-config/config-abc"
    assert smoke.name_of_arn(arn) == smoke.name_of_arn("config-abc") == "config-abc"


def test_no_runtime_is_told(account: RecordedAccount) -> None:
    (finding,) = smoke.check_agent(account, qualifier=QUALIFIER, token=None)
    assert finding.verdict == "problem"
    assert "voice_agent_dev" in finding.subject


def test_an_agent_that_takes_tokens_is_not_asked_without_one(account: RecordedAccount) -> None:
    """403 from AgentCore would send people to IAM."""
    deploy(account)
    agent = account.settings.agent.model_copy(update={"auth": "jwt"})
    account.settings = account.settings.model_copy(update={"agent": agent})
    (finding,) = smoke.check_agent(account, qualifier=QUALIFIER, token=None)
    assert finding.verdict == "problem"
    assert "VOICE_AGENT_TOKEN" in finding.next_step


def pcm(value: int, seconds: float) -> bytes:
    return array.array("h", [value, -value] * int(seconds * 12_000)).tobytes()


def test_speech_is_audible_and_long_enough() -> None:
    """An endpoint that answers with silence, or with a click, answers 200."""
    assert Heard(pcm(8000, 1.0), 0.2).problem() == ""
    assert "silence" in Heard(pcm(3, 1.0), 0.2).problem()
    assert "only 0.10 s" in Heard(pcm(8000, 0.1), 0.2).problem()
    assert "only 0.00 s" in Heard(b"", None).problem()


def test_parts_without_a_data_type_are_told(
    account: RecordedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API's model says it comes back; nobody has published that it does."""

    async def speak(*_: object) -> tuple[Heard, Counter[str]]:
        return Heard(pcm(8000, 1.0), 0.2), Counter({"none": 3})

    monkeypatch.setattr(smoke, "speak", speak)
    spoke, warned = smoke.check_bidirectional(account)
    assert (spoke.verdict, warned.verdict) == ("ok", "warning")
    assert "3 × none" in spoke.detail


def test_what_cannot_be_reached_is_told_and_the_rest_goes_on(
    account: RecordedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Port 8443 closed is the commonest reason for a bidirectional stream that does not open."""

    async def speak(*_: object) -> tuple[Heard, Counter[str]]:
        raise SpeechConnectionError("SageMaker runtime: connection timed out")

    monkeypatch.setattr(smoke, "speak", speak)
    monkeypatch.setattr(smoke, "check_batch", lambda _: iter(()))
    findings = list(smoke.smoke(account, qualifier=QUALIFIER))
    assert [finding.verdict for finding in findings] == ["problem"] * 3
    assert findings[1].next_step == "allow outgoing connections to port 8443"


@pytest.mark.parametrize("variable", ["", "AWS_ENDPOINT_URL"])
def test_a_refused_connection_does_not_send_people_to_a_log(
    variable: str, account: RecordedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The container's log holds nothing about a connection that never reached it."""
    deploy(account)

    async def unreachable(*_: object, **__: object) -> AsyncGenerator[Event]:
        raise AgentUnreachableError("cannot connect to AgentCore: refused")
        yield

    monkeypatch.setattr(smoke, "agent_address", lambda *_, **__: None)
    monkeypatch.setattr(smoke, "ask_sse", unreachable)
    monkeypatch.setattr(smoke, "ask_ws", unreachable)
    if variable:
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    findings = list(smoke.check_agent(account, qualifier=QUALIFIER, token=None))
    assert [finding.verdict for finding in findings] == ["problem"] * 2
    for finding in findings:
        assert " log" not in finding.next_step
        assert (variable or "network") in finding.next_step


def test_each_check_is_named_before_it_begins(
    account: RecordedAccount,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An endpoint that cannot be reached keeps a check silent for half a minute."""
    monkeypatch.setattr(smoke, "check_batch", lambda _: iter(()))
    monkeypatch.setattr(smoke, "check_bidirectional", lambda _: iter(()))
    next(smoke.smoke(account, qualifier=QUALIFIER))
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "checking endpoint …\n")


async def reply(*events: Event) -> AsyncGenerator[Event]:
    for event in events:
        yield event


async def test_a_replys_first_audio_is_counted_from_asking() -> None:
    times = iter([10.0, 10.4, 99.0])
    audio = Audio(data=pcm(8000, 0.5))
    events = reply(AgentStart(mode="bidi"), audio, audio, AgentEnd(metrics=Metrics()))
    finding = await smoke.listen("agent", events, "log", lambda: next(times))
    assert finding.detail == "1.0 s of speech, first audio after 0.40 s"


async def test_an_agents_error_is_told_with_its_code() -> None:
    """A reply may end in order and have said nothing but an error."""
    error = ErrorEvent(code="speech_connection", message="SageMaker runtime: refused")
    finding = await smoke.listen("agent", reply(error, AgentEnd(metrics=Metrics())), "log")
    assert (finding.verdict, finding.detail) == (
        "problem",
        "speech_connection: SageMaker runtime: refused",
    )
