"""One speech session as a state machine, without sockets, clocks or threads.

The caller passes in what arrives (`read`, `take`), what is synthesized (`add_chunk`, `complete`,
`fail`) and the time. It asks for the next utterance to speak (`next_utterance`) and the next frame
to write (`next_frame`). Requests are answered in order and their frames never interleave, because
only the frames of the oldest request are handed out. Refusals and cancellations are sent at once,
ahead of any audio.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from kokoro_server import codecs
from kokoro_server.admission import BUSY, Admission
from kokoro_server.counters import Counters
from kokoro_server.messages import (
    Cancel,
    Cancelled,
    Close,
    Error,
    GoingAway,
    ProtocolError,
    ServerMessage,
    Speak,
    SynthesisComplete,
    SynthesisStart,
    Timing,
    decode,
)
from kokoro_server.playback import Listener
from kokoro_server.settings import Settings
from kokoro_server.utterance import SpeechChunk, SpeechRequest, Utterance, UtteranceState
from kokoro_voice.voices import Voices

CLOSE_NORMAL = 1000
CLOSE_GOING_AWAY = 1001
MAX_WAITING_EVENTS = 64
QUIET_S = 2.0
"""After a shutdown was announced, a session without activity for this long is closed."""

type Message = SpeechRequest | Cancel | Close | ProtocolError
"""A client's message, or the error of one that is refused."""


@dataclass
class _Answer:
    """The answer to one utterance, from `synthesis_start` to its last event."""

    utterance: Utterance
    frames: deque[bytes | Timing] = field(default_factory=deque)
    """Frames that wait for the writer."""
    started_s: float | None = None
    """When `synthesis_start` was passed to the writer."""
    sent_bytes: int = 0

    @property
    def sent_duration_s(self) -> float:
        """Seconds of its audio that were passed to the writer."""
        return round(codecs.duration_s(self.sent_bytes), 4)


