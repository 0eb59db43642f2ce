"""`preflight`: whether a deploy can succeed, before it takes an hour to fail.

CDK developer guide, "Bootstrapping"; AgentCore developer guide, "Service-linked roles";
Application Auto Scaling user guide, "SageMaker AI".
"""

from collections.abc import Callable, Iterable, Iterator

from ops.advice import next_step
from ops.aws import AWS_ERRORS, Account, OpsError, explain, is_denied, summary
from ops.findings import Finding
from ops.model_access import check_model
from ops.orphans import has_endpoint, has_log_group
from ops.quotas import check_agentcore, check_builds, check_instances
from stacks import names
from stacks.settings.alarms import SPEECH_ALARMS
from stacks.settings.regions import AGENTCORE_REGIONS

BOOTSTRAP_STACK = "CDKToolkit"
BOOTSTRAP_VERSION_PARAMETER = f"/cdk-bootstrap/{names.BOOTSTRAP_QUALIFIER}/version"
MIN_BOOTSTRAP_VERSION = 6
"""What the CDK's default synthesizer asks for when a stack has assets."""

SCALING_ROLE = (names.SCALING_ROLE, names.SCALING_SERVICE)
IDENTITY_ROLE = (
    "AWSServiceRoleForBedrockAgentCoreRuntimeIdentity",
    "runtime-identity.bedrock-agentcore.amazonaws.com",
)
NETWORK_ROLE = (
    "AWSServiceRoleForBedrockAgentCoreNetwork",
    "network.bedrock-agentcore.amazonaws.com",
)

STUCK = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
"""A stack in one of these can only be deleted."""


def preflight(account: Account) -> Iterator[Finding]:
    """Check everything a deploy of the environment needs; yields each finding when it is known.

    Raises:
        OpsError: There are no credentials, or none that are valid: nothing can be checked.
    """
    checks: tuple[tuple[str, Callable[[Account], Iterable[Finding]]], ...] = (
        ("credentials", check_identity),
        ("Region", check_region),
        ("bootstrap", check_bootstrap),
        ("stacks", check_stacks),
        ("left-overs", check_names),
        ("alarms", check_alarms),
        ("instances", check_instances),
        ("CodeBuild", check_builds),
        ("AgentCore", check_agentcore),
        ("Bedrock model", check_model),
        ("service-linked roles", check_roles),
    )
    for subject, check in checks:
        try:
            yield from check(account)
        except AWS_ERRORS as error:
            if check is check_identity:  # which needs no permission, so nothing else would work
                raise OpsError(summary(error)) from error
            detail, step = explain(error)
            why = "not allowed to look" if is_denied(error) else "could not be checked"
            yield Finding("warning", subject, f"{why}: {detail}", step)


def check_identity(account: Account) -> Iterator[Finding]:
    """Who runs this, and whether in the environment's account."""
    identity = account.client("sts").get_caller_identity()
    found, wanted = identity["Account"], account.settings.account
    if wanted not in (None, found):
        detail = f"they are of account {found}, the environment's is {wanted}"
        yield Finding("problem", "credentials", detail, "use a profile of that account")
    else:
        yield Finding("ok", "credentials", f"{identity['Arn']} in {account.region}")


def check_region(account: Account) -> Iterator[Finding]:
    """Whether AgentCore exists in the Region."""
    if account.region in AGENTCORE_REGIONS:
        yield Finding("ok", "Region", f"AgentCore runs in {account.region}")
    else:
        detail = f"AgentCore is not known to run in {account.region}"
        step = f"use one of {', '.join(AGENTCORE_REGIONS)}"
        yield Finding("problem", "Region", detail, step)


def check_bootstrap(account: Account) -> Iterator[Finding]:
    """Whether the CDK can deploy here."""
    step = f'make cdk ARGS="bootstrap -c env={account.settings.name}"'
    stack = account.stack(BOOTSTRAP_STACK)
    if stack is None:
        detail = f"there is no stack {BOOTSTRAP_STACK} in {account.region}"
        yield Finding("problem", "bootstrap", detail, step)
        return
    # A rolled back update leaves the version before it in service.
    if stack["StackStatus"] not in (
        "CREATE_COMPLETE",
        "UPDATE_COMPLETE",
        "UPDATE_ROLLBACK_COMPLETE",
    ):
        detail = f"stack {BOOTSTRAP_STACK} is {stack['StackStatus']}"
        yield Finding("problem", "bootstrap", detail, step)
        return
    parameter = account.client("ssm").get_parameter(Name=BOOTSTRAP_VERSION_PARAMETER)
    version = int(parameter["Parameter"]["Value"])
    if version < MIN_BOOTSTRAP_VERSION:
        detail = f"version {version}; {MIN_BOOTSTRAP_VERSION} or later is needed"
        yield Finding("problem", "bootstrap", detail, step)
    else:
        yield Finding("ok", "bootstrap", f"version {version}")


