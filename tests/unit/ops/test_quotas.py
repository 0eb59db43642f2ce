"""Service quotas: one that is too small is found before the deploy."""

import datetime as dt
from collections.abc import Iterator

import pytest
from moto import mock_aws

from ops import quotas
from ops.findings import Finding
from stacks.settings import load
from tests.recorded import RecordedAccount


@pytest.fixture
def account() -> Iterator[RecordedAccount]:
    with mock_aws():
        yield RecordedAccount(load("staging"))


def verdicts(findings: Iterator[Finding]) -> list[str]:
    return [finding.verdict for finding in findings]


def quota(name: str, value: float) -> dict[str, object]:
    return {"ServiceCode": "x", "QuotaCode": "L-00000000", "QuotaName": name, "Value": value}


def quotas_are(account: RecordedAccount, **applied: float) -> None:
    page = [quota(name, value) for name, value in applied.items()]
    account.answer("service-quotas", "list_service_quotas", {"Quotas": page})


@pytest.mark.parametrize(
    ("allowed", "verdict"), [(0, "problem"), (1, "problem"), (2, "warning"), (4, "ok")]
)
def test_the_instance_quota_covers_the_maximum_and_warns_below_a_rollout(
    account: RecordedAccount, allowed: int, verdict: str
) -> None:
    """New accounts have 0: the endpoint fails after the images were built. Blue/green needs both
    fleets at once, so that twice the maximum is what never fails."""
    quotas_are(account, **{"ml.g5.xlarge for endpoint usage": allowed})
    (finding,) = quotas.check_instances(account)
    assert finding.verdict == verdict
    if verdict != "ok":
        assert "'ml.g5.xlarge for endpoint usage'" in finding.next_step
        assert "services/sagemaker/quotas" in finding.next_step


def test_a_scheduled_maximum_counts(account: RecordedAccount) -> None:
    """The schedule may scale beyond the bounds the environment starts with."""
    settings = account.settings
    busy = settings.speech.schedule[0].model_copy(update={"maximum": 6})
    speech = settings.speech.model_copy(update={"schedule": (busy,)})
    account.settings = settings.model_copy(update={"speech": speech})
    quotas_are(account, **{"ml.g5.xlarge for endpoint usage": 4})
    (finding,) = quotas.check_instances(account)
    assert finding.verdict == "problem"
    assert "6 needed" in finding.detail


def test_a_quota_that_was_never_raised_is_aws_default(account: RecordedAccount) -> None:
    """Applied quotas are listed only where they differ from the default."""
    quotas_are(account)
    account.answer(
        "service-quotas",
        "list_aws_default_service_quotas",
        {"Quotas": [quota("ml.g5.xlarge for endpoint usage", 10)]},
        ServiceCode="sagemaker",
    )
    assert verdicts(quotas.check_instances(account)) == ["ok"]


def test_a_quota_nobody_lists_is_no_problem_and_no_all_clear(account: RecordedAccount) -> None:
    """A renamed quota must neither stop deploys nor pass for a sufficient one."""
    quotas_are(account)
    account.answer("service-quotas", "list_aws_default_service_quotas", {"Quotas": []})
    assert verdicts(quotas.check_instances(account)) == ["warning"]


def test_codebuild_without_builds_is_a_problem(account: RecordedAccount) -> None:
    """No build starts, nobody answers CloudFormation, and it waits."""
    builds = dict.fromkeys(quotas.BUILD_QUOTAS.values(), 0.0)
    quotas_are(account, **builds)
    quotas_are(account, **builds | {quotas.BUILD_QUOTAS["agent"]: 1})
    findings = list(quotas.check_builds(account))
    assert verdicts(iter(findings)) == ["problem", "ok"]
    assert "Linux/Small" in findings[0].subject
    assert "ARM/Small" in findings[1].subject


def test_builds_do_not_matter_where_images_exist(account: RecordedAccount) -> None:
    image = account.settings.speech.image.model_copy(update={"source": "docker"})
    account.settings = account.settings.model_copy(
        update={
            "speech": account.settings.speech.model_copy(update={"image": image}),
            "agent": account.settings.agent.model_copy(update={"image": image}),
        }
    )
    assert verdicts(quotas.check_builds(account)) == []


def runtime(name: str, status: str = "READY") -> dict[str, object]:
    return {
        "agentRuntimeArn": f"arn:aws:bedrock-agentcore:us-east-1:111122223333:runtime/{name}",
        "description": "A runtime",
        "agentRuntimeId": f"{name}-0123456789",
        "agentRuntimeVersion": "1",
        "agentRuntimeName": name,
        "lastUpdatedAt": dt.datetime(2026, 11, 30, tzinfo=dt.UTC),
        "status": status,
    }


def test_agentcore_takes_one_more_runtime(account: RecordedAccount) -> None:
    runtimes = {"agentRuntimes": [runtime("other"), runtime("voice_agent_dev")]}
    account.answer("bedrock-agentcore-control", "list_agent_runtimes", runtimes)
    limits = {"Total agents per account": 2.0, "Active session workloads per account": 500.0}
    quotas_are(account, **limits)
    quotas_are(account, **limits)
    agents, sessions = quotas.check_agentcore(account)
    assert (agents.verdict, agents.detail) == ("problem", "2 allowed, 3 needed")
    assert sessions.verdict == "ok"
