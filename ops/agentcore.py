"""The environment's agent, as `voice_agent_client` addresses it."""

from ops.aws import Account
from stacks.names import QUALIFIER
from voice_agent_client import AgentCore


def agent_address(
    account: Account,
    arn: str,
    *,
    qualifier: str = QUALIFIER,
    session_id: str | None = None,
    token: str | None = None,
) -> AgentCore:
    """The address of a runtime, reached and signed for as the AWS SDKs are configured.

    Args:
        account: Whose credentials sign.
        arn: The runtime's.
        qualifier: The name of one of its endpoints.
        session_id: The conversation's; None for a new one.
        token: A bearer token, for a runtime with JWT authorization; None for SigV4.

    Raises:
        ValueError: `session_id` is not one.
    """
    return AgentCore(
        arn,
        qualifier=qualifier,
        session_id=session_id,
        token=token,
        endpoint_url=account.client("bedrock-agentcore").meta.endpoint_url,
        ca_file=account.botocore_session.get_config_variable("ca_bundle"),
        session=account.botocore_session,
    )