def check_stacks(account: Account) -> Iterator[Finding]:
    """Whether an earlier deploy left a stack in a state that blocks the next one."""
    blocked = [finding for stack in names.STACKS for finding in _check_stack(account, stack)]
    yield from blocked or [Finding("ok", "stacks", "none is stuck")]


def _check_stack(account: Account, stack: str) -> Iterator[Finding]:
    name = account.stack_name(stack)
    described = account.stack(name)
    status = described["StackStatus"] if described else ""
    if status in STUCK:
        reason = account.first_failure(name)
        step = next_step(reason) or "mend the cause"
        detail = f"is {status}: {reason or 'no event says why'}"
        yield Finding(
            "problem", name, detail, f"{step}; before that, {account.cdk('destroy', stack)}"
        )
    elif status == "UPDATE_ROLLBACK_FAILED":
        step = f"aws cloudformation continue-update-rollback --stack-name {name}"
        detail = f"is {status}: {account.first_failure(name) or 'no event says why'}"
        yield Finding("problem", name, detail, step)
    # In review is a stack whose first change set failed; the next deploy makes it.
    elif status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS":
        yield Finding("problem", name, f"is {status}", "wait until it is done")


def check_names(account: Account) -> Iterator[Finding]:
    """Whether something without a stack has a name that the speech stack needs."""
    name = account.settings.endpoint_name
    log = names.endpoint_log_group(name)
    left = []
    if account.stack(account.stack_name("speech")) is None:
        left += [f"endpoint {name}"] if has_endpoint(account) else []
        left += [f"log group {log}"] if has_log_group(account, log) else []
    if left:
        detail = f"{' and '.join(left)} would stop the speech stack: it exists already"
        step = f"python -m ops orphans --env {account.settings.name}"
        yield Finding("problem", "left-overs", detail, step)
    else:
        yield Finding("ok", "left-overs", "no name is taken")


def check_alarms(account: Account) -> Iterator[Finding]:
    """Whether an alarm that takes a rollout back rings before it: no problem where thresholds are
    all that is deployed, which is how the next rollout becomes possible.
    """
    alarms = account.physical_ids("speech", "AWS::CloudWatch::Alarm")
    # Not the one that takes instances away, which rings every quiet night.
    watched = {alarm.metric for alarm in SPEECH_ALARMS}
    path = "MetricAlarms[?StateValue=='ALARM'].MetricName"
    # Without a name all alarms of the account would be described.
    found = account.search("cloudwatch", "describe_alarms", path, AlarmNames=alarms)
    ringing = [metric for metric in found if metric in watched] if alarms else []
    if ringing:
        detail = f"{', '.join(ringing)} in alarm: a rollout would be taken back"
        step = "raise its threshold first, see docs/operations.md, “Roll back”"
        yield Finding("warning", "alarms", detail, step)
    else:
        yield Finding("ok", "alarms", "none rings that takes a rollout back")


def check_roles(account: Account) -> Iterator[Finding]:
    """Whether AWS's own roles exist; the first deploy in an account makes the missing ones."""
    roles = [SCALING_ROLE, IDENTITY_ROLE]
    if account.settings.agent.network == "vpc":
        roles.append(NETWORK_ROLE)
    iam = account.client("iam")
    for role, service in roles:
        try:
            iam.get_role(RoleName=role)
        except iam.exceptions.NoSuchEntityException:
            detail = (
                "is not there yet; the first deploy makes it, and needs "
                "iam:CreateServiceLinkedRole. Should AWS report a rate limit, deploy again"
            )
            step = f"aws iam create-service-linked-role --aws-service-name {service}"
            yield Finding("warning", role, detail, step)
        else:
            yield Finding("ok", role, "exists")
