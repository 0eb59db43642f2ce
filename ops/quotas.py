"""Service quotas an environment needs.

Quotas are found by name: their codes are not documented for every instance type, and the names are
what the console and the documentation show.
"""

from collections.abc import Iterator

from ops.aws import Account
from ops.findings import Finding

# Service Quotas' service codes.
SAGEMAKER, CODEBUILD, AGENTCORE = "sagemaker", "codebuild", "bedrock-agentcore"
SERVICE_NAMES = {SAGEMAKER: "SageMaker", CODEBUILD: "CodeBuild", AGENTCORE: "AgentCore"}

BUILD_QUOTAS = {
    "speech": "Concurrently running builds for Linux/Small environment",
    "agent": "Concurrently running builds for ARM/Small environment",
}
"""By image (CodeBuild user guide, "Quotas"): the build environment it is built in."""


def check_instances(account: Account) -> Iterator[Finding]:
    """Whether the endpoint may have as many instances as the settings let it scale to."""
    speech = account.settings.speech
    needed = max([speech.instances.maximum, *(action.maximum for action in speech.schedule)])
    name = f"{speech.instance_type} for endpoint usage"
    allowed = find(account, SAGEMAKER, name)
    finding = compare(account, SAGEMAKER, name, allowed, needed)
    if finding.verdict == "ok" and allowed is not None and allowed < 2 * needed:
        finding = Finding(
            "warning",
            finding.subject,
            f"{allowed:.0f} allowed; a blue/green rollout at full scale runs {2 * needed}",
            _request(account, SAGEMAKER, name, 2 * needed),
        )
    yield finding


def check_builds(account: Account) -> Iterator[Finding]:
    """Whether CodeBuild may build the images that the settings leave to it.

    If it may run none, no build starts, nobody notifies CloudFormation, and it waits for hours.
    """
    images = {"speech": account.settings.speech.image, "agent": account.settings.agent.image}
    for image, name in BUILD_QUOTAS.items():
        if images[image].source == "codebuild":
            yield compare(account, CODEBUILD, name, find(account, CODEBUILD, name), 1)


def check_agentcore(account: Account) -> Iterator[Finding]:
    """Whether AgentCore answers, and takes one more runtime."""
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
    # AgentCore developer guide, "Quotas": names of the table's rows.
    for name, needed in (
        ("Total agents per account", len(runtimes) + (not ours)),
        ("Active session workloads per account", 1),
    ):
        yield compare(account, AGENTCORE, name, find(account, AGENTCORE, name), needed)


def find(account: Account, service: str, name: str) -> float | None:
    """The account's quota of that name, else AWS's default, None if there is neither.

    Raises:
        ClientError, BotoCoreError: Service Quotas cannot be asked.
    """
    for operation in ("list_service_quotas", "list_aws_default_service_quotas"):
        for quota in account.search("service-quotas", operation, "Quotas[]", ServiceCode=service):
            if quota["QuotaName"].lower() == name.lower():
                return float(quota["Value"])
    return None


def compare(
    account: Account, service: str, name: str, allowed: float | None, needed: int
) -> Finding:
    """Whether a quota suffices."""
    subject = f"{SERVICE_NAMES[service]}: {name}"
    if allowed is None:
        step = "look it up in the Service Quotas console"
        return Finding("warning", subject, "Service Quotas lists no such quota", step)
    detail = f"{allowed:.0f} allowed, {needed} needed"
    if allowed < needed:
        return Finding("problem", subject, detail, _request(account, service, name, needed))
    return Finding("ok", subject, detail)


def _request(account: Account, service: str, name: str, value: int) -> str:
    console = f"https://{account.region}.console.aws.amazon.com/servicequotas/home"
    return f"request {value} of {name!r}: {console}/services/{service}/quotas"
