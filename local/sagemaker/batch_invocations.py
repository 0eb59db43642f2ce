"""InvokeEndpoint: each request is forwarded to the container's `POST /invocations`."""

import asyncio
import logging
import re
from dataclasses import dataclass
from http import HTTPStatus

import httpx

from local.aws_wire.errors import ApiError
from local.aws_wire.http1_server import MAX_BODY_BYTES, HttpRequest, HttpResponse
from local.aws_wire.sigv4 import Verifier
from local.sagemaker.settings import RouterSettings, endpoint_name, find_endpoint, model_error

logger = logging.getLogger(__name__)

_ROUTE = re.compile(r"/endpoints/([^/?]+)/invocations")
_MAX_ORIGINAL_MESSAGE_CHARACTERS = 1024
# SageMaker forwards only the headers of its API.
_FORWARDED = ("accept", "content-type", "x-amzn-sagemaker-custom-attributes")


@dataclass(eq=False)
class BatchInvocations:
    """Handles InvokeEndpoint.

    Attributes:
        settings: The endpoints and limits.
        verifier: Checks the signatures of requests.
        client: Sends the requests to containers. Its owner closes it.
        requests: How many requests have been forwarded.
    """

    settings: RouterSettings
    verifier: Verifier
    client: httpx.AsyncClient
    requests: int = 0

    async def handle(self, request: HttpRequest) -> HttpResponse:
        """Forward a request, or answer with an error that boto3 knows."""
        try:
            return await self._invoke(request)
        except ApiError as error:
            logger.info("refused %s: %s", request.target, error)
            return HttpResponse(error.status, error.headers, error.body)

    async def _invoke(self, request: HttpRequest) -> HttpResponse:
        name = endpoint_name(_ROUTE, request.method, request.target)
        self.verifier.verify(request.method, request.target, request.headers, request.body)
        endpoint = find_endpoint(self.settings, name, request.headers, "ValidationError")
        self.requests += 1
        headers = {name: request.headers[name] for name in _FORWARDED if name in request.headers}
        body = bytearray()
        try:
            async with (
                asyncio.timeout(self.settings.batch_timeout_s),
                self.client.stream(
                    "POST", f"{endpoint.url}/invocations", headers=headers, content=request.body
                ) as response,
            ):
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > MAX_BODY_BYTES:
                        limit = f"the response is over {MAX_BODY_BYTES} bytes"
                        raise model_error(response.status_code, limit)
        except TimeoutError as error:
            raise model_error(
                0, "Your invocation timed out while waiting for a response from container primary."
            ) from error
        except httpx.TransportError as error:
            raise model_error(0, f"no answer from the container: {error}") from error
        if not response.is_success:
            text = body.decode(errors="replace")
            raise model_error(response.status_code, text[:_MAX_ORIGINAL_MESSAGE_CHARACTERS])
        answered = {"x-amzn-invoked-production-variant": self.settings.variant}
        if content_type := response.headers.get("content-type"):
            answered["content-type"] = content_type
        return HttpResponse(HTTPStatus.OK, answered, bytes(body))
