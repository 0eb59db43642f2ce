"""Errors in the form in which AWS services with the REST-JSON protocol return them."""

import json
from http import HTTPStatus


class ApiError(Exception):
    """A request is refused.

    Args:
        code: The error's name in the service's model, such as `ModelError`.
        message: The text for people.
        status: The HTTP status of the response.
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
        """The response headers. Both boto3 and the HTTP/2 SDK read the error's name from them."""
        return {"content-type": "application/json", "x-amzn-errortype": self.code}

    @property
    def body(self) -> bytes:
        """The JSON body. It has both `Message`, as in SageMaker, and `message`, as in Bedrock."""
        return json.dumps(
            {"message": self.message, "Message": self.message, **self.members}
        ).encode()
