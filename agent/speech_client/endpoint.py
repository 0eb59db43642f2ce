"""Bidirectional streams to a SageMaker endpoint, opened with AWS's own client."""

import asyncio
import re
from typing import Any

import botocore.exceptions
import botocore.session
from aws_sdk_sagemaker_runtime_http2 import models
from aws_sdk_sagemaker_runtime_http2.client import AsyncSageMakerRuntimeHTTP2Client
from aws_sdk_sagemaker_runtime_http2.config import AsyncSageMakerRuntimeHTTP2Config
from smithy_aws_core.identity import AWSCredentialsIdentity
from smithy_aws_core.identity.static import StaticCredentialsResolver
from smithy_core.aio.eventstream import DuplexEventStream
from smithy_core.aio.interfaces.eventstream import EventPublisher, EventReceiver
from smithy_core.exceptions import SmithyError

from speech_client.errors import (
    SpeechConnectionError,
    SpeechContainerError,
    SpeechError,
    SpeechInputError,
    SpeechTimeoutError,
    model_error,
    without_stop,
)
from speech_client.transport import H2Transport

PORT = 8443
"""The only port for bidirectional streams. On port 443, the call hangs without an error."""

NORMAL_CLOSURE = "1000"
"""WebSocket close code that SageMaker passes on in `ModelStreamError` (RFC 6455, section 7.4.1)."""


_UNMODELLED = re.compile(r"status: (\d+) - id: (?:[^\s#]*#)?(.*)", re.DOTALL)
"""Matches the SDK's message for an error that its service model does not contain."""


