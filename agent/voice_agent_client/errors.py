"""What can go wrong between a client and the agent, by how it failed."""


class AgentError(Exception):
    """The agent, or the way to it, failed; the subclass says how, the message says who."""


class AgentUnreachableError(AgentError):
    """Nothing accepts the connection, or not in time."""


class AgentRefusedError(AgentError):
    """The agent, or AgentCore before it, answers with an HTTP status instead of a reply.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class AgentLostError(AgentError):
    """The connection ended before the reply did."""


class AgentSilentError(AgentError):
    """The agent sent nothing for the silence time-out."""


class AgentProtocolError(AgentError):
    """The agent sent something that is not an event of its protocol."""
