"""The errors of the speech client. The class of an error says which component failed."""

import json


class SpeechError(Exception):
    """Speech failed. The subclass says which component failed.

    Attributes:
        code: A short identifier for programs. The agent passes it on to its client.
    """

    code = "speech"


class SpeechConnectionError(SpeechError):
    """The SageMaker runtime is unreachable or refused the caller, or the connection was lost."""

    code = "speech_connection"


class SpeechTimeoutError(SpeechConnectionError):
    """No data arrived in time.

    The client cannot distinguish a container that hangs from a SageMaker runtime that hangs.
    """


class SpeechContainerError(SpeechError):
    """The SageMaker runtime answered, but the container behind it failed or went away."""

    code = "speech_container"


class SpeechInputError(SpeechError):
    """The request cannot be spoken: its text, its voice or the endpoint's name is wrong.

    Args:
        message: What is wrong, for people.
        code: The container's own code (`unknown_voice`, `too_long`, …) if it sent one.
    """

    def __init__(self, message: str, code: str = "speech_input") -> None:
        super().__init__(message)
        self.code = code


def refusal(code: str, message: str) -> SpeechError:
    """Return the exception for an error that the container reports.

    Args:
        code: The container's error code.
        message: The container's message.

    Returns:
        `SpeechContainerError` if the container itself failed or is overloaded, `SpeechInputError`
        if the request is wrong.
    """
    if code in ("busy", "internal", "stale"):
        return SpeechContainerError(f"speech container: {message} (error code {code})")
    return SpeechInputError(message, code)


def model_error(
    message: str | None,
    *,
    status: int | None = None,
    answer: str | None = None,
    log_stream: str | None = None,
) -> SpeechError:
    """Return the exception for SageMaker's `ModelError`, which wraps an answer of the container.

    Args:
        message: SageMaker's own message, which quotes the container's answer.
        status: HTTP status of the container's answer; None or 0 if there was no answer.
        answer: Body of the container's answer.
        log_stream: ARN of the container's log stream.
    """
    body = _json_object(answer)
    text = body.get("message")
    if isinstance(text, str) and "code" in body:
        return refusal(str(body["code"]), text)
    detail = text if isinstance(text, str) else answer or message
    failure = f"speech container answered HTTP {status}" if status else "speech container failed"
    log = f"; the container's log stream is {log_stream}" if log_stream else ""
    return SpeechContainerError(f"{failure}: {without_stop(detail)}{log}")


def without_stop(message: str | None) -> str:
    """Return another component's message without its final full stop, so that text can follow."""
    return (message or "no reason given").strip().removesuffix(".")


def _json_object(text: str | None) -> dict[str, object]:
    try:
        value = json.loads(text or "")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
