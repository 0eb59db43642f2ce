"""Addresses on AgentCore, and the signatures of requests to them."""

from urllib.parse import parse_qs, urlsplit

import botocore.exceptions
import botocore.session
import pytest

from local.aws_wire.sigv4 import Verifier
from voice_agent_client import AgentCore, AgentUnreachableError
from voice_agent_client.addresses import invocations_request, websocket_request

ARN = "arn:aws:bedrock-agentcore:eu-central-1:111122223333:runtime/agent-0123456789"
SESSION = "a-conversation-of-at-least-33-characters"


def session() -> botocore.session.Session:
    made = botocore.session.Session()
    made.set_credentials("AKIATEST", "secret", "a-session-token")
    return made


def test_a_request_is_signed_as_aws_verifies_it() -> None:
    """The slashes and colons of the ARN are encoded in the path, and again for the signature."""
    address = AgentCore(ARN, qualifier="live", session_id=SESSION, session=session())
    request = invocations_request(address, b'{"prompt": "Hello?"}')
    url = urlsplit(request.url)
    assert url.netloc == "bedrock-agentcore.eu-central-1.amazonaws.com"
    target = f"{url.path}?{url.query}"
    assert target == (
        "/runtimes/arn%3Aaws%3Abedrock-agentcore%3Aeu-central-1%3A111122223333%3A"
        "runtime%2Fagent-0123456789/invocations?qualifier=live"
    )
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert headers["x-amzn-bedrock-agentcore-runtime-session-id"] == SESSION
    assert headers["x-amz-security-token"] == "a-session-token"
    verifier = Verifier(
        "AKIATEST", "secret", "eu-central-1", "bedrock-agentcore", session_token="a-session-token"
    )
    verifier.verify("POST", target, headers | {"host": url.netloc}, b'{"prompt": "Hello?"}')


def test_a_websocket_is_opened_with_a_presigned_url() -> None:
    request = websocket_request(AgentCore(ARN, session_id=SESSION, session=session()))
    url = urlsplit(request.url)
    query = parse_qs(url.query)
    assert (url.scheme, url.path.rpartition("/")[2]) == ("wss", "ws")
    assert query["qualifier"] == ["DEFAULT"]
    assert query["X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"] == [SESSION]
    assert query["X-Amz-Security-Token"] == ["a-session-token"]
    assert request.headers == {}


@pytest.mark.parametrize("ask", [websocket_request, lambda a: invocations_request(a, b"{}")])
def test_with_a_token_nothing_is_signed(ask) -> None:
    """AgentCore refuses a request with both, and a token needs no AWS credentials."""
    request = ask(AgentCore(ARN, session_id=SESSION, token="a-token"))
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert headers["authorization"] == "Bearer a-token"
    assert headers["x-amzn-bedrock-agentcore-runtime-session-id"] == SESSION
    assert "X-Amz" not in request.url


def test_without_credentials_botocore_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = botocore.session.Session()
    monkeypatch.setattr(nobody, "get_credentials", lambda: None)
    with pytest.raises(botocore.exceptions.NoCredentialsError):
        websocket_request(AgentCore(ARN, session=nobody))


@pytest.mark.parametrize("expires_s", [0, 301])
def test_a_presigned_url_opens_for_five_minutes_at_most(expires_s: int) -> None:
    """AgentCore refuses URLs that are valid for longer, and a browser does not show the reason."""
    with pytest.raises(ValueError, match="must be 1 to 300"):
        AgentCore(ARN, session=session()).presigned_url(expires_s)


def test_a_conversation_without_a_name_gets_one_of_its_own() -> None:
    """A shared session would mix the conversations of two users."""
    first, second = AgentCore(ARN), AgentCore(ARN)
    assert first.session_id != second.session_id
    assert 33 <= len(first.session_id) <= 256


def test_what_agentcore_would_refuse_is_refused_here() -> None:
    with pytest.raises(ValueError, match="33 to 256"):
        AgentCore(ARN, session_id="short")
    with pytest.raises(ValueError, match="arn"):
        AgentCore("voice_agent_dev")


def test_only_aws_is_told_the_ca_file(tmp_path) -> None:
    """A plain http address has no TLS, and the libraries refuse a TLS configuration for it."""
    missing = str(tmp_path / "none.pem")
    address = AgentCore(ARN, token="t", endpoint_url="http://127.0.0.1:1", ca_file=missing)
    assert websocket_request(address).tls is None
    with pytest.raises(AgentUnreachableError, match=r"none\.pem"):
        websocket_request(AgentCore(ARN, token="t", ca_file=missing))


@pytest.mark.parametrize("ask", [websocket_request, lambda a: invocations_request(a, b"{}")])
@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "No such file or directory"), ("no PEM", "it contains no certificate in PEM format")],
)
def test_a_ca_file_that_cannot_be_read_is_named(ask, tmp_path, content, reason: str) -> None:
    """The TLS library's own error does not name the file, and is not an `AgentError`."""
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    address = AgentCore(ARN, token="a-token", ca_file=str(path))
    with pytest.raises(AgentUnreachableError) as error:
        ask(address)
    assert str(error.value).startswith(f"ca_file {str(path)!r}: {reason}; name a PEM file")
