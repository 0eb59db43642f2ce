"""`ops preflight`: what would fail a deploy is found before it, and reported with the next step."""

import datetime as dt
import json
from collections.abc import Iterator

import pytest
from moto import mock_aws

from ops import preflight
from ops.aws import OpsError
from ops.findings import Finding
from stacks.settings import load
from tests.recorded import RecordedAccount
from tests.unit.ops.test_advice import RATE_LIMIT

BUCKET = {"Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}}}


@pytest.fixture
def account() -> Iterator[RecordedAccount]:
    with mock_aws():
        yield RecordedAccount(load("staging"))


def verdicts(findings: Iterator[Finding]) -> list[str]:
    return [finding.verdict for finding in findings]


def test_bootstrap_missing_old_and_good(account: RecordedAccount) -> None:
    """`cdk deploy` fails late and in other words without it."""
    (finding,) = preflight.check_bootstrap(account)
    assert (finding.verdict, finding.next_step) == (
        "problem",
        'make cdk ARGS="bootstrap -c env=staging"',
    )
    account.client("cloudformation").create_stack(
        StackName="CDKToolkit", TemplateBody=json.dumps(BUCKET)
    )
    ssm = account.client("ssm")
    for version, verdict in (("5", "problem"), ("21", "ok")):
        ssm.put_parameter(
            Name=preflight.BOOTSTRAP_VERSION_PARAMETER, Value=version, Type="String", Overwrite=True
        )
        assert verdicts(preflight.check_bootstrap(account)) == [verdict]


def test_addresses_at_example_domains_are_problems() -> None:
    """Guards against alarms that go off for a mailbox that does not exist."""
    found = list(preflight.check_addresses(RecordedAccount(load("prod"))))
    assert [(finding.verdict, finding.subject) for finding in found] == [
        ("problem", "alarms.email"),
        ("problem", "budget.email"),
    ]
    assert found[0].next_step == "write your own address into environments/prod.toml"


@pytest.mark.parametrize(
    ("email", "verdict"),
    [
        ("oncall@ops.EXAMPLE.com", "problem"),
        ("oncall@mail.test", "problem"),
        ("oncall@myexample.com", "ok"),
        (None, "ok"),
    ],
)
def test_an_address_is_a_placeholder_by_its_domain(email: str | None, verdict: str) -> None:
    settings = load("dev")
    alarms = settings.alarms.model_copy(update={"email": email})
    changed = settings.model_copy(update={"alarms": alarms})
    (finding,) = preflight.check_addresses(RecordedAccount(changed))
    assert finding.verdict == verdict


def stack(status: str, name: str = "voice-staging-agent") -> dict[str, object]:
    now = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)
    return {"StackName": name, "CreationTime": now, "StackStatus": status}


def event(logical_id: str, status: str, reason: str, number: int) -> dict[str, object]:
    stack_id = "arn:aws:cloudformation:us-east-1:111122223333:stack/voice-staging-agent/1"
    is_the_stack = logical_id == "voice-staging-agent"
    return {
        "StackId": stack_id,
        "EventId": str(number),
        "StackName": "voice-staging-agent",
        "LogicalResourceId": logical_id,
        "PhysicalResourceId": stack_id if is_the_stack else logical_id,
        "Timestamp": dt.datetime(2026, 11, 30, 12, number, tzinfo=dt.UTC),
        "ResourceStatus": status,
        "ResourceStatusReason": reason,
    }


def test_a_stuck_stack_is_reported_with_its_first_cause(account: RecordedAccount) -> None:
    """The last event says that the stack failed, the cancelled ones nothing: the cause is the first
    failure of the last attempt. And a rate limit on a service-linked role, which AgentCore calls
    `ServiceLimitExceeded`, is waited for: there is no quota to raise."""
    cloudformation = "cloudformation"
    for name in ("images", "network", "observability", "speech"):
        message = f"Stack with id voice-staging-{name} does not exist"
        account.fail(cloudformation, "describe_stacks", "ValidationError", message)
    account.answer(cloudformation, "describe_stacks", {"Stacks": [stack("ROLLBACK_COMPLETE")]})
    account.answer(
        cloudformation,
        "describe_stack_events",
        {
            "StackEvents": [
                event("voice-staging-agent", "ROLLBACK_COMPLETE", "", 6),
                event("Live", "CREATE_FAILED", "Resource creation cancelled", 5),
                event("Runtime", "CREATE_FAILED", RATE_LIMIT, 4),
                event("voice-staging-agent", "CREATE_IN_PROGRESS", "User Initiated", 3),
                event("Role", "CREATE_FAILED", "an earlier attempt", 2),
            ]
        },
    )
    (finding,) = preflight.check_stacks(account)
    account.all_asked()
    assert finding.verdict == "problem"
    assert finding.detail.startswith("is ROLLBACK_COMPLETE: Runtime: ")
    assert "deploy again" in finding.next_step
    assert "no quota" in finding.next_step
    assert "destroy -c env=staging staging-Agent" in finding.next_step


def test_a_stack_at_work_is_waited_for(account: RecordedAccount) -> None:
    for _ in range(5):
        account.answer("cloudformation", "describe_stacks", {"Stacks": [stack("UPDATE_COMPLETE")]})
    assert verdicts(preflight.check_stacks(account)) == ["ok"]
    for status in ("UPDATE_IN_PROGRESS", *["UPDATE_COMPLETE"] * 4):
        account.answer("cloudformation", "describe_stacks", {"Stacks": [stack(status)]})
    (finding,) = preflight.check_stacks(account)
    assert (finding.verdict, finding.next_step) == (
        "problem",
        "wait until the operation has ended",
    )


