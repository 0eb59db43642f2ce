"""Whole-reply synthesis through `InvokeEndpoint`: what streaming is measured against."""

import asyncio
import io
import json
import wave

import boto3
import botocore.config
import botocore.exceptions

from speech_client.errors import (
    SpeechConnectionError,
    SpeechContainerError,
    SpeechError,
    SpeechInputError,
    refusal,
)

SAMPLE_RATE_HZ = 24_000
CONNECT_TIMEOUT_S = 3.0


class BatchSynthesizer:
    """Synthesizes a text in one request. boto3 blocks, so each request takes a thread.

    Args:
        endpoint_name: The SageMaker endpoint's name.
        region: The endpoint's AWS Region.
        timeout_s: How long a request waits for data before it fails.
        max_connections: How many connections are kept open for the next requests.
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

        Cancelling leaves the request to finish in its thread, at most until its time-out.

        Raises:
            SpeechInputError: the container refuses the request.
            SpeechContainerError: the container failed or answered something else than such audio.
            SpeechConnectionError: SageMaker cannot be reached or refused the caller.
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
            raise SpeechConnectionError(f"SageMaker runtime: {error}") from error


def pcm_of_wav(wav: bytes) -> bytes:
    """Return the samples of a WAV file of mono 16-bit PCM at 24 kHz.

    A streamed file's header cannot know its length, so its size fields are not believed: the `data`
    chunk, which must be the last, goes to the end of the file (RIFF, Microsoft/IBM 1991).

    Raises:
        SpeechContainerError: it is not such a file.
    """
    try:
        with wave.open(io.BytesIO(wav[:4] + b"\xff" * 4 + wav[8:])) as file:
            channels, sample_bytes, rate_hz, frames, *_ = file.getparams()
            samples: bytes = file.readframes(frames)
    except (wave.Error, EOFError) as error:
        message = f"speech container: the answer is not a WAV file with audio: {error!r}"
        raise SpeechContainerError(message) from error
    if (channels, sample_bytes, rate_hz) != (1, 2, SAMPLE_RATE_HZ):
        raise SpeechContainerError(
            f"speech container: the WAV file has {channels} channels of {8 * sample_bytes} bits at "
            f"{rate_hz} Hz, not mono 16-bit PCM at {SAMPLE_RATE_HZ} Hz"
        )
    return samples[: len(samples) // sample_bytes * sample_bytes]


def describe(error: botocore.exceptions.ClientError) -> SpeechError:
    """Say what an error of `InvokeEndpoint` blames."""
    details = error.response.get("Error", {})
    message = f"{details.get('Code')}: {details.get('Message')}"
    if details.get("Code") == "ModelError":
        own = _containers_own(error.response)
        return own or SpeechContainerError(f"speech container: {message}")
    if details.get("Code") in ("ValidationError", "InputValidationError"):
        return SpeechInputError(f"SageMaker runtime: {message}")
    return SpeechConnectionError(f"SageMaker runtime: {message}")


def _containers_own(response: dict[str, object]) -> SpeechError | None:
    """The error in the container's answer, if that is JSON with `code` and `message`."""
    try:
        body = json.loads(str(response.get("OriginalMessage")))
    except ValueError:
        return None
    if isinstance(body, dict) and isinstance(body.get("message"), str) and "code" in body:
        return refusal(str(body["code"]), body["message"])
    return None
