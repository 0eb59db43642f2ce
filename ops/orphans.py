"""`orphans`: lists and deletes what an environment left behind after `cdk destroy`.

A resource certainly belongs to the environment, and may be deleted, if one of these holds:

- CloudFormation says so, either by the tag `aws:cloudformation:stack-name`, which only
  CloudFormation can set, or by its record of the resources of a deleted stack, which it keeps for
  90 days.
- AWS named the resource after the environment's endpoint or runtime. These names are unique in an
  account and Region.

The tag `environment` alone proves nothing, because other systems in the account may have a `dev`
environment as well. A resource is not an orphan while the stack it belongs to exists.
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
    """A resource that was left behind.

    Attributes:
        kind: The kind of resource.
        name: The name of the resource.
        why: How the resource is known to belong to the environment.
        service: The service whose client deletes the resource; empty if only AWS can delete it.
        operation: The operation that deletes the resource; empty if only AWS can delete it.
        arguments: The arguments of the operation.
    """

    kind: str
    name: str
    why: str
    service: str = ""
    operation: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


def sources(account: Account) -> list[tuple[str, Iterator[Orphan]]]:
    """Return the sources of orphans, each with a description.

    One resource may be found in two sources.

    Raises:
        ClientError, BotoCoreError: It is unknown which resources are in use, so that nothing may be
            deleted.
    """
    dead = [stack for stack in names.STACKS if account.stack(account.stack_name(stack)) is None]
    # An endpoint or runtime without a stack may be in use, and then so are its logs.
    speech_is_gone = "speech" in dead and not has_endpoint(account)
    agent_is_gone = "agent" in dead and account.runtime() is None
    found = [
        ("the logs of builds and functions", _recorded_log_groups(account)),
        ("the resources that a stack retained", _tagged(account, dead)),
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
        yield _log_group(name, "log of the environment's endpoint")


def _runtime_logs(account: Account) -> Iterator[Orphan]:
    for name in _log_groups(account, names.RUNTIME_LOGS):
        if is_runtime_log(account.settings, name):
            yield _log_group(name, "log of the environment's runtime")


def _log_groups(account: Account, prefix: str) -> Iterator[str]:
    path = "logGroups[].logGroupName"
    return account.search("logs", "describe_log_groups", path, logGroupNamePrefix=prefix)


def _log_group(name: str, why: str) -> Orphan:
    arguments = {"logGroupName": name}
    return Orphan("log group", name, why, "logs", "delete_log_group", arguments)


def has_endpoint(account: Account) -> bool:
    """Return whether an endpoint with the environment's name exists, in a stack or not."""
    name = account.settings.endpoint_name
    path = "Endpoints[].EndpointName"
    return name in account.search("sagemaker", "list_endpoints", path, NameContains=name)


def is_runtime_log(settings: Settings, name: str) -> bool:
    """Return whether a log group belongs to an endpoint of the environment's runtime.

    AgentCore composes the id of a runtime of its name, which contains no hyphen, a hyphen and ten
    characters. Therefore `dev` does not match the log groups of `dev-2`.
    """
    runtime_id = rf"{re.escape(settings.runtime_name)}-[A-Za-z0-9]{{10}}"
    return bool(re.fullmatch(rf"{names.RUNTIME_LOGS}{runtime_id}-[A-Za-z][A-Za-z0-9_]*", name))


def _recorded_log_groups(account: Account) -> Iterator[Orphan]:
    """Yield the logs of the builds and functions in the environment's deleted stacks.

    CloudFormation chose the names at random, so no existing stack uses them. It lists the resources
    of a deleted stack for 90 days (CloudFormation API reference, ListStackResources).
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
                yield _log_group(prefix + name, f"log of a resource of {stack['StackName']}")


def has_log_group(account: Account, name: str) -> bool:
    """Return whether a log group of that name exists."""
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
            "for the environment's endpoint",
            "application-autoscaling",
            "deregister_scalable_target",
            target,
        )


def _tagged(account: Account, dead: list[str]) -> Iterator[Orphan]:
    """Yield the resources that a removal policy, or the deletion of a stack, retained."""
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
    """Return the orphan with an ARN, and the call that deletes it if one is known."""
    _, _, service, _, _, rest = arn.split(":", 5)
    kind, _, name = rest.replace(":", "/", 1).partition("/")
    name = name.removesuffix(":*")  # the ARN of a log group ends with it
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
    """Yield the network interfaces that AgentCore still keeps in the environment's VPC."""
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
            "AgentCore releases it within 8 hours; until then the network stack cannot be "
            "destroyed",
        )


def clear(account: Account, *, delete: bool) -> int:
    """Print what is left, and delete what can be deleted.

    Args:
        account: The account of the environment.
        delete: Whether to delete what can be deleted.

    Returns:
        The exit code: 1 if something is left that a call could delete, or if a source could not be
        read.
    """
    left = 0
    found: set[tuple[str, str]] = set()
    for description, orphans in sources(account):
        try:
            for orphan in orphans:
                # A log group may be found both by its name and by its tag.
                if (key := (orphan.operation, orphan.name)) not in found:
                    found.add(key)
                    outcome, is_left = _handle(account, orphan, delete)
                    print(f"{orphan.kind} {orphan.name} ({orphan.why}){outcome}", flush=True)
                    left += is_left
        except AWS_ERRORS as error:
            left += 1
            print(f"{description}: could not be listed: {summary(error)}", flush=True)
    if not found and not left:
        print(f"nothing of {account.settings.name} is left in {account.region}")
    elif left and not delete:
        print("run the command again with --delete to delete what can be deleted")
    return 1 if left else 0


def _handle(account: Account, orphan: Orphan, delete: bool) -> tuple[str, bool]:
    """Delete an orphan on request; return the outcome, and whether a call could still delete it."""
    if not orphan.operation:
        return " – not deleted by this command", False
    if not delete:
        return "", True
    try:
        getattr(account.client(orphan.service), orphan.operation)(**orphan.arguments)
    except AWS_ERRORS as error:
        # The tagging API lists resources for a while after they are deleted.
        if error_code(error) in GONE or "Could not find" in str(error):
            return " – already deleted", False
        return f" – {summary(error)}", True
    return " – deleted", False