def test_a_stack_that_was_never_created_is_not_waited_for(account: RecordedAccount) -> None:
    """It stays in review until the next deploy, which the check would forbid."""
    for status in ("REVIEW_IN_PROGRESS", *["CREATE_COMPLETE"] * 4):
        account.answer("cloudformation", "describe_stacks", {"Stacks": [stack(status)]})
    assert verdicts(preflight.check_stacks(account)) == ["ok"]


def test_a_log_that_outlived_its_stack_is_in_the_way(account: RecordedAccount) -> None:
    """A stable environment keeps it; found out in CloudFormation, the images were built first."""
    logs = account.client("logs")
    logs.create_log_group(logGroupName="/aws/sagemaker/Endpoints/kokoro-staging-2")
    assert verdicts(preflight.check_names(account)) == ["ok"]
    logs.create_log_group(logGroupName="/aws/sagemaker/Endpoints/kokoro-staging")
    (finding,) = preflight.check_names(account)
    assert finding.verdict == "problem"
    assert finding.next_step == "python -m ops orphans --env staging"
    account.client("cloudformation").create_stack(
        StackName="voice-staging-speech", TemplateBody=json.dumps(BUCKET)
    )
    assert verdicts(preflight.check_names(account)) == ["ok"]


def test_an_alarm_that_rings_is_reported_before_the_rollout(account: RecordedAccount) -> None:
    """SageMaker counts the old instances, too: it would roll back the fix as well."""
    assert verdicts(preflight.check_alarms(account)) == ["ok"]
    cloudwatch = account.client("cloudwatch")
    names = ("Errors", "FirstAudio", "ScaleIn")
    for name in (*names, "SomebodyElses"):
        cloudwatch.put_metric_alarm(
            AlarmName=name,
            MetricName=name,
            Namespace="VoiceAgent",
            ComparisonOperator="GreaterThanThreshold",
            EvaluationPeriods=1,
            Period=60,
            Statistic="Sum",
            Threshold=5,
        )
    ring = {"StateValue": "ALARM", "StateReason": "a test"}
    cloudwatch.set_alarm_state(AlarmName="SomebodyElses", **ring)
    resources = [
        {
            "LogicalResourceId": f"Kokoro{name}Alarm01234567",
            "PhysicalResourceId": name,
            "ResourceType": "AWS::CloudWatch::Alarm",
            "LastUpdatedTimestamp": dt.datetime(2026, 11, 30, tzinfo=dt.UTC),
            "ResourceStatus": "CREATE_COMPLETE",
        }
        for name in names
    ]
    for name, verdict in (("ScaleIn", "ok"), ("Errors", "warning")):
        cloudwatch.set_alarm_state(AlarmName=name, **ring)
        account.answer("cloudformation", "describe_stacks", {"Stacks": [stack("UPDATE_COMPLETE")]})
        found = {"StackResourceSummaries": resources}
        account.answer("cloudformation", "list_stack_resources", found)
        (finding,) = preflight.check_alarms(account)
        assert finding.verdict == verdict
    assert finding.detail.startswith("Errors in alarm")


def test_a_missing_service_linked_role_is_no_problem(account: RecordedAccount) -> None:
    """The first deploy makes it; only where that is forbidden must somebody else."""
    findings = list(preflight.check_roles(account))
    assert verdicts(iter(findings)) == ["warning", "warning"]
    assert "deploy again" in findings[0].detail
    assert "aws iam create-service-linked-role" in findings[0].next_step


def test_service_linked_roles_that_exist_are_found(account: RecordedAccount) -> None:
    for name, _ in (preflight.SCALING_ROLE, preflight.IDENTITY_ROLE):
        account.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument="{}")
    assert verdicts(preflight.check_roles(account)) == ["ok", "ok"]


def test_another_accounts_credentials_are_a_problem(account: RecordedAccount) -> None:
    assert verdicts(preflight.check_identity(account)) == ["ok"]
    account.settings = account.settings.model_copy(update={"account": "444455556666"})
    assert verdicts(preflight.check_identity(account)) == ["problem"]


def test_a_region_without_agentcore_is_a_problem(account: RecordedAccount) -> None:
    assert verdicts(preflight.check_region(account)) == ["ok"]
    account.region = "af-south-1"
    assert verdicts(preflight.check_region(account)) == ["problem"]


@pytest.mark.parametrize(
    ("code", "message", "detail", "step"),
    [
        (
            "AccessDeniedException",
            "User: arn:aws:iam::111122223333:user/dev is not authorized to perform: "
            "servicequotas:ListServiceQuotas",
            "no permission to check",
            "permission servicequotas:ListServiceQuotas",
        ),
        ("TooManyRequestsException", "Rate exceeded", "could not be checked", "wait a minute"),
    ],
)
def test_what_cannot_be_looked_at_is_a_warning_and_the_rest_goes_on(
    account: RecordedAccount,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    message: str,
    detail: str,
    step: str,
) -> None:
    """A role that deploys need not read quotas: one refusal must neither hide the other checks nor
    fail the pipeline."""
    account.fail("service-quotas", "list_service_quotas", code, message)
    for name in ("check_builds", "check_agentcore", "check_model"):
        monkeypatch.setattr(preflight, name, lambda _: iter(()))
    findings = list(preflight.preflight(account))
    (instances,) = [finding for finding in findings if finding.subject == "instances"]
    assert instances.verdict == "warning"
    assert instances.detail.startswith(detail)
    assert step in instances.next_step
    assert findings[-1].subject == preflight.IDENTITY_ROLE[0]


def test_expired_credentials_fail_the_command(account: RecordedAccount) -> None:
    """As warnings, one a check, they would let the pipeline go on to the deploy."""
    account.fail("sts", "get_caller_identity", "ExpiredToken", "The security token is expired")
    with pytest.raises(OpsError, match="aws sso login"):
        list(preflight.preflight(account))
