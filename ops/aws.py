"""Access to the AWS account of an environment, and explanations of its errors."""

import os
from collections.abc import Iterator
from typing import Any

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConfigNotFound,
    ConfigParseError,
    ConnectionClosedError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    InvalidConfigError,
    LoginError,
    NoCredentialsError,
    PartialCredentialsError,
    ProfileNotFound,
    ProxyConnectionError,
    ReadTimeoutError,
    SSLError,
    SSOError,
    TokenRetrievalError,
)

from ops.advice import next_step
from stacks import names
from stacks.settings import Settings
from stacks.settings.regions import region_problem

# A throttled call is repeated with growing pauses before it counts as failed.
_CONFIG = Config(retries={"mode": "standard", "total_max_attempts": 6})

AWS_ERRORS = (ClientError, BotoCoreError)


class OpsError(Exception):
    """A command cannot continue.

    Args:
        message: What is wrong.
        next_step: What to do about it; empty if AWS's message is all that is known.
    """

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(with_next_step(message, next_step))


class UsageError(OpsError):
    """The arguments, or the environment variables behind them, cannot be used."""


class Account:
    """The account and Region of one environment.

    Args:
        session: A session with credentials and a Region.
        settings: The settings of the environment.
    """

    def __init__(self, session: boto3.Session, settings: Settings) -> None:
        self.session = session
        self.settings = settings
        self.region = str(session.region_name)
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """Return the boto3 client of `service`.

        Raises:
            UsageError: An environment variable or the AWS profile sets an address that is not one.
        """
        if service not in self._clients:
            try:
                self._clients[service] = self.session.client(service, config=_CONFIG)
            except ValueError as error:
                raise UsageError(
                    str(error),
                    "correct AWS_ENDPOINT_URL (or AWS_ENDPOINT_URL_<SERVICE>, or endpoint_url in "
                    "the AWS profile), or remove it",
                ) from error
        return self._clients[service]

    @property
    def botocore_session(self) -> botocore.session.Session:
        """The session for SDKs that do not accept a boto3 session."""
        return self.session._session

    def stack_name(self, stack: str) -> str:
        """Return the CloudFormation name of one of the environment's `names.STACKS`."""
        return names.stack_name(self.settings.name, stack)

    def cdk(self, command: str, stack: str | None = None) -> str:
        """Return the command line that deploys or destroys the environment or one of its stacks."""
        target = names.stack_id(self.settings.name, stack) if stack else "--all"
        return f'make cdk ARGS="{command} -c env={self.settings.name} {target}"'

    def stack(self, name: str) -> dict[str, Any] | None:
        """Return CloudFormation's description of a stack, or None if there is no such stack.

        Raises:
            ClientError, BotoCoreError: The call to CloudFormation fails.
        """
        try:
            described = self.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
        except ClientError as error:
            # CloudFormation has no specific error code for this case.
            if "does not exist" in error.response["Error"].get("Message", ""):
                return None
            raise
        return described[0] if described else None

    def first_failure(self, stack_name: str) -> str:
        """Return why the last change of a stack failed, or an empty text if no event says it.

        The earliest failure names the cause. The later ones are resources that were cancelled
        because of it.

        Raises:
            ClientError, BotoCoreError: The call to CloudFormation fails.
        """
        first = ""
        events = self.search(
            "cloudformation", "describe_stack_events", "StackEvents[]", StackName=stack_name
        )
        for event in events:  # newest first
            status, reason = event["ResourceStatus"], event.get("ResourceStatusReason", "")
            if status.endswith("_FAILED") and "cancelled" not in reason.lower():
                first = f"{event['LogicalResourceId']}: {reason}"
            is_the_stack = event.get("PhysicalResourceId") == event["StackId"]
            if is_the_stack and status in ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS"):
                break
        return first

    def physical_ids(self, stack: str, resource_type: str) -> list[str]:
        """Return the physical ids of a stack's resources of one type.

        The list is empty if the stack does not exist.

        Raises:
            ClientError, BotoCoreError: The call to CloudFormation fails.
        """
        name = self.stack_name(stack)
        if self.stack(name) is None:
            return []
        path = f"StackResourceSummaries[?ResourceType=='{resource_type}'].PhysicalResourceId"
        return list(self.search("cloudformation", "list_stack_resources", path, StackName=name))

    def runtime(self) -> dict[str, Any] | None:
        """Return the environment's runtime as in `ListAgentRuntimes`, or None if there is none.

        Raises:
            ClientError, BotoCoreError: The call to AgentCore fails.
        """
        path = f"agentRuntimes[?agentRuntimeName=='{self.settings.runtime_name}']"
        return next(self.search("bedrock-agentcore-control", "list_agent_runtimes", path), None)

    def search(self, service: str, operation: str, path: str, **arguments: Any) -> Iterator[Any]:
        """Yield what a JMESPath expression finds in all pages of a paginated operation."""
        yield from self.client(service).get_paginator(operation).paginate(**arguments).search(path)