class SpeechEndpoint:
    """One SageMaker endpoint in one Region.

    The URL follows AWS's standard settings (`AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2` and the
    configuration files). Without them, it is the Region's public address.

    Credentials come from botocore's chain, because the SDK's own chain does not find the role of a
    container or an instance, which is what an AgentCore runtime has. The credentials are resolved
    again for every stream, so they may rotate. They stay the same within a stream, because its
    events are signed in a chain that starts with the signature of the request.

    Args:
        name: The endpoint's name.
        region: The endpoint's AWS Region.
        ca_file: PEM file of the only certificate authorities to trust; None for the system's.
        connect_timeout_s: Time limit in seconds for the TCP and TLS handshakes together.
        open_timeout_s: Time limit in seconds from the request for a stream until SageMaker accepts
            it.
        session: A botocore session; None for a new one that the environment configures.
    """

    def __init__(
        self,
        name: str,
        *,
        region: str,
        ca_file: str | None = None,
        connect_timeout_s: float = 3.0,
        open_timeout_s: float = 4.5,
        session: botocore.session.Session | None = None,
    ) -> None:
        self.name = name
        self.region = region
        self._open_timeout_s = open_timeout_s
        self._session = session or botocore.session.get_session()
        self._transport = H2Transport(ca_file=ca_file, connect_timeout_s=connect_timeout_s)
        self._client: AsyncSageMakerRuntimeHTTP2Client | None = None

    async def open_stream(self) -> "SpeechStream":
        """Open a bidirectional stream and return it once SageMaker has accepted it.

        Raises:
            SpeechConnectionError: There are no credentials, SageMaker is unreachable, or it
                refuses the caller.
            SpeechTimeoutError: SageMaker did not accept the stream within `open_timeout_s`.
            SpeechContainerError: SageMaker could not open a WebSocket to the container.
            SpeechInputError: There is no such endpoint, or it does not support bidirectional
                streams.
        """
        try:
            async with asyncio.timeout(self._open_timeout_s):
                identity = await asyncio.to_thread(self._resolve_credentials)
                client = await self._get_client()

                def pin(config: AsyncSageMakerRuntimeHTTP2Config) -> None:
                    config.aws_credentials_identity_resolver = StaticCredentialsResolver(identity)

                duplex = await client.invoke_endpoint_with_bidirectional_stream(
                    models.InvokeEndpointWithBidirectionalStreamInput(endpoint_name=self.name),
                    plugins=[pin],
                )
                # An error in opening the stream is raised here, not by the call above.
                _, receiver = await duplex.await_output()
        except TimeoutError as error:
            raise SpeechTimeoutError(
                f"endpoint {self.name!r} in {self.region} opened no speech stream within "
                f"{self._open_timeout_s:g} s: SageMaker runtime or speech container is silent; "
                "check that the endpoint is in service and reachable, then read the container's log"
            ) from error
        except (SmithyError, OSError, botocore.exceptions.BotoCoreError) as error:
            raise describe(error) from error
        return SpeechStream(duplex, receiver)

    async def close(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()
        await self._transport.close()

    def _resolve_credentials(self) -> AWSCredentialsIdentity:
        credentials = self._session.get_credentials()
        if credentials is None:
            raise botocore.exceptions.NoCredentialsError
        frozen = credentials.get_frozen_credentials()
        return AWSCredentialsIdentity(
            access_key_id=frozen.access_key,
            secret_access_key=frozen.secret_key,
            session_token=frozen.token,
        )

    async def _get_client(self) -> AsyncSageMakerRuntimeHTTP2Client:
        if self._client is None:
            config = await AsyncSageMakerRuntimeHTTP2Config.resolve(
                region=self.region, transport=self._transport
            )
            if config.endpoint_uri is None:
                host = f"runtime.sagemaker.{self.region}.amazonaws.com"
                config.endpoint_uri = f"https://{host}:{PORT}"
            self._client = AsyncSageMakerRuntimeHTTP2Client(config)
        return self._client


class SpeechStream:
    """One open bidirectional stream, which sends and receives payload parts."""

    def __init__(
        self,
        duplex: DuplexEventStream[Any, Any, Any],
        receiver: EventReceiver[models.ResponseStreamEvent],
    ) -> None:
        self._publisher: EventPublisher[models.RequestStreamEvent] = duplex.input_stream
        self._receiver = receiver
        self._sending = asyncio.Lock()
        self._sends: set[asyncio.Task[None]] = set()

    async def send(self, text: str) -> None:
        """Send one text frame to the container. Wait while SageMaker accepts no more data.

        Cancelling this coroutine stops the wait, but the frame is still sent.

        Raises:
            SpeechConnectionError: The connection is lost.
        """
        # Each event's signature covers the signature before it. Events must therefore be signed
        # one at a time, and a signed event must be sent.
        task = asyncio.create_task(self._send(text), name="send speech request")
        self._sends.add(task)
        task.add_done_callback(self._sends.discard)
        await asyncio.shield(task)

    async def _send(self, text: str) -> None:
        part = models.RequestPayloadPart(bytes_=text.encode(), data_type="UTF8")
        async with self._sending:
            try:
                await self._publisher.send(models.RequestStreamEventPayloadPart(part))
            except (SmithyError, OSError) as error:
                raise describe(error) from error

    async def receive(self) -> models.ResponsePayloadPart | None:
        """Return the next payload part, or None after the container has closed the session.

        Cancelling this coroutine loses a payload part that has been read in part. The stream is
        unusable afterwards.

        Raises:
            SpeechConnectionError: The connection is lost or SageMaker failed.
            SpeechContainerError: The container failed or lost its connection.
        """
        try:
            while (event := await self._receiver.receive()) is not None:
                if isinstance(event, models.ResponseStreamEventPayloadPart):
                    return event.value
        except (SmithyError, OSError) as error:
            # By the documentation, SageMaker may report a normal close as an error, too.
            if not isinstance(error, models.ModelStreamError) or error.error_code != NORMAL_CLOSURE:
                raise describe(error) from error
        return None

    async def close(self) -> None:
        """End the request and close the connection.

        Call this only after the last audio has arrived, because SageMaker ends the session when the
        request ends.
        """
        try:
            async with asyncio.timeout(1.0), self._sending:
                await self._publisher.close()
        except (SmithyError, OSError):
            pass  # the connection is lost already, so there is nothing to close
        finally:
            for task in self._sends:
                task.cancel()
            await asyncio.gather(*self._sends, return_exceptions=True)
            await self._receiver.close()


def describe(error: Exception) -> SpeechError:
    """Return the exception of this package for one of the SDK, botocore or the transport."""
    match error:
        case models.ModelError():
            return model_error(
                error.message,
                status=error.original_status_code,
                answer=error.original_message,
                log_stream=error.log_stream_arn,
            )
        case models.ModelStreamError():
            code = f" (WebSocket close code {error.error_code})" if error.error_code else ""
            reason = error.message or "no reason given"
            return SpeechContainerError(f"speech container ended the stream: {reason}{code}")
        case models.InputValidationError():
            return SpeechInputError(
                f"SageMaker runtime refused the request: {without_stop(error.message)}; check the "
                "endpoint's name and Region"
            )
        case botocore.exceptions.BotoCoreError():
            return SpeechConnectionError(f"cannot sign for the SageMaker runtime: {error}")
        case models.ServiceError():
            return SpeechConnectionError(
                f"SageMaker runtime failed: {error.message} ({type(error).__name__})"
            )
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    reason = str(cause) or type(cause).__name__
    if status := _UNMODELLED.search(reason):
        denied = status[1] in ("401", "403")
        advice = "; check the credentials and their permissions" if denied else ""
        return SpeechConnectionError(
            f"SageMaker runtime refused the request: HTTP {status[1]}, {status[2]}{advice}"
        )
    return SpeechConnectionError(
        f"connection to the SageMaker runtime failed: {reason}; check the network, the Region and "
        "the endpoint's name"
    )
