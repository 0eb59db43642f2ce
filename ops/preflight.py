"""`preflight`: checks whether a deploy can succeed, before it takes an hour to fail.

CDK developer guide, "Bootstrapping"; AgentCore developer guide, "Service-linked roles";
Application Auto Scaling user guide, "SageMaker AI".
"""

from collections.abc import Callable, Iterable, Iterator

from ops.advice import next_step
from ops.aws import AWS_ERRORS, Account, OpsError, explain, is_denied
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
"""The version that the CDK's default synthesizer requires for a stack with assets."""

SCALING_ROLE = (names.SCALING_ROLE, names.SCALING_SERVICE)
IDENTITY_ROLE = (
    "AWSServiceRoleForBedrockAgentCoreRuntimeIdentity",
    "runtime-identity.bedrock-agentcore.amazonaws.com",
)
NETWORK_ROLE = (
    "AWSServiceRoleForBedrockAgentCoreNetwork",
    "network.bedrock-agentcore.amazonaws.com",
)

PLACEHOLDER_DOMAINS = ("example", "example.com", "example.net", "example.org", "invalid", "test")
"""Domains that receive no mail (RFC 2606), also as the parent of another domain."""

STUCK = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
"""The states in which a stack can only be deleted."""


def preflight(account: Account) -> Iterator[Finding]:
    """Check everything that a deploy of the environment needs; yield each finding at once.

    Raises:
        OpsError: There are no valid credentials, so nothing can be checked.
    """
    checks: tuple[tuple[str, Callable[[Account], Iterable[Finding]]], ...] = (
        ("credentials", check_identity),
        ("Region", check_region),
        ("addresses", check_addresses),
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
            if check is check_identity:  # it needs no permission, so nothing else would work
                raise OpsError(*explain(error)) from error
            detail, step = explain(error)
            why = "no permission to check" if is_denied(error) else "could not be checked"
            yield Finding("warning", subject, f"{why}: {detail}", step)


def check_identity(account: Account) -> Iterator[Finding]:
    """Check whether the credentials belong to the environment's account."""
    identity = account.client("sts").get_caller_identity()
    found, wanted = identity["Account"], account.settings.account
    if wanted not in (None, found):
        detail = f"belong to account {found}, but the environment is in {wanted}"
        yield Finding("problem", "credentials", detail, f"use a profile of account {wanted}")
    else:
        yield Finding("ok", "credentials", f"{identity['Arn']} in {account.region}")


def check_region(account: Account) -> Iterator[Finding]:
    """Check whether AgentCore exists in the Region."""
    if account.region in AGENTCORE_REGIONS:
        yield Finding("ok", "Region", f"{account.region} has AgentCore")
    else:
        detail = f"{account.region} is not known to have AgentCore"
        step = f"use one of {', '.join(AGENTCORE_REGIONS)}"
        yield Finding("problem", "Region", detail, step)


def check_addresses(account: Account) -> Iterator[Finding]:
    """Check whether the addresses that are notified can receive mail."""
    settings = account.settings
    addresses = {
        "alarms.email": settings.alarms.email,
        "budget.email": settings.budget.email if settings.budget else None,
    }
    placeholders = [
        (key, email)
        for key, email in addresses.items()
        if email and f".{_domain(email)}".endswith(tuple(f".{d}" for d in PLACEHOLDER_DOMAINS))
    ]
    for key, email in placeholders:
        detail = f"{email} is a placeholder, so nobody would be notified"
        step = f"write your own address into environments/{settings.name}.toml"
        yield Finding("problem", key, detail, step)
    if not placeholders:
        given = [email for email in addresses.values() if email]
        detail = ", ".join(dict.fromkeys(given)) or "none: nobody is notified"
        yield Finding("ok", "addresses", detail)


def _domain(email: str) -> str:
    return email.rpartition("@")[2].lower()


def check_bootstrap(account: Account) -> Iterator[Finding]:
    """Check whether the account and Region are bootstrapped for the CDK."""
    step = f'make cdk ARGS="bootstrap -c env={account.settings.name}"'
    stack = account.stack(BOOTSTRAP_STACK)
    if stack is None:
        detail = f"there is no stack {BOOTSTRAP_STACK} in {account.region}"
        yield Finding("problem", "bootstrap", detail, step)
        return
    # After an update that was rolled back, the previous version is in service.
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
    """Check whether an earlier deploy left a stack in a state that blocks the next deploy."""
    blocked = [finding for stack in names.STACKS for finding in _check_stack(account, stack)]
    yield from blocked or [Finding("ok", "stacks", "no stack is stuck")]


def _check_stack(account: Account, stack: str) -> Iterator[Finding]:
    name = account.stack_name(stack)
    described = account.stack(name)
    status = described["StackStatus"] if described else ""
    if status in STUCK:
        reason = account.first_failure(name)
        step = next_step(reason) or "fix the cause"
        detail = f"is {status}: {reason or 'no event says why'}"
        yield Finding(
            "problem", name, detail, f"first {account.cdk('destroy', stack)}; then {step}"
        )
    elif status == "UPDATE_ROLLBACK_FAILED":
        step = f"aws cloudformation continue-update-rollback --stack-name {name}"
        detail = f"is {status}: {account.first_failure(name) or 'no event says why'}"
        yield Finding("problem", name, detail, step)
    # REVIEW_IN_PROGRESS: the first change set failed; the next deploy creates the stack.
    elif status.endswith("_IN_PROGRESS") and status != "REVIEW_IN_PROGRESS":
        yield Finding("problem", name, f"is {status}", "wait until the operation has ended")


def check_names(account: Account) -> Iterator[Finding]:
    """Check whether a resource outside the stacks has a name that the speech stack needs."""
    name = account.settings.endpoint_name
    log = names.endpoint_log_group(name)
    left = []
    if account.stack(account.stack_name("speech")) is None:
        left += [f"endpoint {name}"] if has_endpoint(account) else []
        left += [f"log group {log}"] if has_log_group(account, log) else []
    if left:
        detail = f"{' and '.join(left)} already exists, so the speech stack cannot be created"
        step = f"python -m ops orphans --env {account.settings.name}"
        yield Finding("problem", "left-overs", detail, step)
    else:
        yield Finding("ok", "left-overs", "all names are free")


def check_alarms(account: Account) -> Iterator[Finding]:
    """Check whether an alarm that rolls a rollout back is in alarm already.

    This is a warning only, because deploying other thresholds is what makes the next rollout
    possible.
    """
    alarms = account.physical_ids("speech", "AWS::CloudWatch::Alarm")
    # The scale-in alarm is excluded: it goes off every quiet night.
    watched = {alarm.metric for alarm in SPEECH_ALARMS}
    path = "MetricAlarms[?StateValue=='ALARM'].MetricName"
    # Without names, CloudWatch describes every alarm of the account.
    found = account.search("cloudwatch", "describe_alarms", path, AlarmNames=alarms)
    in_alarm = [metric for metric in found if metric in watched] if alarms else []
    if in_alarm:
        detail = f"{', '.join(in_alarm)} in alarm: SageMaker would roll back every rollout"
        step = "raise the threshold first: docs/operations.md, “Roll back”"
        yield Finding("warning", "alarms", detail, step)
    else:
        yield Finding("ok", "alarms", "no alarm would roll back a rollout")


def check_roles(account: Account) -> Iterator[Finding]:
    """Check whether the service-linked roles exist; the first deploy creates the missing ones."""
    roles = [SCALING_ROLE, IDENTITY_ROLE]
    if account.settings.agent.network == "vpc":
        roles.append(NETWORK_ROLE)
    iam = account.client("iam")
    for role, service in roles:
        try:
            iam.get_role(RoleName=role)
        except iam.exceptions.NoSuchEntityException:
            detail = (
                "does not exist yet; the first deploy creates it, and needs "
                "iam:CreateServiceLinkedRole. If AWS reports a rate limit, deploy again"
            )
            step = f"aws iam create-service-linked-role --aws-service-name {service}"
            yield Finding("warning", role, detail, step)
        else:
            yield Finding("ok", role, "exists")
