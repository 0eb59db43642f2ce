"""All conversations of the process, with their limit and their expiry."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from voice_agent.conversation import Conversation
from voice_agent.services import Services


class ConversationsFullError(Exception):
    """All conversations that the settings allow are in use."""


@dataclass
class _Entry:
    conversation: Conversation
    users: int = 0
    expiry: asyncio.TimerHandle | None = None  # set while no request uses the session

    def cancel_expiry(self) -> None:
        if self.expiry is not None:
            self.expiry.cancel()


class Conversations:
    """Opens conversations, at most `max_conversations` at a time over all transports.

    The conversation of a session keeps its history and its stream between requests. It is closed
    after `conversation_idle_s` seconds without a request. If a new conversation needs its place, it
    is closed earlier; the conversation that has been idle for longest is closed first.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        # The key is the session's id, or a unique object for a conversation without a session. The
        # least recently used conversations come first.
        self._entries: OrderedDict[object, _Entry] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self, session_id: str | None = None) -> AsyncGenerator[Conversation]:
        """Yield the conversation of the session, which is created if it does not exist.

        A conversation without a session is closed on exit. Entering the context does not await.

        Raises:
            ConversationsFullError: A new conversation is needed, and all are in use.
        """
        key = object() if session_id is None else session_id
        entry = self._entries.get(key)
        if entry is None:
            self._make_room()
            entry = self._entries[key] = _Entry(Conversation(self._services))
        self._entries.move_to_end(key)
        entry.cancel_expiry()
        entry.users += 1
        try:
            yield entry.conversation
        finally:
            if session_id is None:
                try:
                    await entry.conversation.close()
                finally:
                    self._entries.pop(key, None)
            else:
                self._leave(session_id, entry)

    async def close(self) -> None:
        """Close all conversations."""
        for key in list(self._entries):
            self._forget(key)
        await asyncio.gather(*self._closing)

    def _make_room(self) -> None:
        limit = self._services.settings.max_conversations
        if len(self._entries) < limit:
            return
        for key, entry in self._entries.items():
            if entry.users == 0:
                self._forget(key)
                return
        raise ConversationsFullError(
            f"all {limit} conversations that this agent accepts are in use; try again later"
        )

    def _leave(self, session_id: str, entry: _Entry) -> None:
        entry.users -= 1
        if entry.users == 0 and self._entries.get(session_id) is entry:
            idle_s = self._services.settings.conversation_idle_s
            loop = asyncio.get_running_loop()
            entry.expiry = loop.call_later(idle_s, self._forget, session_id)

    def _forget(self, key: object) -> None:
        entry = self._entries.pop(key)
        entry.cancel_expiry()
        task = asyncio.create_task(entry.conversation.close(), name="close conversation")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
