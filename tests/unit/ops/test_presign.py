"""`ops presign`: an address that AgentCore accepts, and that no longer lives than it may."""

import datetime as dt
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from bedrock_agentcore.runtime.agent_core_runtime_client import AgentCoreRuntimeClient
from moto import mock_aws

from ops.agentcore import agent_address
from ops.aws import OpsError
from ops.presign import presign
from stacks.settings import load
from stacks.settings.agent import Jwt
from tests.control_plane import deploy
from tests.recorded import REGION, RecordedAccount

ARN = "arn:aws:bedrock-agentcore:us-east-1:111122223333:runtime/voice_agent_dev-0123456789"
SESSION = "a-conversation-of-at-least-33-characters"


@pytest.fixture
def account() -> Iterator[RecordedAccount]:
    with mock_aws():
        yield RecordedAccount(load("dev"))


def test_the_address_is_the_one_awss_own_client_makes(
    account: RecordedAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Host, path, query, signature: what AWS's library signs is what AgentCore verifies."""
    import botocore.auth

    now = dt.datetime(2026, 11, 30, 12, 0, tzinfo=dt.UTC)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_, **__: now)
    ours = agent_address(account, ARN, session_id=SESSION).presigned_url(120)
    library = AgentCoreRuntimeClient(REGION, session=account.session)
    theirs = library.generate_presigned_url(
        ARN, session_id=SESSION, endpoint_name="live", expires=120
    )
    assert ours == theirs
    assert ours.startswith("wss://bedrock-agentcore.us-east-1.amazonaws.com/runtimes/arn%3Aaws")
    query = parse_qs(urlsplit(ours).query)
    assert query["X-Amz-Expires"] == ["120"]
    assert query["X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"] == [SESSION]


@pytest.mark.parametrize("expires_s", [0, 301])
def test_it_lives_five_minutes_at_most(account: RecordedAccount, expires_s: int) -> None:
    """AgentCore refuses longer ones, in the browser, where nobody sees why."""
    deploy(account)
    with pytest.raises(OpsError, match="must be 1 to 300"):
        presign(account, session_id=SESSION, expires_s=expires_s, qualifier="live")


@pytest.mark.parametrize("session_id", ["short", "x" * 257])
def test_a_session_id_of_the_wrong_length_is_refused(
    account: RecordedAccount, session_id: str
) -> None:
    with pytest.raises(OpsError, match="33 to 256"):
        presign(account, session_id=session_id, expires_s=300, qualifier="live")


def test_a_runtime_that_takes_tokens_is_told_apart(account: RecordedAccount) -> None:
    """A presigned address of it is refused with 403, which says nothing."""
    jwt = Jwt(
        discovery_url="https://example.com/.well-known/openid-configuration",
        allowed_clients=("web",),
    )
    agent = account.settings.agent.model_copy(update={"auth": "jwt", "jwt": jwt})
    account.settings = account.settings.model_copy(update={"agent": agent})
    with pytest.raises(OpsError, match="base64UrlBearerAuthorization"):
        presign(account, session_id=SESSION, expires_s=300, qualifier="live")


def test_without_a_runtime_there_is_nothing_to_address(account: RecordedAccount) -> None:
    with pytest.raises(OpsError, match="deploy -c env=dev --all"):
        presign(account, session_id=SESSION, expires_s=300, qualifier="live")


def test_the_runtime_is_found_by_its_name(account: RecordedAccount) -> None:
    control = account.client("bedrock-agentcore-control")
    for name in ("voice_agent_dev_2", "voice_agent_dev"):
        control.create_agent_runtime(
            agentRuntimeName=name,
            agentRuntimeArtifact={"containerConfiguration": {"containerUri": "x"}},
            roleArn="arn:aws:iam::111122223333:role/x",
            networkConfiguration={"networkMode": "PUBLIC"},
        )
    found = account.runtime()
    assert found is not None
    assert found["agentRuntimeName"] == "voice_agent_dev"
    url = presign(account, session_id=SESSION, expires_s=300, qualifier="live")
    assert url.startswith("wss://")
