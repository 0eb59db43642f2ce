"""`presign`: signs an address that opens the agent's WebSocket without credentials."""

from ops.agentcore import agent_address
from ops.aws import Account, OpsError
from voice_agent_client.addresses import check_session_id


def presign(account: Account, *, session_id: str | None, expires_s: int, qualifier: str) -> str:
    """Return a presigned `wss://` address.

    Args:
        account: The account whose credentials sign the address. They need the permission
            `bedrock-agentcore:InvokeAgentRuntimeWithWebSocketStream`.
        session_id: The id of the conversation, 33 to 256 characters; None for a new one.
        expires_s: The seconds in which a connection can be opened, at most 300. The connection may
            last longer.
        qualifier: The endpoint of the runtime.

    Raises:
        OpsError: The agent is not deployed, it requires tokens instead, or an argument is out of
            range.
    """
    try:
        if session_id is not None:
            check_session_id(session_id)
        arn = _signed_runtime_arn(account)
        address = agent_address(account, arn, qualifier=qualifier, session_id=session_id)
        return address.presigned_url(expires_s)
    except ValueError as error:
        raise OpsError(str(error), "see `python -m ops presign --help`") from error


def _signed_runtime_arn(account: Account) -> str:
    """Return the ARN of the environment's runtime, which must accept signatures."""
    if account.settings.agent.auth == "jwt":
        raise OpsError(
            'agent.auth is "jwt", so there is nothing to sign',
            "let the browser pass its token as the subprotocols "
            "base64UrlBearerAuthorization.<base64url of the token> and "
            "base64UrlBearerAuthorization",
        )
    runtime = account.runtime()
    if runtime is None:
        raise OpsError(
            f"there is no runtime {account.settings.runtime_name} in {account.region}",
            account.cdk("deploy"),
        )
    return str(runtime["agentRuntimeArn"])
