"""The errors of the agent's client. The class of an error says how the request failed."""

import json


class AgentError(Exception):
    """The agent or the connection to it failed.

    The subclass says how it failed. The message names the agent and the failure.
    """


class AgentUnreachableError(AgentError):
    """Nothing accepted the connection within the time-out, or it could not be attempted."""


class AgentRefusedError(AgentError):
    """The agent, or AgentCore in front of it, answered with an HTTP error status.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class AgentLostError(AgentError):
    """The connection ended before the reply was complete."""


class AgentSilentError(AgentError):
    """The agent sent nothing for the silence time-out."""


class AgentProtocolError(AgentError):
    """The agent sent data that is not an event of its protocol."""


def http_error_text(body: bytes | bytearray) -> str:
    """Return the message in the body of an HTTP error response.

    Returns:
        The messages of AgentCore's or the agent's JSON body. A body of any other kind is returned
        as it is.
    """
    text = body.decode(errors="replace").strip()
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict):
        return text
    messages = [value.get(key) for key in ("message", "Message", "error", "details")]
    return ": ".join(m for m in messages if isinstance(m, str) and m) or text
