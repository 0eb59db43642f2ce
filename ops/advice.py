"""Advice on the failures that AWS reports in words."""

import re

_ADVICE = (
    # The first match applies, so the order matters. AgentCore reports IAM's rate limit on a
    # service-linked role as `ServiceLimitExceeded`, which reads like a quota but is not one
    # (aws-samples/sample-autonomous-cloud-coding-agents#875).
    (
        r"service.linked role.*rate|rate.*service.linked role",
        "wait a few minutes and deploy again: IAM limits how fast service-linked roles are "
        "created; no quota needs to be raised",
    ),
    (
        r"service.linked role|CreateServiceLinkedRole",
        "give the deploying role iam:CreateServiceLinkedRole, or have an administrator create the "
        "role once; then deploy again",
    ),
    (
        r"Throttl|TooManyRequests|Rate exceeded|RequestLimitExceeded",
        "wait a minute and run this again: AWS limits the rate of calls",
    ),
    (
        r"ExpiredToken|InvalidClientTokenId|UnrecognizedClient|RequestExpired|security token|"
        r"The SSO session|SSO Token|token from sso",
        "renew the credentials (`aws sso login`)",
    ),
    (
        r"not authorized to perform: (?P<action>[\w-]+:\w+)",
        "give the caller the permission {action}",
    ),
    (r"AccessDenied|UnauthorizedOperation", "give the caller the permission for this call"),
    (
        r"ResourceLimitExceeded|account-level service limit|LimitExceeded|ServiceQuota",
        "request a higher quota in Service Quotas; `python -m ops preflight` names the quota",
    ),
    (
        r"Unable to provision requested ML compute capacity|InsufficientInstanceCapacity",
        "AWS has no free instance of this type in the zone: deploy again later, or use another "
        "instance type",
    ),
    (
        r"did not pass the ping health check|failed to pass.*health check|CannotStartContainer",
        "read the container's log, /aws/sagemaker/Endpoints/<endpoint name>; a GPU image needs an "
        "inference AMI with the same CUDA major version",
    ),
    (
        r"exec format error",
        "build the agent's image for linux/arm64, the only platform that AgentCore runs",
    ),
    (
        r"rejected WebSocket connection: HTTP 403",
        "give the caller the permission bedrock-agentcore:InvokeAgentRuntimeWithWebSocketStream",
    ),
    (
        r"RetryableConflict|rejected WebSocket connection: HTTP 409",
        "run this again: the session's microVM was still processing another request",
    ),
    (
        r"already exists",
        "a resource of that name is left over: `python -m ops orphans` lists the environment's "
        "left-overs",
    ),
    (
        r"model identifier is invalid|model access|use case details",
        "run `python -m ops preflight`, which checks the access to the model",
    ),
)


def next_step(reason: str) -> str:
    """Return what to do about a failure, or an empty text if the reason itself is all there is.

    Args:
        reason: The `ResourceStatusReason` of a stack event, the `FailureReason` of an endpoint, or
            the message of an error.
    """
    for pattern, advice in _ADVICE:
        if match := re.search(pattern, reason, re.IGNORECASE | re.DOTALL):
            return advice.format(**match.groupdict())
    return ""
