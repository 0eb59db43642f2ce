"""What to do about the failures AWS reports in words."""

import re

_ADVICE = (
    # The order matters: the first that matches. AgentCore reports IAM's rate limit on a
    # service-linked role as `ServiceLimitExceeded`, which reads like a quota and is none
    # (aws-samples/sample-autonomous-cloud-coding-agents#875).
    (
        r"service.linked role.*rate|rate.*service.linked role",
        "wait a few minutes and deploy again: IAM limits how fast service-linked roles are made; "
        "no quota needs to be raised",
    ),
    (
        r"service.linked role|CreateServiceLinkedRole",
        "give the deploying role iam:CreateServiceLinkedRole, or have an administrator create the "
        "role once; then deploy again",
    ),
    (
        r"Throttl|TooManyRequests|Rate exceeded|RequestLimitExceeded",
        "wait a minute and run this again: AWS limits how fast it is called",
    ),
    (
        r"ExpiredToken|InvalidClientTokenId|UnrecognizedClient|RequestExpired|security token|"
        r"The SSO session|SSO Token|token from sso",
        "renew the credentials (`aws sso login`)",
    ),
    (
        r"not authorized to perform: (?P<action>[\w-]+:\w+)",
        "allow {action} for who runs this",
    ),
    (r"AccessDenied|UnauthorizedOperation", "allow this call for who runs it"),
    (
        r"ResourceLimitExceeded|account-level service limit|LimitExceeded|ServiceQuota",
        "request more in Service Quotas; `python -m ops preflight` names the quota",
    ),
    (
        r"Unable to provision requested ML compute capacity|InsufficientInstanceCapacity",
        "the zone has no such instance free: deploy again later, or use another instance type",
    ),
    (
        r"did not pass the ping health check|failed to pass.*health check|CannotStartContainer",
        "read the container's log, /aws/sagemaker/Endpoints/ and the endpoint's name; a GPU image "
        "needs the inference AMI with its CUDA major",
    ),
    (
        r"exec format error",
        "AgentCore runs linux/arm64 only: build the agent's image for that platform",
    ),
    (
        r"rejected WebSocket connection: HTTP 403",
        "allow bedrock-agentcore:InvokeAgentRuntimeWithWebSocketStream for who runs this",
    ),
    (
        r"RetryableConflict|rejected WebSocket connection: HTTP 409",
        "run this again: the session's microVM was still at work on another request",
    ),
    (
        r"already exists",
        "something by that name is left over: `python -m ops orphans` lists what is the "
        "environment's",
    ),
    (
        r"model identifier is invalid|model access|use case details",
        "see `python -m ops preflight` for the model's access",
    ),
)


def next_step(reason: str) -> str:
    """What to do about a failure, empty if nothing better is known than the reason itself.

    Args:
        reason: A stack event's `ResourceStatusReason`, an endpoint's `FailureReason` or an
            error's message.
    """
    for pattern, advice in _ADVICE:
        if match := re.search(pattern, reason, re.IGNORECASE | re.DOTALL):
            return advice.format(**match.groupdict())
    return ""
