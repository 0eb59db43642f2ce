"""One speech session as a state machine: frames in, frames out, no sockets, clocks or threads.

The caller passes in what arrives (`receive`), what synthesis makes (`add_audio`, `finish`, `fail`)
and the time; it asks what to speak next (`next_utterance`) and what to write next (`next_frame`).
Requests are answered in order and their frames never interleave, because only those of the oldest
request are handed out. Refusals and cancellations overtake: they belong to a request, not to audio.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from kokoro_server.admission import BUSY, Admission, Demand
from kokoro_server.codecs import duration_s, frames
from kokoro_server.counters import Stats
from kokoro_server.messages import (
    Cancel,
    Cancelled,
    Close,
    Error,
    ErrorCode,
    GoingAway,
    Granularity,
    ProtocolError,
    ServerMessage,
    Speak,
    SynthesisComplete,
    SynthesisStart,
    Timing,
    Word,
    check_length,
    decode,
    resolve_voice,
)
from kokoro_server.scheduler import Listener
from kokoro_server.settings import Settings
from kokoro_voice.voices import Voice, Voices

CLOSE_NORMAL = 1000
CLOSE_GOING_AWAY = 1001
MAX_WAITING_EVENTS = 64
QUIET_S = 2.0
"""After a shutdown was announced, a session in which nothing happens for so long is closed."""


@dataclass(eq=False)
class Utterance:
    """One accepted request, from its arrival to its last event; only its session changes it."""

    request_id: str
    text: str
    voice: Voice
    speed: float
    granularity: Granularity
    timestamps: bool
    demand: Demand
    received_s: float
    dropped: bool = False
    """Cancelled: nothing more of it is sent, work on it is in vain."""
    work_began_s: float | None = None
    start_sent: bool = False
    frames: deque[bytes | Timing] = field(default_factory=deque)
    sent_bytes: int = 0
    first_audio_s: float = 0.0
    finished: bool = False
    error: Error | None = None

    @property
    def sent_duration_s(self) -> float:
        """Seconds of its audio that were handed out."""
        return round(duration_s(self.sent_bytes), 4)


class Session:
    """The state of one WebSocket connection.

    Args:
        settings: limits and times.
        voices: what `voice` may be.
        stats: where accepted, completed, cancelled, failed and refused requests are counted.
        admission: shared with the other sessions.
        now_s: the time the session opened, on the clock of every later `now_s`.
    """

    def __init__(
        self, settings: Settings, voices: Voices, stats: Stats, admission: Admission, now_s: float
    ) -> None:
        self.close_code: int | None = None
        """Set when the session is over: close with it once `next_frame` has nothing more."""
        self._settings = settings
        self._voices = voices
        self._stats = stats
        self._admission = admission
        self._listener = Listener()
        self._opened_s = now_s
        self._active_s = now_s
        self._utterances: deque[Utterance] = deque()
        self._events: deque[ServerMessage] = deque()
        self._buffered_bytes = 0
        self._ids_made = 0
        self._leaving: GoingAway | None = None
        self._leave_at_s = 0.0

    @property
    def has_room(self) -> bool:
        """Whether synthesis may go on: not too much audio waits for a slow reader."""
        return duration_s(self._buffered_bytes) < self._settings.max_buffered_audio_s

    @property
    def can_receive(self) -> bool:
        """Whether to read on: not too many answers wait for a peer that sends and does not read."""
        return len(self._events) < MAX_WAITING_EVENTS

    def receive(self, frame: str | bytes, now_s: float, unix_s: float) -> None:
        """Take one frame from the client. What is wrong with it becomes an `error` event.

        Args:
            frame: a text frame's text or a binary frame's bytes.
            now_s: the session's clock.
            unix_s: the time of day, to which `request_timestamp` is compared.
        """
        if self.close_code is not None:
            return
        self._active_s = now_s
        try:
            match decode(frame):
                case Speak() as speak:
                    self._accept(speak, now_s, unix_s)
                case Cancel(request_id=request_id):
                    playing = self._utterances[0].request_id if self._utterances else None
                    if request_id is None or request_id == playing:
                        self._listener.interrupts(now_s)
                    self._cancel(request_id)
                case Close():
                    self._close(CLOSE_NORMAL)
        except ProtocolError as error:
            self._stats.refused += 1
            self._events.append(
                Error(request_id=error.request_id, code=error.code, message=error.message)
            )

    def next_utterance(self, now_s: float) -> Utterance | None:
        """The request to synthesise now, or None while there is none.

        Ask only after the one before was finished, failed or dropped.
        """
        for utterance in self._utterances:
            if utterance.work_began_s is None:
                utterance.work_began_s = now_s
                return utterance
        return None

    def add_audio(self, utterance: Utterance, pcm: bytes) -> None:
        """Queue audio of `utterance` (s16le, whole samples); nothing happens if it was dropped."""
        if not utterance.dropped:
            utterance.frames.extend(frames(pcm))
            self._buffered_bytes += len(pcm)

    def add_timing(self, utterance: Utterance, words: Iterable[Word]) -> None:
        """Queue the times of words in audio of `utterance`, before that audio is added.

        Nothing happens if it was dropped.
        """
        if not utterance.dropped:
            timing = Timing(request_id=utterance.request_id, words=tuple(words))
            utterance.frames.append(timing)

    def finish(self, utterance: Utterance) -> None:
        """All audio of `utterance` has been added."""
        utterance.finished = True
        self._admission.end(utterance.demand, made=True)

    def fail(self, utterance: Utterance, code: ErrorCode, message: str) -> None:
        """No more audio can be made of `utterance`; what was made is sent, then the error."""
        utterance.error = Error(request_id=utterance.request_id, code=code, message=message)
        self._admission.end(utterance.demand, made=False)

    def next_frame(self, now_s: float) -> str | bytes | None:
        """The next frame to write, text or audio, or None while there is none."""
        if self._events:
            return self._events.popleft().encode()
        if not self._utterances:
            return None
        utterance = self._utterances[0]
        if not utterance.start_sent and (utterance.frames or utterance.finished):
            utterance.start_sent = True
            utterance.first_audio_s = now_s - utterance.received_s
            return SynthesisStart(
                request_id=utterance.request_id, voice=utterance.voice.name
            ).encode()
        if utterance.frames:
            self._active_s = now_s
            frame = utterance.frames.popleft()
            if isinstance(frame, Timing):
                return frame.encode()
            utterance.sent_bytes += len(frame)
            self._buffered_bytes -= len(frame)
            return frame
        if utterance.error is not None:
            self._utterances.popleft()
            self._stats.failed += 1
            return utterance.error.encode()
        if utterance.finished:
            self._utterances.popleft()
            self._stats.completed += 1
            self._active_s = now_s
            return self._complete(utterance, now_s).encode()
        return None

    def shut_down(self, now_s: float, deadline_s: float) -> None:
        """Tell the client that the server stops in `deadline_s` seconds."""
        if self.close_code is None:
            self._announce("shutdown", now_s, deadline_s)

    def tick(self, now_s: float) -> None:
        """Let time pass: announce and carry out the idle close, the session limit, the shutdown."""
        if self.close_code is not None:
            return
        quiet_s = 0.0 if self._utterances or self._events else now_s - self._active_s
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
        """The peer is gone: everything in flight is dropped, nothing more is sent."""
        self._cancel(None)
        self._events.clear()

    def _accept(self, speak: Speak, now_s: float, unix_s: float) -> None:
        request_id = speak.request_id
        try:
            check_length(speak.text, self._settings.max_text_chars)
            voice = resolve_voice(self._voices, speak.voice)
        except ProtocolError as error:
            raise ProtocolError(error.code, error.message, request_id) from None
        if speak.request_timestamp is not None:
            age_s = unix_s - speak.request_timestamp
            if age_s > self._settings.max_request_age_s:
                raise ProtocolError(
                    "stale",
                    f"request_timestamp: {age_s:.1f} s ago, "
                    f"at most {self._settings.max_request_age_s} s are accepted",
                    request_id,
                )
        if len(self._utterances) >= self._settings.max_queued_requests:
            raise ProtocolError(
                "busy",
                f"{len(self._utterances)} requests are in flight, no more are taken",
                request_id,
            )
        in_flight = {utterance.request_id for utterance in self._utterances}
        if request_id in in_flight:
            raise ProtocolError(
                "invalid", f"request_id: {request_id!r} is in flight already", request_id
            )
        while request_id is None or request_id in in_flight:
            self._ids_made += 1
            request_id = f"r{self._ids_made}"
        demand = self._admission.accept(self._listener, len(speak.text) / speak.speed, now_s)
        if demand is None:
            raise ProtocolError("busy", BUSY, request_id)
        self._stats.requests += 1
        self._utterances.append(
            Utterance(
                request_id=request_id,
                text=speak.text,
                voice=voice,
                speed=speak.speed,
                granularity=speak.granularity or self._settings.granularity,
                timestamps=speak.timestamps,
                demand=demand,
                received_s=now_s,
            )
        )

    def _cancel(self, request_id: str | None) -> None:
        kept: deque[Utterance] = deque()
        for utterance in self._utterances:
            if request_id is not None and utterance.request_id != request_id:
                kept.append(utterance)
                continue
            utterance.dropped = True
            self._admission.end(utterance.demand, made=False)
            self._buffered_bytes -= sum(
                len(frame) for frame in utterance.frames if isinstance(frame, bytes)
            )
            utterance.frames.clear()
            self._stats.cancelled += 1
            self._events.append(
                Cancelled(
                    request_id=utterance.request_id, sent_duration_s=utterance.sent_duration_s
                )
            )
        self._utterances = kept

    def _close(self, code: int) -> None:
        self._cancel(None)
        self.close_code = code

    def _announce(
        self, reason: Literal["idle", "session_limit", "shutdown"], now_s: float, deadline_s: float
    ) -> None:
        self._leaving = GoingAway(reason=reason, deadline_s=round(deadline_s, 1))
        self._leave_at_s = now_s + deadline_s
        self._events.append(self._leaving)

    def _complete(self, utterance: Utterance, now_s: float) -> SynthesisComplete:
        assert utterance.work_began_s is not None
        return SynthesisComplete(
            request_id=utterance.request_id,
            total_duration_s=utterance.sent_duration_s,
            elapsed_s=round(now_s - utterance.received_s, 4),
            queued_s=round(utterance.work_began_s - utterance.received_s, 4),
            first_audio_s=round(utterance.first_audio_s, 4),
        )
