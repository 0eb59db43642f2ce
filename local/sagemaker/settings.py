"""The settings of the SageMaker stand-in, and the endpoints that requests name."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from local.aws_wire.errors import ApiError


class Endpoint(BaseModel):
    """One endpoint and the container behind it.

    Attributes:
        url: The container's URL without a path, such as `http://127.0.0.1:8080`.
        bidirectional: Whether the image has the label for bidirectional streaming.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Annotated[str, StringConstraints(pattern=r"^http://[^/?#]+$")]
    bidirectional: bool = True


class RouterSettings(BaseModel):
    """The stand-in's settings. The default limits are the service's.

    Attributes:
        tls_dir: The folder for the certificates.
        endpoints: The endpoints by name.
        access_key_id: The access key id of the only caller.
        secret_access_key: The secret access key of the only caller.
        host: The address to listen on.
        port: The port to listen on; 0 takes a free port.
        region: The Region for which requests have to be signed.
        variant: The name of the only production variant.
        ping_interval_s: The seconds between pings to the container.
        max_unanswered_pings: The stream fails after this many unanswered pings.
        max_session_s: The longest time that a stream lives, in seconds.
        batch_timeout_s: The longest time that a container may take for a batch request, in seconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    tls_dir: Path
    endpoints: dict[str, Endpoint]
    access_key_id: str = Field(min_length=1)
    secret_access_key: str = Field(min_length=1, repr=False)
    host: str = "127.0.0.1"
    port: int = Field(default=0, ge=0, le=65535)
    region: str = "us-east-1"
    variant: str = "AllTraffic"
    ping_interval_s: float = Field(default=60.0, gt=0)
    max_unanswered_pings: int = Field(default=5, ge=1)
    max_session_s: float = Field(default=1800.0, gt=0)
    batch_timeout_s: float = Field(default=60.0, gt=0)


def endpoint_name(route: re.Pattern[str], method: str, target: str) -> str:
    """Return the endpoint's name from a request's path, still encoded.

    Args:
        route: Matches the path, with the name as its first group.
        method: The HTTP method.
        target: Path and query of the request.

    Raises:
        ApiError: With 404: the request is for another operation.
    """
    match = route.fullmatch(target)
    if method != "POST" or match is None:
        message = f"no route for {method} {target}"
        raise ApiError("UnknownOperationException", message, HTTPStatus.NOT_FOUND)
    return match[1]


def find_endpoint(
    settings: RouterSettings, encoded_name: str, headers: Mapping[str, str], error_code: str
) -> Endpoint:
    """Return the endpoint that a request names.

    Args:
        settings: The router's settings.
        encoded_name: The endpoint's name, encoded as in the request's path.
        headers: The request's headers by lower-case name.
        error_code: The operation's error code for invalid input.

    Raises:
        ApiError: With 400: the endpoint or the target variant does not exist.
    """
    name = unquote(encoded_name)
    endpoint = settings.endpoints.get(name)
    if endpoint is None:
        raise ApiError(error_code, f"Endpoint {name} of account 000000000000 not found.")
    variant = headers.get("x-amzn-sagemaker-target-variant", settings.variant)
    if variant != settings.variant:
        raise ApiError(error_code, f"Variant {variant} of endpoint {name} not found.")
    return endpoint


def model_error(original_status: int, original_message: str) -> ApiError:
    """Return the error for a container that failed. The status is 0 if it did not answer."""
    kind = "client" if 400 <= original_status < 500 else "server"
    return ApiError(
        "ModelError",
        f"Received {kind} error ({original_status}) from primary with message "
        f'"{original_message}".',
        HTTPStatus.FAILED_DEPENDENCY,
        OriginalStatusCode=original_status,
        OriginalMessage=original_message,
        LogStreamArn="arn:aws:logs:us-east-1:000000000000:log-group:/aws/sagemaker/Endpoints/local",
    )
