"""`orphans`: what an environment has left behind after `cdk destroy`.

Something is the environment's own, and may be deleted, if

- CloudFormation says so: its tag `aws:cloudformation:stack-name`, which nobody else can set, or its
  record of a deleted stack's resources, which it keeps for 90 days; or
- AWS named it after the environment's endpoint or runtime, names that exist once in an account and
  Region.

The tag `environment` alone is no proof: other systems in the account may have a `dev`, too.
Nothing is an orphan while the stack it belongs to exists.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ops.aws import AWS_ERRORS, Account, error_code, summary
from stacks import names
from stacks.settings import Settings

STACK_TAG = "aws:cloudformation:stack-name"
LOG_GROUP_PREFIXES = {
    "AWS::CodeBuild::Project": "/aws/codebuild/",
    "AWS::Lambda::Function": "/aws/lambda/",
}
GONE = (
    "ResourceNotFoundException",
    "RepositoryNotFoundException",
    "ObjectNotFoundException",
    "ResourceNotFound",
)


@dataclass(frozen=True)
class Orphan:
    """Something left behind.

    Attributes:
        kind: What it is.
        name: What AWS calls it.
        why: How it is known to be the environment's.
        service, operation, arguments: The call that deletes it; empty if only AWS itself can.
    """

    kind: str
    name: str
    why: str
    service: str = ""
    operation: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


def sources(account: Account) -> list[tuple[str, Iterator[Orphan]]]:
    """What to look for, by its name, and where; something may be found in two of them.

    Raises:
        ClientError, BotoCoreError: What is alive cannot be asked, so that nothing may be deleted.
    """
    dead = [stack for stack in names.STACKS if account.stack(account.stack_name(stack)) is None]
    # Left behind or somebody else's: while they are there, what belongs to them is in use.
    speech_is_gone = "speech" in dead and not has_endpoint(account)
    agent_is_gone = "agent" in dead and account.runtime() is None
    found = [
        ("logs of builds and functions", _recorded_log_groups(account)),
        ("what a stack kept", _tagged(account, dead)),
    ]
    if speech_is_gone:
        found.append(("the endpoint's log", _endpoint_log(account)))
        found.append(("scaling", _scaling(account)))
    if agent_is_gone:
        found.append(("the runtime's logs", _runtime_logs(account)))
        found.append(("network interfaces", _interfaces(account)))
    return found


def _endpoint_log(account: Account) -> Iterator[Orphan]:
    name = names.endpoint_log_group(account.settings.endpoint_name)
    if has_log_group(account, name):
        yield _log_group(name, "of the environment's endpoint")


def _runtime_logs(account: Account) -> Iterator[Orphan]:
    for name in _log_groups(account, names.RUNTIME_LOGS):
        if is_runtime_log(account.settings, name):
            yield _log_group(name, "of the environment's runtime")


def _log_groups(account: Account, prefix: str) -> Iterator[str]:
    path = "logGroups[].logGroupName"
    return account.search("logs", "describe_log_groups", path, logGroupNamePrefix=prefix)


def _log_group(name: str, why: str) -> Orphan:
    arguments = {"logGroupName": name}
    return Orphan("log group", name, why, "logs", "delete_log_group", arguments)


def has_endpoint(account: Account) -> bool:
    """Whether an endpoint has the name of the environment's, its stack's or not."""
    name = account.settings.endpoint_name
    path = "Endpoints[].EndpointName"
    return name in account.search("sagemaker", "list_endpoints", path, NameContains=name)


def is_runtime_log(settings: Settings, name: str) -> bool:
    """Whether a log group is of the environment's runtime, of which each endpoint has one.

    AgentCore composes a runtime's id of its name, in which there are no hyphens, a hyphen and ten
    characters; so `dev` does not take what belongs to `dev-2`.
    """
    runtime_id = rf"{re.escape(settings.runtime_name)}-[A-Za-z0-9]{{10}}"
    return bool(re.fullmatch(rf"{names.RUNTIME_LOGS}{runtime_id}-[A-Za-z][A-Za-z0-9_]*", name))


def _recorded_log_groups(account: Account) -> Iterator[Orphan]:
    """Logs of the builds and functions that deleted stacks of the environment had.

    CloudFormation chose their names at random, so that no living stack has the same, and lists
    them for 90 days (CloudFormation API reference, ListStackResources).
    """
    stacks = {account.stack_name(stack) for stack in names.STACKS}
    for stack in account.search(
        "cloudformation",
        "list_stacks",
        "StackSummaries[]",
        StackStatusFilter=["DELETE_COMPLETE"],
    ):
        if stack["StackName"] not in stacks:
            continue
        for resource in account.search(
            "cloudformation",
            "list_stack_resources",
            "StackResourceSummaries[]",
            StackName=stack["StackId"],
        ):
            prefix = LOG_GROUP_PREFIXES.get(resource["ResourceType"])
            name = resource.get("PhysicalResourceId")
            if prefix and name and has_log_group(account, prefix + name):
                yield _log_group(prefix + name, f"of a resource of {stack['StackName']}")


def has_log_group(account: Account, name: str) -> bool:
    """Whether there is a log group of that name."""
    return name in _log_groups(account, name)


def _scaling(account: Account) -> Iterator[Orphan]:
    resource = names.scalable_resource(account.settings.endpoint_name)
    target = {
        "ServiceNamespace": "sagemaker",
        "ResourceId": resource,
        "ScalableDimension": names.SCALABLE_DIMENSION,
    }
    found = account.client("application-autoscaling").describe_scalable_targets(
        ServiceNamespace="sagemaker", ResourceIds=[resource]
    )
    if found["ScalableTargets"]:
        yield Orphan(
            "scalable target",
            resource,
            "names the environment's endpoint",
            "application-autoscaling",
            "deregister_scalable_target",
            target,
        )


def _tagged(account: Account, dead: list[str]) -> Iterator[Orphan]:
    """Kept by a removal policy, or by a stack that was deleted without its resources."""
    if not dead:
        return
    for resource in account.search(
        "resourcegroupstaggingapi",
        "get_resources",
        "ResourceTagMappingList[]",
        TagFilters=[{"Key": STACK_TAG, "Values": [account.stack_name(stack) for stack in dead]}],
    ):
        stack = next(tag["Value"] for tag in resource["Tags"] if tag["Key"] == STACK_TAG)
        yield with_deletion(resource["ResourceARN"], f"tagged {STACK_TAG}={stack}")


def with_deletion(arn: str, why: str) -> Orphan:
    """The orphan of that ARN, with the call that deletes it where one is known."""
    _, _, service, _, _, rest = arn.split(":", 5)
    kind, _, name = rest.replace(":", "/", 1).partition("/")
    name = name.removesuffix(":*")  # of a log group
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "sagemaker endpoint": ("delete_endpoint", {"EndpointName": name}),
        "sagemaker endpoint-config": ("delete_endpoint_config", {"EndpointConfigName": name}),
        "sagemaker model": ("delete_model", {"ModelName": name}),
        "ecr repository": ("delete_repository", {"repositoryName": name, "force": True}),
        "logs log-group": ("delete_log_group", {"logGroupName": name}),
    }
    kind = f"{service} {kind}"
    if kind not in calls:
        return Orphan(kind, arn, why)
    return Orphan(kind, name, why, service, *calls[kind])


def _interfaces(account: Account) -> Iterator[Orphan]:
    """Network interfaces that AgentCore still holds in the environment's VPC."""
    ec2 = account.client("ec2")
    of_network = {"Name": f"tag:{STACK_TAG}", "Values": [account.stack_name("network")]}
    vpcs = ec2.describe_vpcs(Filters=[of_network])["Vpcs"]
    if not vpcs:
        return
    for interface in account.search(
        "ec2",
        "describe_network_interfaces",
        "NetworkInterfaces[].NetworkInterfaceId",
        Filters=[
            {"Name": "vpc-id", "Values": [vpc["VpcId"] for vpc in vpcs]},
            # AgentCore developer guide, "Configure for VPC".
            {"Name": "interface-type", "Values": ["agentic_ai"]},
        ],
    ):
        yield Orphan(
            "network interface",
            interface,
            "AgentCore gives it back within 8 hours; until then the network stack cannot be "
            "destroyed",
        )


