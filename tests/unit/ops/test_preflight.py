"""`ops preflight`: what would fail a deploy is found before it, and reported with the next step."""

import datetime as dt
import json
from collections.abc import Iterator

import pytest
from moto import mock_aws

from ops import preflight, quotas
from ops.advice import next_step
from ops.aws import OpsError
from ops.findings import Finding, report
from ops.model_access import check_model, refusals
from stacks.settings import load
from tests.recorded import RecordedAccount

BUCKET = {"Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}}}


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


RATE_LIMIT = (
    'Resource handler returned message: "Limit exceeded for resource of type '
    "'AWS::BedrockAgentCore::Runtime'. Reason: Failed creating service linked role. Rate limit "
    'exceeded from IAM (Service: BedrockAgentCoreControl, Status Code: 402)" '
    "(HandlerErrorCode: ServiceLimitExceeded)"
)


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
    assert (finding.verdict, finding.next_step) == ("problem", "wait until it is done")


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
    """SageMaker counts the old instances, too: the mending rollout would be taken back."""
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


def available(**changes: object) -> dict[str, object]:
    return {
        "modelId": "amazon.nova-2-lite-v1:0",
        "agreementAvailability": {"status": "AVAILABLE"},
        "authorizationStatus": "AUTHORIZED",
        "entitlementAvailability": "AVAILABLE",
        "regionAvailability": "AVAILABLE",
    } | changes


def profile(model_id: str) -> dict[str, object]:
    now = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)
    return {
        "inferenceProfileName": "Global",
        "createdAt": now,
        "updatedAt": now,
        "inferenceProfileArn": f"arn:aws:bedrock:us-east-1::inference-profile/{model_id}",
        "models": [{"modelArn": "arn:aws:bedrock:::foundation-model/amazon.nova-2-lite-v1:0"}],
        "inferenceProfileId": model_id,
        "status": "ACTIVE",
        "type": "SYSTEM_DEFINED",
    }


def with_model(account: RecordedAccount, model_id: str) -> RecordedAccount:
    agent = account.settings.agent.model_copy(update={"model_id": model_id})
    account.settings = account.settings.model_copy(update={"agent": agent})
    return account


def test_a_profile_that_exists_may_be_used(account: RecordedAccount) -> None:
    """The profile's id is asked for as it is, the model's availability without the scope."""
    model_id = "global.amazon.nova-2-lite-v1:0"
    account.answer(
        "bedrock",
        "get_inference_profile",
        profile(model_id),
        inferenceProfileIdentifier=model_id,
    )
    account.answer(
        "bedrock",
        "get_foundation_model_availability",
        available(regionAvailability="NOT_AVAILABLE"),
        modelId="amazon.nova-2-lite-v1:0",
    )
    assert verdicts(check_model(with_model(account, model_id))) == ["ok"]
    account.all_asked()


def test_a_model_the_region_lacks_is_named(account: RecordedAccount) -> None:
    account.fail("bedrock", "get_inference_profile", "ResourceNotFoundException")
    (finding,) = check_model(account)
    assert finding.verdict == "problem"
    assert "us-east-1" in finding.detail
    assert "agent.model_id" in finding.next_step


def test_anthropic_wants_its_form_once(account: RecordedAccount) -> None:
    """Without it the first conversation fails, not the deploy."""
    model_id = "global.anthropic.claude-haiku-4-5-20251001-v1:0"
    for form in ("missing", "sent"):
        account.answer("bedrock", "get_inference_profile", profile(model_id))
        account.answer("bedrock", "get_foundation_model_availability", available())
        if form == "sent":
            answer = {"formData": b"{'companyName': 'x'}"}
            account.answer("bedrock", "get_use_case_for_model_access", answer)
        else:
            error = "ResourceNotFoundException"
            account.fail("bedrock", "get_use_case_for_model_access", error)
    account = with_model(account, model_id)
    (finding,) = check_model(account)
    assert finding.verdict == "problem"
    assert "put-use-case-for-model-access" in finding.next_step
    assert verdicts(check_model(account)) == ["ok"]


