"""A SageMaker endpoint as something to open bidirectional streams on, with AWS's own client."""

import asyncio
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
)
from speech_client.transport import H2Transport

PORT = 8443
"""Bidirectional streaming listens here only; on 443 the call hangs without an error."""

NORMAL_CLOSURE = "1000"
"""WebSocket close code that SageMaker passes on in `ModelStreamError` (RFC 6455, 7.4.1)."""


class SpeechEndpoint:
    """One SageMaker endpoint in one Region.

    Where it is reached follows AWS's standard settings (`AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME_HTTP2`,
    configuration files); without them it is the Region's public address.

    Credentials come from botocore's chain: the SDK's own finds neither a container's nor an
    instance's role, which is what an AgentCore runtime has. They are resolved anew for every
    stream, so they may rotate, and held fixed within one, whose events are signed in a chain that
    starts with the request's signature.

    Args:
        name: The endpoint's name.
        region: Its AWS Region.
        ca_file: PEM file of the only authorities to trust; None for the system's.
        connect_timeout_s: For TCP and TLS together.
        open_timeout_s: From asking for a stream until SageMaker has accepted it.
        session: A botocore session; None for a new one, configured by the environment.
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
            SpeechConnectionError: No credentials, SageMaker unreachable or refusing the caller.
            SpeechTimeoutError: No answer in time.
            SpeechContainerError: SageMaker could not open a WebSocket to the container.
            SpeechInputError: There is no such endpoint, or it does not stream both ways.
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
                # Errors of opening surface here, not at the call.
                _, receiver = await duplex.await_output()
        except TimeoutError as error:
            raise SpeechTimeoutError(
                f"SageMaker runtime or speech container: endpoint {self.name} opened no stream "
                f"within {self._open_timeout_s:g} s"
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
    """One open bidirectional stream: payload parts out, payload parts in."""

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
        """Send one text frame to the container, waiting while SageMaker accepts no more.

        Cancelling stops the waiting, not the sending.

        Raises:
            SpeechConnectionError: The connection is lost.
        """
        # Every event's signature covers the one before: two must never be signed at a time, and
        # one that is signed must be sent.
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
        """Return the next payload part, None when the container has closed the session.

        Cancelling this loses what was half read: the stream is of no use afterwards.

        Raises:
            SpeechConnectionError: The connection is lost or SageMaker failed.
            SpeechContainerError: The container failed or its connection was lost.
        """
        try:
            while (event := await self._receiver.receive()) is not None:
                if isinstance(event, models.ResponseStreamEventPayloadPart):
                    return event.value
        except (SmithyError, OSError) as error:
            # The documentation does not exempt a clean close from being reported as an error.
            if not isinstance(error, models.ModelStreamError) or error.error_code != NORMAL_CLOSURE:
                raise describe(error) from error
        return None

    async def close(self) -> None:
        """End the request and close the connection.

        Not before the last audio has arrived: SageMaker takes the end of the request for the end
        of the session.
        """
        try:
            async with asyncio.timeout(1.0), self._sending:
                await self._publisher.close()
        except (SmithyError, OSError):
            pass  # the connection is gone, which is what is wanted
        finally:
            for task in self._sends:
                task.cancel()
            await asyncio.gather(*self._sends, return_exceptions=True)
            await self._receiver.close()


def describe(error: Exception) -> SpeechError:
    """Return what an exception of the SDK, botocore or the transport means."""
    match error:
        case models.ModelStreamError() | models.ModelError():
            detail = error.message or getattr(error, "original_message", None) or "no reason given"
            return SpeechContainerError(f"speech container: {detail}")
        case models.InputValidationError():
            return SpeechInputError(f"SageMaker runtime: {error.message}")
        case botocore.exceptions.BotoCoreError():
            return SpeechConnectionError(f"SageMaker runtime: {error}")
        case models.ServiceError():
            return SpeechConnectionError(
                f"SageMaker runtime: {type(error).__name__}: {error.message}"
            )
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return SpeechConnectionError(f"SageMaker runtime: {str(cause) or type(cause).__name__}")
