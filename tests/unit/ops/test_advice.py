"""Advice: each failure that AWS reports comes with what to do about it."""

import pytest

from ops.advice import next_step

RATE_LIMIT = (
    'Resource handler returned message: "Limit exceeded for resource of type '
    "'AWS::BedrockAgentCore::Runtime'. Reason: Failed creating service linked role. Rate limit "
    'exceeded from IAM (Service: BedrockAgentCoreControl, Status Code: 402)" '
    "(HandlerErrorCode: ServiceLimitExceeded)"
)


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
            "permission iam:GetRole",
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
