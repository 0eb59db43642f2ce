"""The SageMaker stand-in's settings, and how requests are matched against them."""

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
        url: The container's, without a path, such as `http://127.0.0.1:8080`.
        bidirectional: Whether the image has the label for bidirectional streaming.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Annotated[str, StringConstraints(pattern=r"^http://[^/?#]+$")]
    bidirectional: bool = True


class RouterSettings(BaseModel):
    """The stand-in's settings; the defaults are the service's documented figures.

    Attributes:
        tls_dir: Where certificates are written.
        endpoints: By name.
        access_key_id: The only caller's.
        secret_access_key: The only caller's.
        host: The address to listen on.
        port: 0 takes a free one.
        region: That requests have to be signed for.
        variant: The one production variant's name.
        ping_interval_s: Seconds between pings to the container.
        max_unanswered_pings: After so many the container is given up.
        max_session_s: The longest a stream lives, in seconds.
        batch_timeout_s: The longest a container may take for a batch request, in seconds.
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
    """Return the endpoint's name as it is in a request's path, which `route` describes.

    Raises:
        ApiError: 404: the request is for another operation.
    """
    match = route.fullmatch(target)
    if method != "POST" or match is None:
        message = f"no route for {method} {target}"
        raise ApiError("UnknownOperationException", message, HTTPStatus.NOT_FOUND)
    return match[1]


def find_endpoint(
    settings: RouterSettings, encoded_name: str, headers: Mapping[str, str], error_code: str
) -> Endpoint:
    """Return the endpoint a request names.

    Args:
        settings: The router's.
        encoded_name: As it is in the request's path.
        headers: The request's, by lower-case name.
        error_code: How the operation calls a bad input.

    Raises:
        ApiError: 400: the endpoint or the target variant does not exist.
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
    """The error for a container that failed; status 0 when it gave no answer at all."""
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
