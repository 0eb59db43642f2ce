"""A container that does what a test tells it: speech protocol 1 on a real WebSocket server."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from websockets.asyncio.server import ServerConnection, serve

type Behavior = Callable[[ServerConnection, dict[str, object]], Awaitable[None]]


async def start(ws: ServerConnection, request_id: object, **more: str) -> None:
    event = {"type": "synthesis_start", "request_id": request_id, "voice": "af_heart"} | more
    await ws.send(json.dumps(event | {"format": "pcm", "sample_rate": 24000, "channels": 1}))


async def complete(ws: ServerConnection, request_id: object, unspoken: Sequence[str] = ()) -> None:
    event = {"type": "synthesis_complete", "request_id": request_id, "total_duration_s": 0.1}
    figures = {"elapsed_s": 0.1, "queued_s": 0.0, "first_audio_s": 0.1}
    await ws.send(json.dumps(event | figures | {"unspoken": list(unspoken)}))


async def speak(ws: ServerConnection, message: dict[str, object]) -> None:
    """Answer as the container does; the audio is the text, so that a test can read it.

    A cancel has nothing to stop: all of it was sent at once.
    """
    if message["type"] == "cancel":
        return
    await start(ws, message["request_id"])
    for word in str(message["text"]).split():
        await ws.send(word.encode())
    await complete(ws, message["request_id"])


class Container:
    """A WebSocket server with a given behavior; notes what it receives."""

    def __init__(self, behavior: Behavior) -> None:
        self.url = ""
        self.behavior = behavior
        self.connections: list[ServerConnection] = []
        self.received: list[dict[str, object]] = []

    def forget(self) -> None:
        """Start new notes; connections of before go on writing in the old ones."""
        self.connections = []
        self.received = []

    async def handle(self, ws: ServerConnection) -> None:
        self.connections.append(ws)
        received = self.received
        async for frame in ws:
            message = json.loads(frame)
            received.append(message)
            if message["type"] == "close":
                return
            await self.behavior(ws, message)


@asynccontextmanager
async def run_container(behavior: Behavior) -> AsyncIterator[Container]:
    container = Container(behavior)
    async with serve(container.handle, "127.0.0.1", 0, max_size=None) as server:
        container.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield container
