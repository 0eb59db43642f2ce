"""The address of an environment's agent for `voice_agent_client`."""

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
    """Return the address of a runtime, with the configuration of the AWS SDKs.

    Args:
        account: The account whose credentials sign the requests.
        arn: The ARN of the runtime.
        qualifier: The name of one of the runtime's endpoints.
        session_id: The id of the conversation; None for a new one.
        token: A bearer token, for a runtime with JWT authorization; None for SigV4.

    Raises:
        ValueError: `session_id` is not a valid session id.
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
