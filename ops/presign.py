"""`presign`: an address of the agent's WebSocket that a browser can open without credentials."""

from ops.agentcore import agent_address
from ops.aws import Account, OpsError
from voice_agent_client.addresses import check_session_id


def presign(account: Account, *, session_id: str | None, expires_s: int, qualifier: str) -> str:
    """The presigned `wss://` address.

    Args:
        account: Whose credentials sign; they need
            `bedrock-agentcore:InvokeAgentRuntimeWithWebSocketStream`.
        session_id: Of the conversation, 33 to 256 characters; None for a new one.
        expires_s: Until when the connection may be opened, at most 300; it may last longer.
        qualifier: The runtime's endpoint.

    Raises:
        OpsError: The agent is not deployed, takes tokens instead, or an argument is out of range.
    """
    try:
        if session_id is not None:
            check_session_id(session_id)
        arn = _signed_runtime_arn(account)
        address = agent_address(account, arn, qualifier=qualifier, session_id=session_id)
        return address.presigned_url(expires_s)
    except ValueError as error:
        raise OpsError(str(error)) from error


def _signed_runtime_arn(account: Account) -> str:
    """The ARN of the environment's runtime, which must take signatures."""
    if account.settings.agent.auth == "jwt":
        raise OpsError(
            'agent.auth is "jwt": a browser connects with its token as the subprotocols '
            "base64UrlBearerAuthorization.<base64url of the token> and base64UrlBearerAuthorization"
        )
    runtime = account.runtime()
    if runtime is None:
        raise OpsError(
            f"there is no runtime {account.settings.runtime_name} in {account.region}: "
            f"{account.cdk('deploy')}"
        )
    return str(runtime["agentRuntimeArn"])
