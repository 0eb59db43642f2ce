"""Relays the agent's ConverseStream requests to Amazon Bedrock.

`python -m local.bedrock.relay --access-key-id ID --secret-access-key SECRET [--model ID]`

The agent signs its requests with throw-away keys. The relay verifies that signature, signs the
request again with the caller's own credentials and forwards it to Bedrock in the caller's Region.
It returns the response byte by byte, including errors.

The relay finds credentials, Region, endpoint and CA bundle as boto3 does: in the environment and
in the profile that `AWS_PROFILE` names. It reads `AWS_REGION`, too. An Amazon Bedrock API key in
`AWS_BEARER_TOKEN_BEDROCK` takes precedence over credentials.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote

import botocore.exceptions
import botocore.session
import httpx
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from starlette.responses import Response

from local.aws_wire.errors import ApiError
from local.aws_wire.serving import serve_app
from local.aws_wire.sigv4 import Verifier
from local.bedrock.http_client import UpstreamError, http_client, reason, tls_context
from local.bedrock.server_common import (
    BrokenOffError,
    EventStream,
    create_app,
    run,
    runtime_parser,
    verifier_from,
)

READ_TIMEOUT_S = 60.0
"""How long Bedrock may be silent. The agent's own limit is usually shorter."""

_AWS_ERRORS = (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError)
_CONNECTION_HEADERS = frozenset(
    ("connection", "content-length", "date", "keep-alive", "server", "transfer-encoding")
)
_HOW_TO_SIGN_IN = (
    "run `aws sso login` or `aws configure`, or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and "
    "AWS_SECRET_ACCESS_KEY"
)


@dataclass(frozen=True)
class Account:
    """The caller's way into Amazon Bedrock.

    Attributes:
        region: The AWS Region.
        url: The endpoint of the Bedrock runtime.
        ca_file: PEM file of the only certificate authorities to trust.
        credentials: The caller's credentials; botocore refreshes them. None with an API key.
        api_key: An Amazon Bedrock API key, which replaces the signature.
        profile: The profile that the caller has chosen; None for the default one.
    """

    region: str
    url: str
    ca_file: str | None
    credentials: Credentials | None
    api_key: str | None
    profile: str | None = None

    @classmethod
    def from_environment(cls, endpoint_url: str | None = None) -> "Account":
        """Find the caller's Region and credentials, and check that the credentials can be loaded.

        Args:
            endpoint_url: Replaces the endpoint that belongs to the Region.

        Raises:
            UpstreamError: There is no Region, or there are no credentials, or they have expired.
        """
        session = botocore.session.Session()
        try:
            region = os.environ.get("AWS_REGION") or session.get_config_variable("region")
            if not region:
                raise UpstreamError(
                    "no AWS Region is set: set AWS_REGION to one with Amazon Bedrock, for example "
                    "AWS_REGION=us-east-1, or `region` in the profile"
                )
            api_key = os.environ.get("AWS_BEARER_TOKEN_BEDROCK")
            credentials = None if api_key else session.get_credentials()
            if credentials is not None:
                credentials.get_frozen_credentials()  # expired credentials are reported here
            elif not api_key:
                raise UpstreamError(f"no AWS credentials were found: {_HOW_TO_SIGN_IN}")
            client = session.create_client(
                "bedrock-runtime", region_name=region, endpoint_url=endpoint_url
            )
            ca_file = session.get_config_variable("ca_bundle")
            tls_context(ca_file)  # a missing file is reported here
            return cls(
                region=client.meta.region_name,
                url=client.meta.endpoint_url,
                ca_file=ca_file,
                credentials=credentials,
                api_key=api_key,
                profile=session.profile,
            )
        except botocore.exceptions.ProfileNotFound as error:
            known = ", ".join(session.available_profiles) or "none"
            raise UpstreamError(
                f"{_one_line(error)}. Set AWS_PROFILE to a profile that exists ({known}), or "
                "create it with `aws configure sso`"
            ) from error
        except EOFError as error:
            raise UpstreamError(
                "the AWS profile requires an MFA code, which the relay cannot ask for: put "
                "temporary credentials into the environment, for example with "
                "`eval $(aws configure export-credentials --format env)`"
            ) from error
        except (*_AWS_ERRORS, OSError, ValueError) as error:
            raise UpstreamError(
                f"the AWS settings cannot be used: {_one_line(error)}. To sign in, "
                f"{_HOW_TO_SIGN_IN}"
            ) from error

    def __str__(self) -> str:
        """Say in a few words which account answers."""
        if self.credentials is None:
            return f"Amazon Bedrock in {self.region}, with the key in AWS_BEARER_TOKEN_BEDROCK"
        origin = self.credentials.method
        if origin == "env":
            origin = "the environment"
        elif self.profile:
            origin = f"the profile {self.profile} ({origin})"
        return f"Amazon Bedrock in {self.region}, with credentials from {origin}"

    def sign(self, url: str, body: bytes) -> dict[str, str]:
        """Return the headers of a POST request. Blocks while credentials are refreshed.

        Raises:
            ApiError: The credentials have expired and cannot be refreshed.
        """
        request = AWSRequest("POST", url, {"content-type": "application/json"}, body)
        if self.credentials is None:
            request.headers["authorization"] = f"Bearer {self.api_key}"
            return dict(request.headers)
        try:
            frozen = self.credentials.get_frozen_credentials()
        except _AWS_ERRORS as error:
            raise ApiError(
                "ExpiredTokenException",
                f"the AWS credentials cannot be refreshed: {_one_line(error)}. To sign in, "
                f"{_HOW_TO_SIGN_IN}",
                HTTPStatus.FORBIDDEN,
            ) from error
        SigV4Auth(frozen, "bedrock", self.region).add_auth(request)
        return dict(request.headers)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


