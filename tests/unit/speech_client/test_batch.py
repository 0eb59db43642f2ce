"""The audio and the errors of the batch route."""

import io
import struct
import wave
from typing import Any

import pytest
from aws_sdk_sagemaker_runtime_http2.models import ModelError
from botocore.exceptions import ClientError

from speech_client.batch import describe, pcm_of_wav
from speech_client.endpoint import describe as describe_stream
from speech_client.errors import (
    SpeechConnectionError,
    SpeechContainerError,
    SpeechError,
    SpeechInputError,
)

SAMPLES = bytes(range(200))


def wav(rate_hz: int = 24_000, channels: int = 1, sample_bytes: int = 2) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setframerate(rate_hz)
        writer.setnchannels(channels)
        writer.setsampwidth(sample_bytes)
        writer.writeframes(SAMPLES)
    return file.getvalue()


def test_the_header_does_not_become_a_click() -> None:
    """44 bytes of header played as samples are audible."""
    assert pcm_of_wav(wav()) == SAMPLES


@pytest.mark.parametrize("size", [0xFFFFFFFF, 0x7FFFFFFF, 201])
def test_a_streamed_header_with_an_unknown_length(size) -> None:
    """A server that streams cannot know the length when it writes the header."""
    data = wav()
    streamed = data[:40] + struct.pack("<I", size) + data[44:]
    assert pcm_of_wav(streamed) == SAMPLES


def test_other_chunks_before_the_audio_are_passed_over() -> None:
    data = wav()
    extra = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    assert pcm_of_wav(data[:36] + extra + data[36:]) == SAMPLES


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'{"error": "no"}',
        wav()[:36],
        wav(rate_hz=48_000),
        wav(channels=2),
        wav(sample_bytes=1),
    ],
)
def test_anything_else_is_an_error_of_the_container(data) -> None:
    """Played as 24 kHz mono, it would be noise or speech at the wrong pitch."""
    with pytest.raises(SpeechContainerError, match="WAV"):
        pcm_of_wav(data)


@pytest.mark.parametrize(
    ("code", "original", "wanted"),
    [
        ("ModelError", '{"code": "unknown_voice", "message": "no x"}', SpeechInputError),
        ("ModelError", '{"code": "busy", "message": "x"}', SpeechContainerError),
        ("ModelError", "", SpeechContainerError),
        ("ModelError", "[1]", SpeechContainerError),
        ("ModelError", '{"message": 7, "code": 1}', SpeechContainerError),
        ("ValidationError", None, SpeechInputError),
        ("AccessDeniedException", None, SpeechConnectionError),
        ("ServiceUnavailable", None, SpeechConnectionError),
    ],
)
def test_errors_name_the_part_that_failed(code, original, wanted) -> None:
    """A wrong voice is the caller's mistake, and an outage is not."""
    response = {"Error": {"Code": code, "Message": "no x"}, "OriginalMessage": original}
    error: SpeechError = describe(ClientError(response, "InvokeEndpoint"))
    assert type(error) is wanted
    assert str(error)


def test_the_containers_own_message_is_shown_without_its_json() -> None:
    """SageMaker quotes the container's JSON, but an error message should contain only its text."""
    quoted = '{"code": "busy", "message": "60 s of speech are queued"}'
    wrapped = f'Received server error (503) from primary with message "{quoted}".'
    response: Any = {
        "Error": {"Code": "ModelError", "Message": wrapped},
        "OriginalStatusCode": 503,
        "OriginalMessage": quoted,
    }
    busy = describe(ClientError(response, "InvokeEndpoint"))
    assert str(busy) == "speech container: 60 s of speech are queued (error code busy)"
    response |= {"OriginalMessage": '{"message": "no such route"}', "LogStreamArn": "arn:aws:logs"}
    assert str(describe(ClientError(response, "InvokeEndpoint"))) == (
        "speech container answered HTTP 503: no such route; the container's log stream is "
        "arn:aws:logs"
    )
    stream = ModelError(message=wrapped, original_status_code=503, original_message=quoted)
    assert str(describe_stream(stream)) == str(busy)
