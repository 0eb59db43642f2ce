"""All conversations of the process: their limit, and those that outlive one request."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from voice_agent.conversation import Conversation
from voice_agent.services import Services


class ConversationsFullError(Exception):
    """As many conversations as the settings allow are in use at this moment."""


class _Session:
    """One AgentCore session's conversation, and who uses it."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.users = 0
        self.expiry: asyncio.TimerHandle | None = None  # while nobody uses it

    def cancel_expiry(self) -> None:
        if self.expiry is not None:
            self.expiry.cancel()


class Conversations:
    """Opens conversations, at most `max_conversations` at a time over all transports.

    A session's conversation keeps its history and its stream between requests. It is closed after
    `conversation_idle_s` without one, or, the longest idle first, when its place is needed.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._sessions: OrderedDict[str, _Session] = OrderedDict()  # least recently used first
        self._without_session = 0
        self._closing: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self, session_id: str | None = None) -> AsyncGenerator[Conversation]:
        """Lend the session's conversation, a new one if it has none.

        A conversation without a session is closed on exit. Entering awaits nothing.

        Raises:
            ConversationsFullError: There is no room for a new one.
        """
        if session_id is None:
            self._make_room()
            self._without_session += 1
            conversation = Conversation(self._services)
            try:
                yield conversation
            finally:
                try:
                    await conversation.close()
                finally:
                    self._without_session -= 1
            return
        session = self._sessions.get(session_id)
        if session is None:
            self._make_room()
            session = self._sessions[session_id] = _Session(Conversation(self._services))
        self._sessions.move_to_end(session_id)
        session.cancel_expiry()
        session.users += 1
        try:
            yield session.conversation
        finally:
            session.users -= 1
            if session.users == 0 and self._sessions.get(session_id) is session:
                idle_s = self._services.settings.conversation_idle_s
                loop = asyncio.get_running_loop()
                session.expiry = loop.call_later(idle_s, self._forget, session_id)

    async def close(self) -> None:
        """Close the conversations of all sessions."""
        for session_id in list(self._sessions):
            self._forget(session_id)
        await asyncio.gather(*self._closing)

    def _make_room(self) -> None:
        limit = self._services.settings.max_conversations
        if len(self._sessions) + self._without_session < limit:
            return
        for session_id, session in self._sessions.items():
            if session.users == 0:
                self._forget(session_id)
                return
        raise ConversationsFullError(f"all {limit} conversations this agent can hold are taken")

    def _forget(self, session_id: str) -> None:
        session = self._sessions.pop(session_id)
        session.cancel_expiry()
        task = asyncio.create_task(session.conversation.close(), name="close conversation")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)
