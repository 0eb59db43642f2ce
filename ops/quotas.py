"""Checks the service quotas that an environment needs.

Quotas are found by name: their codes are not documented for every instance type, and the console
and the documentation show the names.
"""

from collections.abc import Iterator

from ops.aws import Account
from ops.findings import Finding

SERVICE_CODES = {
    "SageMaker": "sagemaker",
    "CodeBuild": "codebuild",
    "AgentCore": "bedrock-agentcore",
}

BUILD_QUOTAS = {
    "speech": "Concurrently running builds for Linux/Small environment",
    "agent": "Concurrently running builds for ARM/Small environment",
}
"""The quota of the build environment of each image (CodeBuild user guide, "Quotas")."""


def check_instances(account: Account) -> Iterator[Finding]:
    """Check whether the endpoint may scale to the maximum in the settings."""
    speech = account.settings.speech
    needed = max([speech.instances.maximum, *(action.maximum for action in speech.schedule)])
    name = f"{speech.instance_type} for endpoint usage"
    yield check_quota(account, "SageMaker", name, needed, in_rollout=2 * needed)


def check_builds(account: Account) -> Iterator[Finding]:
    """Check whether CodeBuild may build the images with source `codebuild`.

    With a quota of 0 no build starts, and CloudFormation waits for hours for a notification that
    never arrives.
    """
    images = {"speech": account.settings.speech.image, "agent": account.settings.agent.image}
    for image, name in BUILD_QUOTAS.items():
        if images[image].source == "codebuild":
            yield check_quota(account, "CodeBuild", name, 1)


def check_agentcore(account: Account) -> Iterator[Finding]:
    """Check whether AgentCore responds and accepts one more runtime."""
    path = "agentRuntimes[]"
    runtimes = list(account.search("bedrock-agentcore-control", "list_agent_runtimes", path))
    ours = [r for r in runtimes if r["agentRuntimeName"] == account.settings.runtime_name]
    if ours and ours[0]["status"].endswith("_FAILED"):
        yield Finding(
            "problem",
            f"runtime {ours[0]['agentRuntimeName']}",
            f"is {ours[0]['status']}",
            account.cdk("destroy", "agent"),
        )
    # The names are rows of the table in the AgentCore developer guide, "Quotas".
    yield check_quota(account, "AgentCore", "Total agents per account", len(runtimes) + (not ours))
    yield check_quota(account, "AgentCore", "Active session workloads per account", 1)


def find(account: Account, service: str, name: str) -> float | None:
    """Return the account's quota, otherwise AWS's default, or None if there is neither.

    Raises:
        ClientError, BotoCoreError: The call to Service Quotas fails.
    """
    for operation in ("list_service_quotas", "list_aws_default_service_quotas"):
        for quota in account.search("service-quotas", operation, "Quotas[]", ServiceCode=service):
            if quota["QuotaName"].lower() == name.lower():
                return float(quota["Value"])
    return None


def check_quota(
    account: Account, service: str, name: str, needed: int, *, in_rollout: int = 0
) -> Finding:
    """Check whether a quota is high enough.

    Args:
        account: The account of the environment.
        service: The name of the service in `SERVICE_CODES`.
        name: The name of the quota.
        needed: The value below which a deploy fails.
        in_rollout: The value that a blue/green rollout at full scale needs.

    Raises:
        ClientError, BotoCoreError: The call to Service Quotas fails.
    """
    subject, code = f"{service}: {name}", SERVICE_CODES[service]
    console = f"https://{account.region}.console.aws.amazon.com/servicequotas/home"
    step = f"for {name!r}: {console}/services/{code}/quotas"
    allowed = find(account, code, name)
    if allowed is None:
        step = "look for it in the Service Quotas console"
        return Finding("warning", subject, "Service Quotas lists no quota of this name", step)
    detail = f"{allowed:.0f} allowed, {needed} needed"
    if allowed < needed:
        return Finding("problem", subject, detail, f"request {needed} {step}")
    if allowed < in_rollout:
        detail = f"{allowed:.0f} allowed; a blue/green rollout at full scale needs {in_rollout}"
        return Finding("warning", subject, detail, f"request {in_rollout} {step}")
    return Finding("ok", subject, detail)
