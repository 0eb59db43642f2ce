"""`presign`: an address of the agent's WebSocket that a browser can open without credentials."""

from ops.agentcore import AgentRuntime, check_session_id
from ops.aws import Account, OpsError


def presign(account: Account, *, session_id: str, expires_s: int, qualifier: str) -> str:
    """The presigned `wss://` address.

    Args:
        account: whose credentials sign; they need
            `bedrock-agentcore:InvokeAgentRuntimeWithWebSocketStream`.
        session_id: of the conversation, 33 to 256 characters.
        expires_s: until when the connection may be opened, at most 300; it may last longer.
        qualifier: the runtime's endpoint.

    Raises:
        OpsError: the agent is not deployed, takes tokens instead, or an argument is out of range.
    """
    check_session_id(session_id)
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
    agent = AgentRuntime(account, runtime["agentRuntimeArn"], qualifier=qualifier)
    return agent.presigned_url(session_id, expires_s)
