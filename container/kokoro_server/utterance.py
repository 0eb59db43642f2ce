"""One utterance: what is asked for, what it costs, and where it is in its life.

The same object goes from the session, or the batch route, to the engine's thread and back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from kokoro_server.listener import Listener
from kokoro_server.messages import (
    BatchRequest,
    Granularity,
    ProtocolError,
    Speak,
    resolve_voice,
)
from kokoro_server.settings import Settings
from kokoro_voice.timing import WordTime
from kokoro_voice.voices import Voice, Voices


@dataclass(frozen=True)
class SpeechRequest:
    """What a client asks to be spoken, checked and with every default filled in."""

    request_id: str
    """The client's name for it; empty if it gave none and the session has not chosen one."""
    text: str
    voice: Voice
    speed: float = 1.0
    granularity: Granularity = "window"
    timestamps: bool = False

    @classmethod
    def of(
        cls, message: Speak | BatchRequest, voices: Voices, settings: Settings
    ) -> "SpeechRequest":
        """Check a message against what this server speaks.

        Args:
            message: The client's message.
            voices: The voices that are served.
            settings: The limit of the text and the default granularity.

        Raises:
            ProtocolError: `too_long`; or `unknown_voice` or `invalid`, for the voice.
        """
        if len(message.text) > settings.max_text_chars:
            raise ProtocolError(
                "too_long",
                f"text: {len(message.text)} characters, at most {settings.max_text_chars} "
                "are accepted",
            )
        return cls(
            request_id=message.request_id or "",
            text=message.text,
            voice=resolve_voice(voices, message.voice),
            speed=message.speed,
            granularity=message.granularity or settings.granularity,
            timestamps=message.timestamps,
        )

    @property
    def chars(self) -> float:
        """Characters of text at normal speed: at double speed, half as many."""
        return len(self.text) / self.speed


@dataclass(frozen=True)
class SpeechChunk:
    """Some of an utterance's audio."""

    pcm: bytes
    """s16le, 24 kHz, mono."""
    words: Sequence[WordTime] = ()
    """The words of the sentence that begins in it, with their times in the utterance's audio."""


@dataclass
class Tally:
    """What an utterance has cost so far, and what has come of it."""

    engine_s: float = 0.0
    """Time on the engine's thread, in seconds; waiting for the thread is not in it."""
    audio_s: float = 0.0
    """Audio handed out, in seconds."""
    chunks: int = 0
    """Chunks in which that audio was handed out."""


class UtteranceState(Enum):
    """Where the synthesis of an utterance is."""

    QUEUED = auto()
    """Accepted; the utterances before it in the session come first."""
    SPEAKING = auto()
    COMPLETE = auto()
    """All of its audio has been handed out; some may still wait for a slow reader."""
    FAILED = auto()
    CANCELLED = auto()


_TRANSITIONS = {
    UtteranceState.QUEUED: {UtteranceState.SPEAKING, UtteranceState.CANCELLED},
    UtteranceState.SPEAKING: {
        UtteranceState.COMPLETE,
        UtteranceState.FAILED,
        UtteranceState.CANCELLED,
    },
}


class TransitionError(Exception):
    """An utterance cannot go from the state it is in to the one that was asked for."""


@dataclass(eq=False)
class Utterance:
    """One request in flight. All times are on the server's monotonic clock.

    Attributes:
        request: What is to be spoken.
        listener: Who hears it; shared by the utterances of one session.
        received_s: When it arrived.
        began_s: When work on it began.
        first_audio_s: When its first audio was handed out.
        error: Why it failed, in state `FAILED`.
    """

    request: SpeechRequest
    listener: Listener
    received_s: float
    tally: Tally = field(default_factory=Tally)
    state: UtteranceState = field(default=UtteranceState.QUEUED, init=False)
    began_s: float | None = field(default=None, init=False)
    first_audio_s: float | None = field(default=None, init=False)
    error: ProtocolError | None = field(default=None, init=False)

    @property
    def ended(self) -> bool:
        """Whether no more work is done on it."""
        return self.state not in _TRANSITIONS

    def begin(self, now_s: float) -> None:
        """Begin to speak it; its listener waits for it from here on."""
        self._enter(UtteranceState.SPEAKING)
        self.began_s = now_s
        self.listener.await_audio(self.received_s)

    def add_audio(self, audio_s: float, now_s: float) -> None:
        """Take note that a chunk of `audio_s` seconds is handed out."""
        if self.first_audio_s is None:
            self.first_audio_s = now_s
        self.tally.audio_s += audio_s
        self.tally.chunks += 1
        self.listener.add_audio(audio_s, now_s)

    def complete(self) -> None:
        """End it: all of its audio has been handed out."""
        self._enter(UtteranceState.COMPLETE)

    def fail(self, error: ProtocolError) -> None:
        """End it: no more audio can be synthesized."""
        self._enter(UtteranceState.FAILED)
        self.error = error

    def cancel(self) -> None:
        """End it: nobody wants the rest."""
        self._enter(UtteranceState.CANCELLED)

    def _enter(self, state: UtteranceState) -> None:
        if state not in _TRANSITIONS.get(self.state, ()):
            raise TransitionError(f"{self.state.name} to {state.name}")
        self.state = state
