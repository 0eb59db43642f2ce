"""An account whose answers are recorded where the simulation of AWS has no such service."""

import functools
from typing import Any

import boto3
from botocore.stub import Stubber

from ops.aws import Account
from stacks.settings import Settings

REGION = "us-east-1"


@functools.cache
def session() -> boto3.Session:
    """One for all tests: each session parses the model of every service that it is asked for."""
    return boto3.Session("AKIATEST", "secret", region_name=REGION)


class RecordedAccount(Account):
    """Answers what was recorded, in that order, checked against the service's model.

    Services without a recording are asked in the simulation (`mock_aws`).
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(session(), settings)
        self._stubbers: dict[str, Stubber] = {}

    def answer(
        self, service: str, operation: str, response: dict[str, Any], **expected: Any
    ) -> None:
        self._stubber(service).add_response(operation, response, expected or None)

    def fail(self, service: str, operation: str, code: str, message: str = "") -> None:
        self._stubber(service).add_client_error(operation, code, message)

    def all_asked(self) -> None:
        """Every recorded answer was asked for."""
        for stubber in self._stubbers.values():
            stubber.assert_no_pending_responses()

    def _stubber(self, service: str) -> Stubber:
        if service not in self._stubbers:
            self._stubbers[service] = Stubber(self.client(service))
            self._stubbers[service].activate()
        return self._stubbers[service]
