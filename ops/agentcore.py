"""An AgentCore runtime as its callers reach it: server-sent events and a WebSocket."""

import base64
import json
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from botocore import UNSIGNED
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import NoCredentialsError
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from ops.aws import Account, OpsError
from stacks.names import QUALIFIER

SESSION_HEADER = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"
MAX_PRESIGNED_S = 300
"""AgentCore developer guide, "Get started with bidirectional streaming using WebSocket"."""

# A cold start of the microVM, then a reply of the model.
ANSWER_TIMEOUT_S = 120.0
OPEN_TIMEOUT_S = 60.0

type Event = dict[str, Any]
"""An event of the agent's protocol; audio is `{"type": "audio", "data": bytes}`."""


class AgentError(Exception):
    """The runtime cannot be reached, refuses the caller, or ended before its reply."""


class AgentRuntime:
    """One runtime of AgentCore.

    Args:
        account: whose credentials sign.
        arn: the runtime's.
        qualifier: the name of one of its endpoints.
        token: a bearer token, for a runtime with JWT authorization; None for SigV4.
    """

    def __init__(
        self,
        account: Account,
        arn: str,
        *,
        qualifier: str = QUALIFIER,
        token: str | None = None,
    ) -> None:
        self._account = account
        self._arn = arn
        self._qualifier = qualifier
        self._token = token
        signing = {"signature_version": UNSIGNED} if token else {}
        self._client = account.session.client(
            "bedrock-agentcore",
            config=Config(
                read_timeout=ANSWER_TIMEOUT_S, retries={"total_max_attempts": 1}, **signing
            ),
        )
        if token:
            # boto3 signs, or sends nothing: the token has to be put in by hand.
            self._client.meta.events.register(
                "before-sign.bedrock-agentcore.InvokeAgentRuntime",
                lambda request, **_: request.headers.add_header("Authorization", f"Bearer {token}"),
            )

    def presigned_url(self, session_id: str, expires_s: int = MAX_PRESIGNED_S) -> str:
        """A `wss://` address of the runtime's `/ws` that needs no further credentials.

        The same as `bedrock_agentcore`'s `generate_presigned_url`, which knows no other address
        than AWS's.

        Args:
            session_id: 33 to 256 characters; a session is one conversation's microVM.
            expires_s: until when a connection may be opened, at most 300.

        Raises:
            OpsError: an argument is out of range, or there are no credentials.
        """
        check_session_id(session_id)
        if not 1 <= expires_s <= MAX_PRESIGNED_S:
            raise OpsError(f"expires_s {expires_s}: must be 1 to {MAX_PRESIGNED_S}")
        credentials = self._account.session.get_credentials()
        if credentials is None:
            raise OpsError(f"{NoCredentialsError()}; log in (`aws sso login`) or set AWS_PROFILE")
        address = self._address({SESSION_HEADER: session_id})
        request = AWSRequest("GET", address, headers={"host": urlsplit(address).netloc})
        SigV4QueryAuth(
            credentials.get_frozen_credentials(),
            "bedrock-agentcore",
            self._account.region,
            expires=expires_s,
        ).add_auth(request)
        return str(request.url).replace("http", "ws", 1)

    def ask_sse(self, prompt: str, session_id: str) -> Iterator[Event]:
        """Ask over `InvokeAgentRuntime`; yields the events of the reply.

        Raises:
            ClientError, BotoCoreError: AgentCore cannot be reached or refuses.
            AgentError: the reply ended before `agent_end`.
        """
        answer = self._client.invoke_agent_runtime(
            agentRuntimeArn=self._arn,
            qualifier=self._qualifier,
            runtimeSessionId=session_id,
            contentType="application/json",
            accept="text/event-stream",
            payload=json.dumps({"prompt": prompt}),
        )
        for line in answer["response"].iter_lines(chunk_size=1024):
            if not line.startswith(b"data:"):
                continue
            event: Event = json.loads(line.removeprefix(b"data:"))
            if event["type"] == "audio_chunk":
                event = {"type": "audio", "data": base64.b64decode(event["data"])}
            yield event
            if event["type"] == "agent_end":
                return
        raise AgentError("the answer ended before agent_end")

    def ask_ws(self, prompt: str, session_id: str) -> Iterator[Event]:
        """Ask over the WebSocket: the events of the reply.

        Raises:
            AgentError: it cannot be opened, or ended before `agent_end`.
            OpsError: as `presigned_url` says.
        """
        if self._token:
            address = self._address({}).replace("http", "ws", 1)
            headers = {"Authorization": f"Bearer {self._token}", SESSION_HEADER: session_id}
        else:
            address, headers = self.presigned_url(session_id), {}
        try:
            with connect(
                address, additional_headers=headers, open_timeout=OPEN_TIMEOUT_S, max_size=2**20
            ) as socket:
                socket.send(json.dumps({"type": "prompt", "prompt": prompt}))
                while True:
                    frame = socket.recv(ANSWER_TIMEOUT_S)
                    event = (
                        {"type": "audio", "data": frame}
                        if isinstance(frame, bytes)
                        else json.loads(frame)
                    )
                    yield event
                    if event["type"] == "agent_end":
                        return
        except (WebSocketException, OSError) as error:  # TimeoutError is an OSError
            raise AgentError(str(error) or type(error).__name__) from error

    def _address(self, query: dict[str, str]) -> str:
        base = self._client.meta.endpoint_url  # follows AWS_ENDPOINT_URL_BEDROCK_AGENTCORE
        parameters = urlencode({"qualifier": self._qualifier, **query})
        return f"{base}/runtimes/{quote(self._arn, safe='')}/ws?{parameters}"


def new_session_id() -> str:
    """A session id nobody else has, of 42 characters."""
    return f"smoke-{uuid.uuid4()}"


def check_session_id(session_id: str) -> None:
    """Refuse a session id that AgentCore would.

    Raises:
        OpsError: it has not 33 to 256 characters.
    """
    if not 33 <= len(session_id) <= 256:
        raise OpsError(f"session id of {len(session_id)} characters: must have 33 to 256")