def check_region(settings: Settings, region: str | None) -> None:
    """Check the Region from the command line, if there is one.

    Raises:
        UsageError: `region` contradicts the settings, or AWS has no Region of that name.
    """
    if region and settings.region and region != settings.region:
        raise UsageError(
            f"--region {region}: environments/{settings.name}.toml sets the Region "
            f"{settings.region}",
            "leave --region out",
        )
    if region:
        _check_exists(region, "--region")


def connect(settings: Settings, region: str | None = None) -> Account:
    """Return the account of an environment, with credentials from the AWS SDKs' usual sources.

    Args:
        settings: The settings of the environment.
        region: The Region from the command line, for an environment whose file names none.

    Raises:
        UsageError: No Region is set, it contradicts the settings, or AWS has no such Region.
    """
    check_region(settings, region)
    # Only boto3 ignores AWS_REGION, which the other AWS SDKs read.
    from_variable = os.environ.get("AWS_REGION") or None
    session = boto3.Session(region_name=region or settings.region or from_variable)
    if not session.region_name:
        raise UsageError(
            f"no Region: environments/{settings.name}.toml names none",
            "give --region, such as eu-central-1, or set AWS_REGION (or `region` in the file)",
        )
    if settings.region:
        source = f"region in environments/{settings.name}.toml"
    else:
        source = "AWS_REGION" if from_variable else "AWS_DEFAULT_REGION, or the AWS profile"
    _check_exists(session.region_name, "--region" if region else source)
    return Account(session, settings)


def connect_with_credentials(settings: Settings, region: str | None = None) -> Account:
    """Return the account of an environment as `connect` does, and require credentials.

    Args:
        settings: The settings of the environment.
        region: The Region from the command line, for an environment whose file names none.

    Raises:
        NoCredentialsError: None are configured. Some commands would notice that only halfway.
        UsageError: The Region cannot be used; see `connect`.
    """
    account = connect(settings, region)
    if account.session.get_credentials() is None:
        raise NoCredentialsError
    return account


def _check_exists(region: str, source: str) -> None:
    problem = region_problem(region)
    if problem:
        raise UsageError(f"{source} {problem}", f"correct {source}")


def error_code(error: Exception) -> str:
    """Return the AWS error code, or an empty text for an error without one."""
    return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else ""


def is_denied(error: Exception) -> bool:
    """Return whether the caller lacks a permission."""
    return error_code(error) in (
        "AccessDenied",
        "AccessDeniedException",
        "UnauthorizedOperation",
        "AuthorizationError",
    )


def with_next_step(message: str, next_step: str) -> str:
    """Return a message, and the next step on a line of its own if there is one."""
    return f"{message}\n→ {next_step}" if next_step else message


def connection_step(
    otherwise: str = "check the network connection, and that this Region offers the service",
) -> str:
    """Return what to do about a failed connection.

    Args:
        otherwise: The step if no environment variable sets the address of a service.
    """
    variables = sorted(
        name for name, value in os.environ.items() if name.startswith("AWS_ENDPOINT_URL") and value
    )
    if not variables:
        return otherwise
    return f"the address may come from {', '.join(variables)}: correct the variable, or remove it"


def summary(error: Exception) -> str:
    """Return the result of `explain` in one line."""
    return "; ".join(filter(None, explain(error)))


def explain(error: Exception) -> tuple[str, str]:
    """Return the message of an AWS error, and the next step; the step may be empty."""
    match error:
        case NoCredentialsError() | PartialCredentialsError():
            message = str(error).rstrip(".")
            return message, (
                "log in (`aws sso login`), or set AWS_PROFILE, or set AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY"
            )
        case SSOError() | TokenRetrievalError():
            return str(error), "renew the credentials (`aws sso login`)"
        case LoginError():
            return str(error).rstrip(), "renew the credentials (`aws login`)"
        case CredentialRetrievalError():
            return str(error), "correct this source of credentials, or set AWS_PROFILE to another"
        case ConfigParseError() | ConfigNotFound() | InvalidConfigError():
            return str(error), (
                "correct the configuration of the AWS SDKs: ~/.aws/config and ~/.aws/credentials, "
                "or the files in AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE"
            )
        case ProfileNotFound():
            return str(error), "set AWS_PROFILE to one of `aws configure list-profiles`"
        case ProxyConnectionError():
            return str(error), "correct HTTPS_PROXY, or remove it"
        case SSLError():
            return str(error), connection_step(
                "check AWS_CA_BUNDLE: behind a proxy that opens TLS, it must name the proxy's "
                "certificates"
            )
        case (
            EndpointConnectionError()
            | ConnectTimeoutError()
            | ReadTimeoutError()
            | ConnectionClosedError()
        ):
            return str(error), connection_step()
        case ClientError():
            operation = error.operation_name
            message = f"{operation}: {error_code(error)}: {error.response['Error'].get('Message')}"
            return message, next_step(message)
    return str(error) or type(error).__name__, next_step(str(error))
