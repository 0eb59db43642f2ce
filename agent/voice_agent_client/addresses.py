"""Where an agent is reached, and how requests to it are authorized."""

import ipaddress
import ssl
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

if TYPE_CHECKING:
    import botocore.session

SESSION_HEADER = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
MAX_PRESIGNED_S = 300
"""AgentCore developer guide, "Get started with bidirectional streaming using WebSocket"."""

NAME = "AgentCore"
_SERVICE = "bedrock-agentcore"
_EVENTS = {"Content-Type": "application/json", "Accept": "text/event-stream"}


@dataclass(frozen=True)
class Request:
    """The request that opens a connection.

    Attributes:
        name: Who is asked, for error messages.
        url: With its scheme; `ws` or `wss` for a WebSocket.
        headers: What authorizes the request.
        tls: Which authorities to trust; None for the library's default.
    """

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine, where no proxy leads."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"


class AgentCore:
    """An agent on AgentCore Runtime. One address is one session there: one conversation.

    Requests are signed with SigV4 (the `aws` extra installs what that needs), unless there is a
    `token`.

    Args:
        arn: The runtime's ARN; its Region is the one that is asked.
        qualifier: The name of one of the runtime's endpoints.
        session_id: 33 to 256 characters; None for a new one.
        token: A bearer token, for a runtime with JWT authorization.
        endpoint_url: Where AgentCore is; None for the Region's public address.
        ca_file: PEM file of the only authorities to trust; None for the library's default.
        session: A botocore session whose credentials sign; None for the usual sources.

    Raises:
        ValueError: The ARN or the session id is not one.
    """

    def __init__(
        self,
        arn: str,
        *,
        qualifier: str = "DEFAULT",
        session_id: str | None = None,
        token: str | None = None,
        endpoint_url: str | None = None,
        ca_file: str | None = None,
        session: "botocore.session.Session | None" = None,
    ) -> None:
        if arn.count(":") < 5:
            raise ValueError(f"arn {arn!r}: must be arn:aws:bedrock-agentcore:REGION:ACCOUNT:…")
        self._region = arn.split(":")[3]
        self.session_id = str(uuid.uuid4()) if session_id is None else session_id
        check_session_id(self.session_id)
        self._token = token
        base = endpoint_url or f"https://{_SERVICE}.{self._region}.amazonaws.com"
        self._runtime_url = f"{base}/runtimes/{quote(arn, safe='')}"
        self._qualifier = qualifier
        self._ca_file = ca_file
        self._session = session

    def presigned_url(self, expires_s: int = MAX_PRESIGNED_S) -> str:
        """Return a `wss://` URL that opens the agent's WebSocket without further credentials.

        Args:
            expires_s: For how many seconds it opens one, at most 300; the connection lasts longer.

        Raises:
            ValueError: `expires_s` is out of range.
            botocore.exceptions.BotoCoreError: There are no credentials to sign with.
        """
        if not 1 <= expires_s <= MAX_PRESIGNED_S:
            raise ValueError(f"expires_s {expires_s}: must be 1 to {MAX_PRESIGNED_S}")
        from botocore.auth import SigV4QueryAuth
        from botocore.awsrequest import AWSRequest

        query = urlencode({"qualifier": self._qualifier, SESSION_HEADER: self.session_id})
        url = f"{self._runtime_url}/ws?{query}"
        request = AWSRequest("GET", url, headers={"host": urlsplit(url).netloc})
        signer = SigV4QueryAuth(self._credentials(), _SERVICE, self._region, expires=expires_s)
        signer.add_auth(request)
        return str(request.url).replace("http", "ws", 1)

    def websocket(self) -> Request:
        """Return the request that opens `/ws`; blocks while credentials are looked up."""
        if self._token is None:
            return Request(NAME, self.presigned_url(), tls=self._tls())
        query = urlencode({"qualifier": self._qualifier})
        url = f"{self._runtime_url}/ws?{query}".replace("http", "ws", 1)
        return Request(NAME, url, self._headers(), self._tls())

    def invocations(self, body: bytes) -> Request:
        """Return the request for `InvokeAgentRuntime`; blocks while credentials are looked up."""
        url = f"{self._runtime_url}/invocations?{urlencode({'qualifier': self._qualifier})}"
        headers = _EVENTS | self._headers()
        if self._token is None:
            from botocore.auth import SigV4Auth
            from botocore.awsrequest import AWSRequest

            signed = AWSRequest("POST", url, data=body, headers=headers)
            SigV4Auth(self._credentials(), _SERVICE, self._region).add_auth(signed)
            headers = dict(signed.headers.items())
        return Request(NAME, url, headers, self._tls())

    def _headers(self) -> dict[str, str]:
        bearer = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        return {SESSION_HEADER: self.session_id, **bearer}

    def _tls(self) -> ssl.SSLContext | None:
        if self._ca_file is None or not self._runtime_url.startswith("https"):
            return None
        return ssl.create_default_context(cafile=self._ca_file)

    def _credentials(self) -> Any:
        import botocore.exceptions
        import botocore.session

        session = self._session or botocore.session.get_session()
        if (credentials := session.get_credentials()) is None:
            raise botocore.exceptions.NoCredentialsError
        return credentials.get_frozen_credentials()


type Address = str | AgentCore
"""An agent's `http://host:port`, its WebSocket's `ws://` or `wss://` URL, or an `AgentCore`."""


def check_session_id(session_id: str) -> None:
    """Refuse a session id that AgentCore would refuse.

    Raises:
        ValueError: It does not have 33 to 256 characters.
    """
    if not 33 <= len(session_id) <= 256:
        raise ValueError(f"session id of {len(session_id)} characters: must have 33 to 256")


def websocket_request(address: Address) -> Request:
    """Return the request that opens a WebSocket; may block while credentials are looked up.

    Raises:
        ValueError: The address is not one.
        botocore.exceptions.BotoCoreError: There are no credentials to sign with.
    """
    if isinstance(address, AgentCore):
        return address.websocket()
    # What follows the path of a presigned URL is a secret.
    name = f"the agent at {address.partition('?')[0]}"
    match urlsplit(address).scheme:
        case "ws" | "wss":
            return Request(name, address)
        case "http" | "https":
            return Request(name, address.rstrip("/").replace("http", "ws", 1) + "/ws")
    raise ValueError(f"address {address!r}: must begin with http://, https://, ws:// or wss://")


def invocations_request(address: Address, body: bytes) -> Request:
    """Return the request that asks for server-sent events; may block as `websocket_request`.

    Raises:
        ValueError: The address is not one, or a WebSocket's.
        botocore.exceptions.BotoCoreError: There are no credentials to sign with.
    """
    if isinstance(address, AgentCore):
        return address.invocations(body)
    if urlsplit(address).scheme not in ("http", "https"):
        raise ValueError(f"address {address!r}: must begin with http:// or https://")
    return Request(f"the agent at {address}", address.rstrip("/") + "/invocations", _EVENTS)
