"""A conversation, with its history, its speech session and one reply at a time."""

from speech_client.session import SpeechSession
from voice_agent.messages import ErrorEvent, Invocation
from voice_agent.model import ChatHistory
from voice_agent.services import Services
from voice_agent.turn import Emit, Turn, TurnRequest


class Conversation:
    """Answers prompts one after the other, with one history and one speech session."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._history = ChatHistory(services.model, services.settings)
        self._speech = SpeechSession(
            services.speech, silence_timeout_s=services.settings.speech_silence_timeout_s
        )
        self._turn: Turn | None = None  # the running or the most recent turn
        self._turn_count = 0

    async def reply(self, invocation: Invocation, request_id: str, emit: Emit) -> None:
        """Answer one prompt. Pass the events of the reply to `emit`, as `Turn.run` does.

        While a reply is running, another prompt is refused with the error `busy`.
        """
        if self._turn is not None and self._turn.is_running:
            message = "a reply is still running; interrupt it or wait for its agent_end"
            await emit(ErrorEvent(request_id=request_id, code="busy", message=message))
            return
        self._turn_count += 1
        request = TurnRequest(invocation, request_id, f"turn-{self._turn_count}")
        self._turn = Turn(request, emit, self._history, self._speech, self._services)
        # Nothing has been awaited so far, so an interrupt directly after the prompt finds the turn.
        await self._turn.run()

    async def interrupt(self, played_s: float, request_id: str, emit: Emit) -> None:
        """Interrupt the running or the most recent reply, as `Turn.interrupt` does.

        Args:
            played_s: Seconds of the reply's audio that the listener has heard.
            request_id: The id of the error event that is sent if there has been no reply.
            emit: Sends that error event.
        """
        if self._turn is None:
            message = "interrupt: there is no reply to interrupt; send a prompt first"
            await emit(ErrorEvent(request_id=request_id, code="invalid", message=message))
        else:
            await self._turn.interrupt(played_s)

    async def close(self) -> None:
        """Stop the running reply and close the speech session."""
        if self._turn is not None:
            await self._turn.stop()
        await self._speech.close()