def clear(account: Account, *, delete: bool) -> int:
    """Print what is left, and delete what can be.

    Args:
        account: The environment's account.
        delete: Whether to delete what can be deleted.

    Returns:
        The exit code: 1 if something is left that a call could delete, or nobody could look.
    """
    left = 0
    found: set[tuple[str, str]] = set()
    for what, orphans in sources(account):
        try:
            for orphan in orphans:
                # A log group may be known both by its name and by its tag.
                if (key := (orphan.operation, orphan.name)) not in found:
                    found.add(key)
                    outcome, is_left = _handle(account, orphan, delete)
                    print(f"{orphan.kind} {orphan.name} ({orphan.why}){outcome}", flush=True)
                    left += is_left
        except AWS_ERRORS as error:
            left += 1
            print(f"{what}: not looked at: {summary(error)}", flush=True)
    if not found and not left:
        print(f"nothing of {account.settings.name} is left in {account.region}")
    elif left and not delete:
        print("--delete deletes what can be")
    return 1 if left else 0


def _handle(account: Account, orphan: Orphan, delete: bool) -> tuple[str, bool]:
    """Delete one if asked to; what to say of it, and whether a call could still delete it."""
    if not orphan.operation:
        return " – not deleted by this command", False
    if not delete:
        return "", True
    try:
        getattr(account.client(orphan.service), orphan.operation)(**orphan.arguments)
    except AWS_ERRORS as error:
        # The tagging API lists things for a while after they are gone.
        if error_code(error) in GONE or "Could not find" in str(error):
            return " – is gone", False
        return f" – {summary(error)}", True
    return " – deleted", False