def test_a_new_account_learns_of_the_form_and_of_the_agreement(account: RecordedAccount) -> None:
    """Told of the agreement alone, its administrators look for a subscription that cannot be."""
    model_id = "global.anthropic.claude-haiku-4-5-20251001-v1:0"
    account.answer("bedrock", "get_inference_profile", profile(model_id))
    refused = available(agreementAvailability={"status": "NOT_AVAILABLE"})
    account.answer("bedrock", "get_foundation_model_availability", refused)
    account.fail("bedrock", "get_use_case_for_model_access", "ResourceNotFoundException")
    form, agreement = check_model(with_model(account, model_id))
    assert form.verdict == agreement.verdict == "problem"
    assert "put-use-case-for-model-access" in form.next_step
    assert "Marketplace" in agreement.next_step


def test_a_model_served_through_profiles_only_is_a_problem(account: RecordedAccount) -> None:
    details = {
        "modelArn": "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-2-lite-v1:0",
        "modelId": "amazon.nova-2-lite-v1:0",
        "responseStreamingSupported": True,
        "inferenceTypesSupported": [],
        "modelLifecycle": {"status": "LEGACY"},
    }
    account.answer("bedrock", "get_foundation_model", {"modelDetails": details})
    account.answer("bedrock", "get_foundation_model_availability", available())
    findings = list(check_model(with_model(account, "amazon.nova-2-lite-v1:0")))
    assert verdicts(iter(findings)) == ["problem", "warning", "ok"]
    assert "global." in findings[0].next_step


def test_each_refusal_of_a_model_is_listed() -> None:
    refused = available(
        authorizationStatus="NOT_AUTHORIZED",
        entitlementAvailability="NOT_AVAILABLE",
        agreementAvailability={"status": "PENDING"},
        regionAvailability="NOT_AVAILABLE",
    )
    assert refusals(refused, other_regions=False) == [
        "authorization is NOT_AUTHORIZED",
        "entitlement is NOT_AVAILABLE",
        "agreement is PENDING",
        "Region is NOT_AVAILABLE",
    ]
    assert len(refusals(refused, other_regions=True)) == 3


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
            "not allowed to look",
            "allow servicequotas:ListServiceQuotas",
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


def test_a_problem_fails_the_command_and_a_warning_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert report([Finding("ok", "a", "b"), Finding("warning", "c", "d", "e")]) == 0
    assert report([Finding("ok", "a", "b"), Finding("problem", "c", "d", "e")]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == ["problem  c: d", "         → e"]


@pytest.mark.parametrize(
    ("reason", "advice"),
    [
        (RATE_LIMIT, "no quota needs to be raised"),
        ("Failed creating service linked role. Please verify permissions", "CreateServiceLinked"),
        ("ResourceLimitExceeded: The account-level service limit is 0 Instances", "preflight"),
        ("ThrottlingException: Rate exceeded", "wait a minute"),
        ("ExpiredTokenException: The security token included is expired", "aws sso login"),
        ("Error when retrieving token from sso: Token has expired", "aws sso login"),
        (
            "User: arn:aws:sts::111122223333:assumed-role/AWSReservedSSO_Dev/me is not authorized "
            "to perform: iam:GetRole",
            "allow iam:GetRole",
        ),
        ("exec /usr/bin/python: exec format error", "linux/arm64"),
        ("The primary container did not pass the ping health check", "CUDA major"),
        ("Unable to provision requested ML compute capacity", "another instance type"),
        (
            "server rejected WebSocket connection: HTTP 403",
            "InvokeAgentRuntimeWithWebSocketStream",
        ),
        ("RetryableConflictException: session is busy", "run this again"),
        ("something new", ""),
    ],
)
def test_failures_are_explained_with_what_to_do(reason: str, advice: str) -> None:
    """The order of the advice matters: a throttled service-linked role mentions a limit, too."""
    assert (advice in next_step(reason)) if advice else next_step(reason) == ""
