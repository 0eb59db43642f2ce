"""Errors as AWS services with the REST-JSON protocol answer them."""

import json
from http import HTTPStatus


class ApiError(Exception):
    """A request is refused.

    Args:
        code: The error's name in the service's model, such as `ModelError`.
        message: What a person reads.
        status: The HTTP status that goes with it.
        members: Further members of the error, such as `OriginalStatusCode`.
    """

    def __init__(
        self,
        code: str,
        message: str,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        **members: str | int,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.message = message
        self.members = members

    @property
    def headers(self) -> dict[str, str]:
        """The response headers: both boto3 and the HTTP/2 SDK find the error's name here."""
        return {"content-type": "application/json", "x-amzn-errortype": self.code}

    @property
    def body(self) -> bytes:
        """The JSON body. SageMaker spells `Message`, Bedrock `message`: both are there."""
        return json.dumps(
            {"message": self.message, "Message": self.message, **self.members}
        ).encode()
