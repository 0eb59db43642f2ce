"""Synthesis of a whole reply in one `InvokeEndpoint` request, for comparison with streaming."""

import asyncio
import io
import json
import wave
from typing import Any

import boto3
import botocore.config
import botocore.exceptions

from speech_client.errors import (
    SpeechConnectionError,
    SpeechContainerError,
    SpeechError,
    SpeechInputError,
    model_error,
    without_stop,
)

SAMPLE_RATE_HZ = 24_000
CONNECT_TIMEOUT_S = 3.0


class BatchSynthesizer:
    """Synthesizes a text in one request. boto3 blocks, so each request occupies one thread.

    Args:
        endpoint_name: The SageMaker endpoint's name.
        region: The endpoint's AWS Region.
        timeout_s: Seconds that a request waits for data before it fails.
        max_connections: Greatest number of connections that stay open for later requests.
    """

    def __init__(
        self, endpoint_name: str, *, region: str, timeout_s: float, max_connections: int
    ) -> None:
        self._endpoint_name = endpoint_name
        self._client = boto3.client(
            "sagemaker-runtime",
            region_name=region,
            config=botocore.config.Config(
                connect_timeout=CONNECT_TIMEOUT_S,
                read_timeout=timeout_s,
                retries={"total_max_attempts": 1},
                max_pool_connections=max_connections,
            ),
        )

    async def synthesize(self, text: str, *, voice: str, speed: float) -> bytes:
        """Return `text` as mono 16-bit samples at 24 kHz.

        Cancelling this coroutine does not stop the request. The request continues in its thread
        until it completes or times out.

        Raises:
            SpeechInputError: The container refuses the request.
            SpeechContainerError: The container failed, or its answer is not such audio.
            SpeechConnectionError: SageMaker is unreachable or refused the caller.
        """
        return await asyncio.to_thread(self._synthesize, text, voice, speed)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _synthesize(self, text: str, voice: str, speed: float) -> bytes:
        try:
            response = self._client.invoke_endpoint(
                EndpointName=self._endpoint_name,
                ContentType="application/json",
                Accept="audio/wav",
                Body=json.dumps({"text": text, "voice": voice, "speed": speed}),
            )
            return pcm_of_wav(response["Body"].read())
        except botocore.exceptions.ClientError as error:
            raise describe(error) from error
        except (botocore.exceptions.BotoCoreError, OSError) as error:
            raise SpeechConnectionError(
                f"cannot reach the SageMaker runtime: {error}; check the network, the Region and "
                "the credentials"
            ) from error


def pcm_of_wav(wav: bytes) -> bytes:
    """Return the samples of a WAV file of mono 16-bit PCM at 24 kHz.

    The header of a streamed file is written before the length is known. The function therefore
    ignores the size fields: the `data` chunk, which must be the last one, extends to the end of the
    file (RIFF, Microsoft/IBM 1991).

    Raises:
        SpeechContainerError: `wav` is not such a file.
    """
    try:
        with wave.open(io.BytesIO(wav[:4] + b"\xff" * 4 + wav[8:])) as file:
            channels, sample_bytes, rate_hz, frames, *_ = file.getparams()
            samples: bytes = file.readframes(frames)
    except (wave.Error, EOFError) as error:
        message = f"speech container: the answer is not a WAV file that contains audio ({error!r})"
        raise SpeechContainerError(message) from error
    if (channels, sample_bytes, rate_hz) != (1, 2, SAMPLE_RATE_HZ):
        raise SpeechContainerError(
            f"speech container: the WAV file in the answer has {channels} channel(s) of "
            f"{8 * sample_bytes} bits at {rate_hz} Hz; expected mono 16-bit PCM at "
            f"{SAMPLE_RATE_HZ} Hz"
        )
    return samples[: len(samples) // sample_bytes * sample_bytes]


def describe(error: botocore.exceptions.ClientError) -> SpeechError:
    """Return the exception of this package for an error of `InvokeEndpoint`."""
    response: dict[str, Any] = dict(error.response)
    details = response.get("Error", {})
    code, message = details.get("Code"), details.get("Message")
    if code == "ModelError":
        return model_error(
            message,
            status=response.get("OriginalStatusCode"),
            answer=response.get("OriginalMessage"),
            log_stream=response.get("LogStreamArn"),
        )
    if code in ("ValidationError", "InputValidationError"):
        return SpeechInputError(
            f"SageMaker runtime refused the request: {without_stop(message)} ({code}); check the "
            "endpoint's name and Region"
        )
    return SpeechConnectionError(
        f"SageMaker runtime refused the request: {without_stop(message)} ({code})"
    )
