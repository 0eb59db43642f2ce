"""What can go wrong between a client and the speech container, by what failed."""


class SpeechError(Exception):
    """Speech failed; the subclass says where.

    Attributes:
        code: A short word for programs; the agent passes it on to its client.
    """

    code = "speech"


class SpeechConnectionError(SpeechError):
    """The SageMaker runtime cannot be reached, refused the caller, or its connection was lost."""

    code = "speech_connection"


class SpeechTimeoutError(SpeechConnectionError):
    """Nothing came through in time; from here a hung container looks like a hung SageMaker."""


class SpeechContainerError(SpeechError):
    """The SageMaker runtime answered, but the container behind it failed or went away."""

    code = "speech_container"


class SpeechInputError(SpeechError):
    """The request cannot be spoken: bad text, voice or endpoint name.

    Args:
        message: What is wrong, for people.
        code: The container's own code where it gave one (`unknown_voice`, `too_long`, …).
    """

    def __init__(self, message: str, code: str = "speech_input") -> None:
        super().__init__(message)
        self.code = code


def refusal(code: str, message: str) -> SpeechError:
    """Return what the container's error `code` means: its own failure, or the caller's mistake."""
    if code in ("busy", "internal", "stale"):
        return SpeechContainerError(f"speech container: {code}: {message}")
    return SpeechInputError(message, code)