class Session:
    """The state of one WebSocket connection.

    Args:
        settings: The server's settings.
        voices: The voices that are served.
        counters: Counters of accepted, completed, cancelled, failed and refused requests.
        admission: Shared with the other sessions.
        now_s: The time the session opened, on the clock of every later `now_s`.
    """

    def __init__(
        self,
        settings: Settings,
        voices: Voices,
        counters: Counters,
        admission: Admission,
        now_s: float,
    ) -> None:
        self.close_code: int | None = None
        """Set when the session is over. Close with it once `next_frame` returns None."""
        self._settings = settings
        self._voices = voices
        self._counters = counters
        self._admission = admission
        self._listener = Listener()
        self._opened_s = now_s
        self._active_s = now_s
        # The answers to accepted utterances, in order, until their last event is handed out.
        self._answers: dict[Utterance, _Answer] = {}
        self._events: deque[ServerMessage] = deque()
        self._buffered_bytes = 0
        self._generated_ids = 0
        self._leaving: GoingAway | None = None
        self._leave_at_s = 0.0

    @property
    def has_room(self) -> bool:
        """Whether synthesis may continue: not too much audio is waiting for a slow reader."""
        return codecs.duration_s(self._buffered_bytes) < self._settings.max_buffered_audio_s

    @property
    def can_receive(self) -> bool:
        """Whether to read more: not too many events are waiting for a peer that does not read."""
        return len(self._events) < MAX_WAITING_EVENTS

    def read(self, frame: str | bytes, unix_s: float) -> Message:
        """Decode one frame from the client, for `take`.

        This changes nothing, so any thread may do it. The time it takes is proportional to the
        length of the frame.

        Args:
            frame: The text of a text frame or the bytes of a binary frame.
            unix_s: The time of day, for comparison with `request_timestamp`.

        Returns:
            The message; an error if it is refused.
        """
        try:
            message = decode(frame)
        except ProtocolError as error:
            return error
        if not isinstance(message, Speak):
            return message
        try:
            return self._request(message, unix_s)
        except ProtocolError as error:
            return ProtocolError(error.code, error.message, message.request_id)

    def take(self, message: Message, now_s: float) -> None:
        """Process the next message from the client. An error is answered with an `error` event.

        Args:
            message: What `read` returned.
            now_s: The time on the session's clock.
        """
        if self.close_code is not None:
            return
        self._active_s = now_s
        try:
            match message:
                case SpeechRequest() as request:
                    self._accept(request, now_s)
                case Cancel(request_id=request_id):
                    oldest = next(iter(self._answers), None)
                    if request_id is None or (
                        oldest is not None and request_id == oldest.request.request_id
                    ):
                        self._listener.interrupt(now_s)
                    self._cancel(request_id)
                case Close():
                    self._close(CLOSE_NORMAL)
                case ProtocolError():
                    raise message
        except ProtocolError as error:
            self._counters.refused += 1
            self._events.append(
                Error(request_id=error.request_id, code=error.code, message=error.message)
            )

    def next_utterance(self, now_s: float) -> Utterance | None:
        """Begin the next utterance and return it, or None if there is none.

        Call this only after the previous utterance has ended.
        """
        for utterance in self._answers:
            if utterance.state is UtteranceState.QUEUED:
                utterance.begin(now_s)
                return utterance
        return None

    def add_chunk(self, utterance: Utterance, chunk: SpeechChunk) -> None:
        """Queue audio, preceded by the times of its words if the request wants them.

        This has no effect if the utterance was cancelled.
        """
        answer = self._answers.get(utterance)
        if answer is None:
            return
        request = utterance.request
        if chunk.words and request.timestamps:
            answer.frames.append(Timing(request_id=request.request_id, words=tuple(chunk.words)))
        answer.frames.extend(codecs.frames(chunk.pcm))
        self._buffered_bytes += len(chunk.pcm)

    def complete(self, utterance: Utterance) -> None:
        """End an utterance whose audio has all been added, unless it was cancelled."""
        if not utterance.ended:
            utterance.complete()
            self._admission.end(utterance)

    def fail(self, utterance: Utterance, error: ProtocolError) -> None:
        """End an utterance unless it was cancelled. The audio added so far precedes the error."""
        if not utterance.ended:
            utterance.fail(error)
            self._admission.end(utterance)

    def next_frame(self, now_s: float) -> str | bytes | None:
        """Return the next frame to write, text or audio, or None if there is none."""
        if self._events:
            return self._events.popleft().encode()
        answer = next(iter(self._answers.values()), None)
        if answer is None:
            return None
        utterance = answer.utterance
        complete = utterance.state is UtteranceState.COMPLETE
        if answer.started_s is None and (answer.frames or complete):
            answer.started_s = now_s
            request = utterance.request
            return SynthesisStart(
                request_id=request.request_id, voice=request.voice.name, warning=request.warning
            ).encode()
        if answer.frames:
            self._active_s = now_s
            frame = answer.frames.popleft()
            if isinstance(frame, Timing):
                return frame.encode()
            answer.sent_bytes += len(frame)
            self._buffered_bytes -= len(frame)
            return frame
        if utterance.ended:
            del self._answers[utterance]
            return self._last_event(answer, now_s).encode()
        return None

    def shut_down(self, now_s: float, deadline_s: float) -> None:
        """Announce to the client that the server stops in `deadline_s` seconds."""
        if self.close_code is None:
            self._announce("shutdown", now_s, deadline_s)

    def tick(self, now_s: float) -> None:
        """Announce or carry out what is due: the idle close, the session limit or a shutdown."""
        if self.close_code is not None:
            return
        quiet_s = 0.0 if self._answers or self._events else now_s - self._active_s
        notice_s = self._settings.notice_s
        if self._leaving is not None:
            if (
                self._leaving.reason == "idle"
                and quiet_s < self._settings.idle_timeout_s - notice_s
            ):
                self._leaving = None
            elif now_s >= self._leave_at_s or (
                self._leaving.reason == "shutdown" and quiet_s >= QUIET_S
            ):
                self._close(CLOSE_GOING_AWAY)
            return
        left_s = self._opened_s + self._settings.session_limit_s - now_s
        if left_s <= notice_s:
            self._announce("session_limit", now_s, max(0.0, left_s))
        elif quiet_s >= self._settings.idle_timeout_s - notice_s:
            self._announce("idle", now_s, notice_s)

    def connection_lost(self) -> None:
        """Cancel everything in flight. The peer has gone, so nothing more is sent."""
        self._cancel(None)
        self._events.clear()

    def _request(self, speak: Speak, unix_s: float) -> SpeechRequest:
        request = SpeechRequest.of(speak, self._voices, self._settings)
        if speak.request_timestamp is not None:
            age_s = unix_s - speak.request_timestamp
            if age_s > self._settings.max_request_age_s:
                raise ProtocolError(
                    "stale",
                    f"request_timestamp: the request is {age_s:.1f} s old, at most "
                    f"{self._settings.max_request_age_s} s are accepted; send it again with the "
                    "current time",
                )
        return request

    def _accept(self, request: SpeechRequest, now_s: float) -> None:
        self._name(request)
        utterance = Utterance(request, self._listener, now_s)
        if not self._admission.accept(utterance):
            raise ProtocolError("busy", BUSY, request.request_id)
        self._counters.requests += 1
        self._answers[utterance] = _Answer(utterance)

    def _name(self, request: SpeechRequest) -> None:
        """Give a request an id if the client gave none, unless it cannot be accepted."""
        request_id = request.request_id
        if len(self._answers) >= self._settings.max_queued_requests:
            raise ProtocolError(
                "busy",
                f"{len(self._answers)} requests of this session are in flight; wait until one is "
                "complete",
                request_id or None,
            )
        in_flight = {utterance.request.request_id for utterance in self._answers}
        if request_id in in_flight:
            raise ProtocolError(
                "invalid",
                f"request_id: {request_id!r} is already in flight; give another id",
                request_id,
            )
        while not request_id or request_id in in_flight:
            self._generated_ids += 1
            request_id = f"r{self._generated_ids}"
        request.request_id = request_id

    def _cancel(self, request_id: str | None) -> None:
        for utterance, answer in list(self._answers.items()):
            if request_id is not None and utterance.request.request_id != request_id:
                continue
            del self._answers[utterance]
            if not utterance.ended:
                utterance.cancel()
                self._admission.end(utterance)
            self._buffered_bytes -= sum(
                len(frame) for frame in answer.frames if isinstance(frame, bytes)
            )
            self._counters.cancelled += 1
            self._events.append(
                Cancelled(
                    request_id=utterance.request.request_id,
                    sent_duration_s=answer.sent_duration_s,
                )
            )

    def _close(self, code: int) -> None:
        self._cancel(None)
        self.close_code = code

    def _announce(
        self, reason: Literal["idle", "session_limit", "shutdown"], now_s: float, deadline_s: float
    ) -> None:
        self._leaving = GoingAway(reason=reason, deadline_s=round(deadline_s, 1))
        self._leave_at_s = now_s + deadline_s
        self._events.append(self._leaving)

    def _last_event(self, answer: _Answer, now_s: float) -> SynthesisComplete | Error:
        utterance = answer.utterance
        request_id = utterance.request.request_id
        if utterance.error is not None:
            self._counters.failed += 1
            return Error(
                request_id=request_id, code=utterance.error.code, message=utterance.error.message
            )
        assert utterance.began_s is not None
        assert answer.started_s is not None
        self._counters.completed += 1
        self._counters.unspoken_words += len(utterance.unspoken)
        self._active_s = now_s
        return SynthesisComplete(
            request_id=request_id,
            total_duration_s=answer.sent_duration_s,
            elapsed_s=round(now_s - utterance.received_s, 4),
            queued_s=round(utterance.began_s - utterance.received_s, 4),
            first_audio_s=round(answer.started_s - utterance.received_s, 4),
            unspoken=tuple(utterance.unspoken),
        )
