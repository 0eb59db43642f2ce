"""`orphans`: what an environment left behind after `cdk destroy`.

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
from itertools import chain
from typing import Any

from botocore.exceptions import ClientError

from ops.aws import AWS_ERRORS, PARTS, Account, error_code, explain
from stacks.settings import Settings

STACK_TAG = "aws:cloudformation:stack-name"
VARIANT = "AllTraffic"
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
        kind: what it is.
        name: what AWS calls it.
        why: how it is known to be the environment's.
        service, operation, arguments: the call that deletes it; empty if only AWS itself can.
    """

    kind: str
    name: str
    why: str
    service: str = ""
    operation: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


def find(account: Account) -> Iterator[Orphan]:
    """Everything the environment left behind, each once.

    Raises:
        ClientError, BotoCoreError: a service cannot be asked.
    """
    living = {part for part in PARTS if account.stack(account.stack_name(part)) is not None}
    # Left behind or somebody else's: while they are there, what belongs to them is in use.
    if _has_endpoint(account):
        living.add("speech")
    if account.runtime() is not None:
        living.add("agent")
    seen = set()
    for orphan in chain(
        _log_groups(account, living),
        _scaling(account) if "speech" not in living else (),
        _tagged(account),
        _interfaces(account) if "agent" not in living else (),
    ):
        # A log group may be known both by its name and by its tag.
        if (key := (orphan.operation, orphan.name)) not in seen:
            seen.add(key)
            yield orphan


def _log_groups(account: Account, living: set[str]) -> Iterator[Orphan]:
    """Log groups that AWS makes by itself, which no stack deletes."""
    kept = {}
    if "speech" not in living:
        kept["/aws/sagemaker/Endpoints/"] = endpoint_log(account.settings)
    if "agent" not in living:
        kept["/aws/bedrock-agentcore/runtimes/"] = runtime_log(account.settings)
    recorded = _recorded_log_groups(account)
    for prefix in ("/aws/codebuild/", "/aws/lambda/"):
        names = [re.escape(name) for name in recorded if name.startswith(prefix)]
        if names:
            kept[prefix] = re.compile("|".join(names))
    for prefix, pattern in kept.items():
        for page in account.pages("logs", "describe_log_groups", logGroupNamePrefix=prefix):
            for group in page["logGroups"]:
                name = group["logGroupName"]
                if pattern.fullmatch(name):
                    yield Orphan(
                        "log group",
                        name,
                        "made by AWS for something that was the environment's",
                        "logs",
                        "delete_log_group",
                        {"logGroupName": name},
                    )


def _has_endpoint(account: Account) -> bool:
    name = account.settings.endpoint_name
    found = account.pages("sagemaker", "list_endpoints", NameContains=name)
    return any(item["EndpointName"] == name for page in found for item in page["Endpoints"])


def endpoint_log(settings: Settings) -> re.Pattern[str]:
    """The name of the endpoint's log group."""
    return re.compile(re.escape(f"/aws/sagemaker/Endpoints/{settings.endpoint_name}"))


def runtime_log(settings: Settings) -> re.Pattern[str]:
    """The names of the runtime's log groups, one for each of its endpoints.

    AgentCore makes a runtime's id of its name, in which there are no hyphens, a hyphen and ten
    characters; so `dev` does not take what belongs to `dev-2`.
    """
    return re.compile(
        rf"/aws/bedrock-agentcore/runtimes/{re.escape(settings.runtime_name)}"
        r"-[A-Za-z0-9]{10}-[A-Za-z][A-Za-z0-9_]*"
    )


def _recorded_log_groups(account: Account) -> set[str]:
    """Log groups of the builds and functions that deleted stacks of the environment had.

    CloudFormation made those names at random, so that no living stack has the same.
    """
    stacks = {account.stack_name(part) for part in PARTS}
    groups = set()
    deleted = account.pages("cloudformation", "list_stacks", StackStatusFilter=["DELETE_COMPLETE"])
    for summary in (item for page in deleted for item in page["StackSummaries"]):
        if summary["StackName"] not in stacks:
            continue
        for page in account.pages(
            "cloudformation", "list_stack_resources", StackName=summary["StackId"]
        ):
            for resource in page["StackResourceSummaries"]:
                prefix = LOG_GROUP_PREFIXES.get(resource["ResourceType"])
                if prefix and resource.get("PhysicalResourceId"):
                    groups.add(prefix + resource["PhysicalResourceId"])
    return groups


