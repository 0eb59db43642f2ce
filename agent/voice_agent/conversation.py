"""A conversation: its history, its speech session, and one reply at a time."""

from speech_client.session import SpeechSession
from voice_agent.messages import ErrorEvent, Invocation
from voice_agent.model import ChatHistory
from voice_agent.services import Services
from voice_agent.turn import Emit, Turn, TurnRequest


class Conversation:
    """Answers prompts, one after the other, over one history and one speech session."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._history = ChatHistory(services.model, services.settings)
        self._speech = SpeechSession(
            services.speech, silence_timeout_s=services.settings.speech_silence_timeout_s
        )
        self._turn: Turn | None = None  # the running or the last one
        self._turn_count = 0

    async def reply(self, invocation: Invocation, request_id: str, emit: Emit) -> None:
        """Answer one prompt through `emit`, as `Turn.run` does.

        While a reply is running, another prompt is refused with a `busy` error.
        """
        if self._turn is not None and self._turn.is_running:
            message = "a reply is still running: interrupt it or wait for its agent_end"
            await emit(ErrorEvent(request_id=request_id, code="busy", message=message))
            return
        self._turn_count += 1
        request = TurnRequest(invocation, request_id, f"turn-{self._turn_count}")
        self._turn = Turn(request, emit, self._history, self._speech, self._services)
        # Nothing has been awaited so far: an interrupt right behind the prompt finds the turn.
        await self._turn.run()

    async def interrupt(self, played_s: float, request_id: str, emit: Emit) -> None:
        """Interrupt the running or the last reply, as `Turn.interrupt` does.

        Args:
            played_s: How much of the reply's audio the listener has heard, in seconds.
            request_id: Names the error event when there is no reply at all.
            emit: Sends that event.
        """
        if self._turn is None:
            message = "interrupt: there is no reply to interrupt"
            await emit(ErrorEvent(request_id=request_id, code="invalid", message=message))
        else:
            await self._turn.interrupt(played_s)

    async def close(self) -> None:
        """Stop the running reply and close the speech session."""
        if self._turn is not None:
            await self._turn.stop()
        await self._speech.close()
