"""The addresses of agents, and the authorization of requests to them."""

import ipaddress
import ssl
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from voice_agent_client.errors import AgentUnreachableError

if TYPE_CHECKING:
    import botocore.session

SESSION_HEADER = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
MAX_PRESIGNED_S = 300
"""The longest validity of a presigned URL, in seconds.

Source: AgentCore developer guide, "Get started with bidirectional streaming using WebSocket".
"""

NAME = "AgentCore"
_SERVICE = "bedrock-agentcore"
_EVENTS = {"Content-Type": "application/json", "Accept": "text/event-stream"}


@dataclass(frozen=True)
class Request:
    """The request that opens a connection.

    Attributes:
        name: The name of the agent, for error messages.
        url: The URL; its scheme is `ws` or `wss` for a WebSocket.
        headers: The headers that authorize the request.
        tls: The certificate authorities to trust; None for the library's default.
    """

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine, which is reached without a proxy."""
        host = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    @property
    def advice(self) -> str:
        """What to do if nothing accepts the connection."""
        if self.is_loopback:
            return "`make serve` starts the agent, on port 8080 unless PORT= names another one"
        return "check that it is running and that the address is right"


class AgentCore:
    """The address of an agent on AgentCore Runtime.

    One address is one session on AgentCore, which is one conversation. Requests are signed with
    SigV4 unless there is a `token`. The extra `aws` installs the packages that sign.

    Args:
        arn: The runtime's ARN, which also determines the Region.
        qualifier: The name of one of the runtime's endpoints.
        session_id: The session's id, 33 to 256 characters; None for a new session.
        token: A bearer token, for a runtime with JWT authorization.
        endpoint_url: The URL of AgentCore; None for the Region's public address.
        ca_file: PEM file of the only certificate authorities to trust; None for the library's
            default.
        session: A botocore session with the credentials that sign; None for the usual sources.

    Raises:
        ValueError: The ARN or the session id is invalid.
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
            raise ValueError(
                f"arn {arn!r}: must be the runtime's ARN, "
                "arn:aws:bedrock-agentcore:REGION:ACCOUNT:runtime/NAME"
            )
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
            expires_s: Seconds for which the URL can open a connection, 1 to 300. An open connection
                outlives the URL.

        Raises:
            ValueError: `expires_s` is out of range.
            botocore.exceptions.BotoCoreError: There are no credentials to sign with.
        """
        if not 1 <= expires_s <= MAX_PRESIGNED_S:
            raise ValueError(f"expires_s {expires_s}: must be 1 to {MAX_PRESIGNED_S} seconds")
        from botocore.auth import SigV4QueryAuth
        from botocore.awsrequest import AWSRequest

        query = urlencode({"qualifier": self._qualifier, SESSION_HEADER: self.session_id})
        url = f"{self._runtime_url}/ws?{query}"
        request = AWSRequest("GET", url, headers={"host": urlsplit(url).netloc})
        signer = SigV4QueryAuth(self._credentials(), _SERVICE, self._region, expires=expires_s)
        signer.add_auth(request)
        return str(request.url).replace("http", "ws", 1)

    def websocket(self) -> Request:
        """Return the request that opens `/ws`. Blocks while botocore looks up the credentials.

        Raises:
            AgentUnreachableError: The file `ca_file` cannot be read.
            botocore.exceptions.BotoCoreError: There are no credentials to sign with.
        """
        if self._token is None:
            return Request(NAME, self.presigned_url(), tls=self._tls())
        query = urlencode({"qualifier": self._qualifier})
        url = f"{self._runtime_url}/ws?{query}".replace("http", "ws", 1)
        return Request(NAME, url, self._headers(), self._tls())

    def invocations(self, body: bytes) -> Request:
        """Return the request for `InvokeAgentRuntime`.

        Blocks while botocore looks up the credentials.

        Raises:
            AgentUnreachableError: The file `ca_file` cannot be read.
            botocore.exceptions.BotoCoreError: There are no credentials to sign with.
        """
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
        try:
            return ssl.create_default_context(cafile=self._ca_file)
        except OSError as error:  # ssl.SSLError is an OSError
            reason = "it contains no certificate in PEM format"
            if not isinstance(error, ssl.SSLError):
                reason = error.strerror or str(error)
            raise AgentUnreachableError(
                f"ca_file {self._ca_file!r}: {reason}; name a PEM file of certificate authorities"
            ) from error

    def _credentials(self) -> Any:
        import botocore.exceptions
        import botocore.session

        session = self._session or botocore.session.get_session()
        if (credentials := session.get_credentials()) is None:
            raise botocore.exceptions.NoCredentialsError
        return credentials.get_frozen_credentials()


type Address = str | AgentCore
"""An agent's URL (`http://host:port`), its WebSocket's URL (`ws://`, `wss://`) or `AgentCore`."""


def check_session_id(session_id: str) -> None:
    """Check the length of a session id, as AgentCore does.

    Raises:
        ValueError: The id does not have 33 to 256 characters.
    """
    if not 33 <= len(session_id) <= 256:
        raise ValueError(
            f"session id {session_id[:40]!r} has {len(session_id)} characters: "
            "it must have 33 to 256"
        )


def websocket_request(address: Address) -> Request:
    """Return the request that opens a WebSocket. May block while credentials are looked up.

    Raises:
        ValueError: The address has an unsupported scheme.
        AgentUnreachableError: The file `ca_file` of the address cannot be read.
        botocore.exceptions.BotoCoreError: There are no credentials to sign with.
    """
    if isinstance(address, AgentCore):
        return address.websocket()
    # The query of a presigned URL is a secret.
    name = f"the agent at {address.partition('?')[0]}"
    match urlsplit(address).scheme:
        case "ws" | "wss":
            return Request(name, address)
        case "http" | "https":
            return Request(name, address.rstrip("/").replace("http", "ws", 1) + "/ws")
    raise ValueError(
        f"agent address {address!r}: must begin with http://, https://, ws:// or wss://"
    )


def invocations_request(address: Address, body: bytes) -> Request:
    """Return the request that is answered with server-sent events.

    May block while credentials are looked up.

    Raises:
        ValueError: The address has an unsupported scheme, such as that of a WebSocket.
        AgentUnreachableError: The file `ca_file` of the address cannot be read.
        botocore.exceptions.BotoCoreError: There are no credentials to sign with.
    """
    if isinstance(address, AgentCore):
        return address.invocations(body)
    if urlsplit(address).scheme not in ("http", "https"):
        raise ValueError(f"agent address {address!r}: must begin with http:// or https://")
    return Request(f"the agent at {address}", address.rstrip("/") + "/invocations", _EVENTS)