@asynccontextmanager
async def run_relay(
    account: Account,
    verifier: Verifier | None,
    model_id: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
) -> AsyncIterator[int]:
    """Serve until the end of the block; the value is the port.

    Args:
        account: The caller's way into Bedrock.
        verifier: Checks the agent's signatures.
        model_id: Replaces the model id, inference profile or ARN that the agent asks for.
        host: The address to listen on.
        port: The port to listen on; 0 takes a free one.
    """
    async with http_client(account.url, READ_TIMEOUT_S, account.ca_file) as http:

        async def answer(agents_model_id: str, body: bytes) -> Response:
            # Encoded as botocore encodes it. SigV4 signs exactly this path.
            model = quote(model_id or agents_model_id, safe="-._~")
            url = f"{account.url}/model/{model}/converse-stream"
            headers = await asyncio.to_thread(account.sign, url, body)
            request = http.build_request(
                "POST", url, headers=headers | {"accept-encoding": "identity"}, content=body
            )
            try:
                response = await http.send(request, stream=True)
            except httpx.HTTPError as error:
                raise ApiError(
                    "ServiceUnavailableException",
                    f"{account.url} cannot be reached: {reason(error)}",
                    HTTPStatus.SERVICE_UNAVAILABLE,
                ) from error
            passed = {k: v for k, v in response.headers.items() if k not in _CONNECTION_HEADERS}
            return EventStream(_body(response), response.aclose, response.status_code, passed)

        async with serve_app(create_app(verifier, answer), host, port) as bound_port:
            yield bound_port


async def _body(response: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for data in response.aiter_raw():
            yield data
    except httpx.HTTPError as error:
        raise BrokenOffError(f"Bedrock broke off its response: {reason(error)}") from error


def main() -> None:
    """Run the relay as a process."""
    parser = runtime_parser("local.bedrock.relay", __doc__)
    parser.add_argument("--model", help="model id, inference profile or ARN (default: the agent's)")
    parser.add_argument("--endpoint-url", help="replaces the Region's Bedrock runtime endpoint")
    options = parser.parse_args()
    verifier = verifier_from(parser, options)
    try:
        account = Account.from_environment(options.endpoint_url)
    except UpstreamError as error:
        sys.exit(f"error: {error}")
    run(run_relay(account, verifier, options.model, options.host, options.port), options.host)


if __name__ == "__main__":
    main()