def _scaling(account: Account) -> Iterator[Orphan]:
    resource = f"endpoint/{account.settings.endpoint_name}/variant/{VARIANT}"
    target = {
        "ServiceNamespace": "sagemaker",
        "ResourceId": resource,
        "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
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


def _tagged(account: Account) -> Iterator[Orphan]:
    """Kept by a removal policy, or by a stack that was deleted without its resources."""
    stacks = [account.stack_name(part) for part in PARTS]
    dead = [name for name in stacks if account.stack(name) is None]
    if not dead:
        return
    pages = account.pages(
        "resourcegroupstaggingapi",
        "get_resources",
        TagFilters=[{"Key": STACK_TAG, "Values": dead}],
    )
    for resource in (item for page in pages for item in page["ResourceTagMappingList"]):
        arn = resource["ResourceARN"]
        stack = next(tag["Value"] for tag in resource["Tags"] if tag["Key"] == STACK_TAG)
        yield with_deletion(arn, f"tagged {STACK_TAG}={stack}")


def with_deletion(arn: str, why: str) -> Orphan:
    """The orphan of that ARN, with the call that deletes it where one is known."""
    _, _, service, _, _, rest = arn.split(":", 5)
    kind, _, name = rest.replace(":", "/", 1).partition("/")
    calls: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {
        ("sagemaker", "endpoint"): ("delete_endpoint", {"EndpointName": name}),
        ("sagemaker", "endpoint-config"): (
            "delete_endpoint_config",
            {"EndpointConfigName": name},
        ),
        ("sagemaker", "model"): ("delete_model", {"ModelName": name}),
        ("ecr", "repository"): ("delete_repository", {"repositoryName": name, "force": True}),
        ("logs", "log-group"): ("delete_log_group", {"logGroupName": name.removesuffix(":*")}),
    }
    call = calls.get((service, kind))
    if call is None:
        return Orphan(f"{service} {kind}", arn, why)
    return Orphan(f"{service} {kind}", name.removesuffix(":*"), why, service, *call)


def _interfaces(account: Account) -> Iterator[Orphan]:
    """Network interfaces that AgentCore still holds in the environment's VPC."""
    ec2 = account.client("ec2")
    network = f"voice-{account.settings.name}-network"
    vpcs = ec2.describe_vpcs(Filters=[{"Name": f"tag:{STACK_TAG}", "Values": [network]}])["Vpcs"]
    if not vpcs:
        return
    pages = account.pages(
        "ec2",
        "describe_network_interfaces",
        Filters=[
            {"Name": "vpc-id", "Values": [vpc["VpcId"] for vpc in vpcs]},
            # AgentCore developer guide, "Configure for VPC".
            {"Name": "interface-type", "Values": ["agentic_ai"]},
        ],
    )
    for interface in (item for page in pages for item in page["NetworkInterfaces"]):
        yield Orphan(
            "network interface",
            interface["NetworkInterfaceId"],
            "AgentCore gives it back within 8 hours; until then the network stack cannot be "
            "destroyed",
        )


def clear(account: Account, *, delete: bool) -> int:
    """Print what is left, and delete what can be.

    Args:
        account: the environment's.
        delete: whether to delete.

    Returns:
        The exit code: 1 if something is left that a call could delete, or nobody could look.
    """
    left = found = 0
    for orphan in find(account):
        found += 1
        outcome, is_left = "", bool(orphan.operation)
        if orphan.operation and delete:
            outcome, is_left = _delete(account, orphan)
        elif not orphan.operation:
            outcome = " – not deleted by this command"
        left += is_left
        print(f"{orphan.kind} {orphan.name} ({orphan.why}){outcome}", flush=True)
    if not found:
        print(f"nothing of {account.settings.name} is left in {account.region}")
    elif left and not delete:
        print(f"{left} can be deleted: --delete")
    return 1 if left else 0


def _delete(account: Account, orphan: Orphan) -> tuple[str, bool]:
    """Delete it; what to say, and whether it is still there."""
    try:
        getattr(account.client(orphan.service), orphan.operation)(**orphan.arguments)
    except ClientError as error:
        # The tagging API lists things for a while after they are gone.
        if error_code(error) in GONE or "Could not find" in str(error):
            return " – is gone", False
        return " – " + "; ".join(filter(None, explain(error))), True
    except AWS_ERRORS as error:
        return " – " + "; ".join(filter(None, explain(error))), True
    return " – deleted", False
