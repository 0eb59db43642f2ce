"""The account an environment lives in: sessions, its stacks, its runtime, and errors explained."""

import os
from collections.abc import Iterator
from typing import Any

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    PartialCredentialsError,
)

from ops.advice import next_step
from stacks import names
from stacks.settings import Settings

# Throttled calls are repeated with growing pauses before they count as failed.
_CONFIG = Config(retries={"mode": "standard", "total_max_attempts": 6})

AWS_ERRORS = (ClientError, BotoCoreError)


class OpsError(Exception):
    """The command cannot go on; the message says what to do next."""


class Account:
    """An account and Region, as one environment's commands see them.

    Args:
        session: The session, with credentials and a Region.
        settings: The environment's settings.
    """

    def __init__(self, session: boto3.Session, settings: Settings) -> None:
        self.session = session
        self.settings = settings
        self.region = str(session.region_name)
        self._clients: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        """The boto3 client of `service`."""
        if service not in self._clients:
            self._clients[service] = self.session.client(service, config=_CONFIG)
        return self._clients[service]

    @property
    def botocore_session(self) -> botocore.session.Session:
        """What the SDKs that know no boto3 take."""
        return self.session._session

    def stack_name(self, stack: str) -> str:
        """What CloudFormation calls one of the environment's `names.STACKS`."""
        return names.stack_name(self.settings.name, stack)

    def cdk(self, command: str, stack: str | None = None) -> str:
        """The command line that deploys or destroys the environment, or one of its stacks."""
        what = names.stack_id(self.settings.name, stack) if stack else "--all"
        return f'make cdk ARGS="{command} -c env={self.settings.name} {what}"'

    def stack(self, name: str) -> dict[str, Any] | None:
        """A stack as CloudFormation describes it, None if there is no such stack.

        Raises:
            ClientError, BotoCoreError: CloudFormation cannot be asked.
        """
        try:
            described = self.client("cloudformation").describe_stacks(StackName=name)["Stacks"]
        except ClientError as error:
            # CloudFormation has no error code of its own for this.
            if "does not exist" in error.response["Error"].get("Message", ""):
                return None
            raise
        return described[0] if described else None

    def first_failure(self, stack_name: str) -> str:
        """Why the last change of a stack failed, empty if no event says.

        The earliest failure names the cause; the others were cancelled because of it.

        Raises:
            ClientError, BotoCoreError: CloudFormation cannot be asked.
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
        """Of the resources of a type in one of the environment's stacks; none without the stack.

        Raises:
            ClientError, BotoCoreError: CloudFormation cannot be asked.
        """
        name = self.stack_name(stack)
        if self.stack(name) is None:
            return []
        path = f"StackResourceSummaries[?ResourceType=='{resource_type}'].PhysicalResourceId"
        return list(self.search("cloudformation", "list_stack_resources", path, StackName=name))

    def runtime(self) -> dict[str, Any] | None:
        """The environment's AgentCore runtime as `ListAgentRuntimes` shows it, None if none.

        Raises:
            ClientError, BotoCoreError: AgentCore cannot be asked.
        """
        path = f"agentRuntimes[?agentRuntimeName=='{self.settings.runtime_name}']"
        return next(self.search("bedrock-agentcore-control", "list_agent_runtimes", path), None)

    def search(self, service: str, operation: str, path: str, **arguments: Any) -> Iterator[Any]:
        """What a JMESPath expression finds in all pages of a paginated operation."""
        yield from self.client(service).get_paginator(operation).paginate(**arguments).search(path)


def connect(settings: Settings, region: str | None = None) -> Account:
    """The environment's account with the credentials of the AWS SDKs' usual sources.

    Args:
        settings: The environment's settings.
        region: The Region to use instead of the one in the settings, else the session's.

    Raises:
        OpsError: No Region is set anywhere, or `region` contradicts the settings.
    """
    if region and settings.region and region != settings.region:
        raise OpsError(
            f"--region {region}: environment {settings.name} is in {settings.region}; leave it out"
        )
    # boto3 reads AWS_DEFAULT_REGION only; every other SDK of AWS, AWS_REGION.
    session = boto3.Session(
        region_name=region or settings.region or os.environ.get("AWS_REGION") or None
    )
    if not session.region_name:
        raise OpsError(
            "no Region: give --region, set AWS_REGION, or `region` in the environment's file"
        )
    return Account(session, settings)


def error_code(error: Exception) -> str:
    """The AWS error code, empty for an error without one."""
    return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else ""


def is_denied(error: Exception) -> bool:
    """Whether the caller lacks a permission."""
    return error_code(error) in (
        "AccessDenied",
        "AccessDeniedException",
        "UnauthorizedOperation",
        "AuthorizationError",
    )


def summary(error: Exception) -> str:
    """What `explain` says, in one line."""
    return "; ".join(filter(None, explain(error)))


def explain(error: Exception) -> tuple[str, str]:
    """What an error of an AWS call says, and what to do next."""
    match error:
        case NoCredentialsError() | PartialCredentialsError():
            return str(error), "log in (`aws sso login`) or set AWS_PROFILE"
        case EndpointConnectionError():
            return str(error), "check the network, and that the service exists in this Region"
        case ClientError():
            operation = error.operation_name
            message = f"{operation}: {error_code(error)}: {error.response['Error'].get('Message')}"
            return message, next_step(message)
    return str(error) or type(error).__name__, next_step(str(error))
