"""AgentCore's data plane before one local agent, as far as its callers see it: who may come in, and
where `/invocations` and `/ws` are found. Sigv4 and presigned addresses are verified, a bearer token
is compared.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from urllib.parse import parse_qsl, urlencode

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from local.aws_wire.errors import ApiError
from local.aws_wire.sigv4 import Verifier

SESSION = "x-amzn-bedrock-agentcore-runtime-session-id"
POLICY_VIOLATION = 1008


class Front:
    """The data plane.

    Attributes:
        sessions: ids of the sessions that came, in order.
        refused: why callers were sent away.
    """

    def __init__(self, agent_url: str, verifier: Verifier, token: str) -> None:
        self.sessions: list[str] = []
        self.refused: list[str] = []
        self._agent_url = agent_url
        self._verifier = verifier
        self._token = token
        self.app = Starlette(
            routes=[
                Route("/runtimes/{arn:path}/invocations", self._invoke, methods=["POST"]),
                WebSocketRoute("/runtimes/{arn:path}/ws", self._converse),
            ]
        )

    async def _invoke(self, request: Request) -> Response:
        body = await request.body()
        target = request.scope["raw_path"].decode() + "?" + request.url.query
        headers = {name.lower(): value for name, value in request.headers.items()}
        try:
            if headers.get("authorization") != f"Bearer {self._token}":
                self._verify("POST", target, headers, body)
            self._enter(headers.get(SESSION, ""))
        except ApiError as error:
            self.refused.append(str(error))
            return Response(error.body, status_code=error.status, headers=error.headers)
        except ValueError as error:
            return JSONResponse({"message": str(error)}, status_code=400)

        async def events() -> AsyncIterator[bytes]:
            url = f"{self._agent_url}/invocations"
            async with (
                httpx.AsyncClient(timeout=60) as http,
                http.stream("POST", url, content=body) as answer,
            ):
                async for chunk in answer.aiter_bytes():
                    yield chunk

        return StreamingResponse(events(), media_type="text/event-stream")

    async def _converse(self, websocket: WebSocket) -> None:
        query = dict(parse_qsl(websocket.url.query))
        headers = {name.lower(): value for name, value in websocket.headers.items()}
        try:
            if headers.get("authorization") == f"Bearer {self._token}":
                self._enter(headers.get(SESSION, ""))
            else:
                self._verify_presigned(websocket, query, headers)
                self._enter({key.lower(): value for key, value in query.items()}.get(SESSION, ""))
        except (ApiError, KeyError, ValueError) as error:
            self.refused.append(str(error))
            await websocket.close(POLICY_VIOLATION)
            return
        await websocket.accept()
        async with connect(self._agent_url.replace("http", "ws", 1) + "/ws") as agent:

            async def answers() -> None:
                async for frame in agent:
                    if isinstance(frame, bytes):
                        await websocket.send_bytes(frame)
                    else:
                        await websocket.send_text(frame)

            forwarding = asyncio.create_task(answers())
            with contextlib.suppress(WebSocketDisconnect, ConnectionClosed):
                while True:
                    await agent.send(await websocket.receive_text())
            forwarding.cancel()

    def _verify_presigned(
        self, websocket: WebSocket, query: dict[str, str], headers: dict[str, str]
    ) -> None:
        """A presigned address says in its query what `Authorization` says in a header."""
        if not 1 <= int(query["X-Amz-Expires"]) <= 300:
            raise ValueError(f"X-Amz-Expires {query['X-Amz-Expires']}: must be 1 to 300")
        rest = {name: value for name, value in query.items() if name != "X-Amz-Signature"}
        target = websocket.scope["raw_path"].decode() + "?" + urlencode(rest)
        authorization = (
            f"{query['X-Amz-Algorithm']} Credential={query['X-Amz-Credential']}, "
            f"SignedHeaders={query['X-Amz-SignedHeaders']}, Signature={query['X-Amz-Signature']}"
        )
        signed = headers | {"authorization": authorization, "x-amz-date": query["X-Amz-Date"]}
        self._verify("GET", target, signed, b"")

    def _verify(self, method: str, target: str, headers: dict[str, str], body: bytes) -> None:
        self._verifier.verify(method, target, headers, body)

    def _enter(self, session_id: str) -> None:
        if not 33 <= len(session_id) <= 256:
            raise ValueError(f"session id of {len(session_id)} characters")
        self.sessions.append(session_id)


@contextlib.asynccontextmanager
async def serving(front: Front) -> AsyncIterator[str]:
    """Serve until the end of the block; the value is the address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(front.app, lifespan="off", log_config=None))
        task = asyncio.create_task(server.serve([listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
