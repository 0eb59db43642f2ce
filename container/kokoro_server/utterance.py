"""One utterance: its request, its cost and its state.

The session, or the batch route, and the engine's thread share the same object.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property

from kokoro_server.messages import (
    BatchRequest,
    Granularity,
    ProtocolError,
    Speak,
    resolve_voice,
)
from kokoro_server.playback import Listener
from kokoro_server.settings import Settings
from kokoro_text.control import said, spans, without_links
from kokoro_text.lexicon import Lexicon, LexiconError
from kokoro_text.mismatch import mismatch
from kokoro_text.normalizer import spoken_chars
from kokoro_text.spans import MarkupError, Span
from kokoro_text.ssml import MAX_RATE, MIN_RATE
from kokoro_voice.stretch import model_speed
from kokoro_voice.timing import WordTime
from kokoro_voice.voices import Voice, Voices


@dataclass
class SpeechRequest:
    """A client's request, validated and with all defaults filled in."""

    request_id: str
    """The client's id. If the client gave none, it is empty until the session chooses one."""
    text: str
    voice: Voice
    speed: float = 1.0
    granularity: Granularity = "window"
    timestamps: bool = False
    sentence: bool = False
    """Whether the text is one sentence, which is not split into sentences again."""
    lexicon: Lexicon = field(default_factory=Lexicon, compare=False)
    """The request's own pronunciations."""

    @classmethod
    def of(
        cls, message: Speak | BatchRequest, voices: Voices, settings: Settings
    ) -> "SpeechRequest":
        """Validate a message.

        This takes time in proportion to the length of the message. What it computes from the text
        is kept, so the properties of the request take no time afterwards.

        Args:
            message: The client's message.
            voices: The voices that are served.
            settings: The limit of the text's length and the default granularity.

        Raises:
            ProtocolError: `too_long` for the text; `unknown_voice` or `invalid` for the voice;
                `invalid` for the control in the text, or for the lexicon.
        """
        if len(message.text) > settings.max_text_chars:
            raise ProtocolError(
                "too_long",
                f"text: it has {len(message.text)} characters, at most {settings.max_text_chars} "
                "are accepted; split it into several requests",
            )
        voice = resolve_voice(voices, message.voice)
        try:
            lexicon = Lexicon.of(message.lexicon or {}, voice.language)
        except LexiconError as error:
            raise ProtocolError("invalid", f"lexicon: {error}") from None
        request = cls(
            request_id=message.request_id or "",
            text=message.text,
            voice=voice,
            speed=message.speed,
            granularity=message.granularity or settings.granularity,
            timestamps=message.timestamps,
            sentence=isinstance(message, Speak) and message.sentence,
            lexicon=lexicon,
        )
        try:
            rates = {span.rate for span in request.spans}
        except MarkupError as error:
            raise ProtocolError("invalid", f"text: {error}") from None
        for rate in rates:
            if not MIN_RATE <= rate * request.speed <= MAX_RATE:
                raise ProtocolError(
                    "invalid",
                    f"text: the rate {rate:g} times the speed {request.speed:g} is not from "
                    f"{MIN_RATE:g} to {MAX_RATE:g}; change one of them",
                )
        _ = request.chars, request.warning
        return request

    @cached_property
    def spans(self) -> Sequence[Span]:
        """The text, divided where it controls its pauses and its rate."""
        return spans(self.text, self.voice.language)

    @cached_property
    def chars(self) -> float:
        """The number of characters that are said, divided by the speed.

        It estimates the length of the audio.
        """
        return sum(chars / speed for chars, speed in self._paces)

    @cached_property
    def work(self) -> float:
        """The engine's work for a second of the audio, relative to a request at speed 1.

        At other speeds than `model_speed`, a second of audio is more or less than a second of what
        the model speaks.
        """
        if not self.chars:
            return 1.0
        return sum(chars / model_speed(speed) for chars, speed in self._paces) / self.chars

    @cached_property
    def _paces(self) -> Sequence[tuple[float, float]]:
        """The characters that are said in each span, and their speed."""
        return [(spoken_chars(said(span.text)), self.speed * span.rate) for span in self.spans]

    @cached_property
    def warning(self) -> str | None:
        """What is probably wrong with the request: the text is not in the voice's language."""
        text = " ".join(without_links(span.text) for span in self.spans)
        return mismatch(text, self.voice.language)


@dataclass(frozen=True)
class SpeechChunk:
    """A chunk of an utterance's audio."""

    pcm: bytes
    """Audio: s16le, 24 kHz, mono."""
    words: Sequence[WordTime] = ()
    """The words of the sentence that begins in this chunk, if one does, with their times in the
    utterance's audio."""


@dataclass
class Tally:
    """The cost of an utterance so far, and the audio it has produced."""

    engine_s: float = 0.0
    """Time on the engine's thread, in seconds, without the time spent waiting for the thread."""
    audio_s: float = 0.0
    """Audio handed out, in seconds."""
    chunks: int = 0
    """The number of chunks of that audio."""
    pause_s: float = 0.0
    """The part of that audio that is pauses which the text asks for, in seconds."""

    @property
    def spoken_s(self) -> float:
        """The audio that costs the engine time, in seconds; 0 if there are only pauses."""
        return self.audio_s - self.pause_s


class UtteranceState(Enum):
    """The state of an utterance's synthesis."""

    QUEUED = auto()
    """The utterance is accepted, and earlier utterances of the session are spoken first."""
    SPEAKING = auto()
    COMPLETE = auto()
    """All of its audio has been handed out. A slow client may not have read all of it yet."""
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
    """An utterance cannot change from its present state to the requested one."""


@dataclass(eq=False)
class Utterance:
    """One request in flight. All times are on the server's monotonic clock.

    Attributes:
        request: What is to be spoken.
        listener: The listener; shared by the utterances of one session.
        received_s: When it arrived.
        began_s: When work on it began.
        first_audio_s: When its first audio was handed out.
        unspoken: Words of its text, as written, for which no sound is known.
        error: Why it failed, in state `FAILED`.
    """

    request: SpeechRequest
    listener: Listener
    received_s: float
    tally: Tally = field(default_factory=Tally)
    state: UtteranceState = field(default=UtteranceState.QUEUED, init=False)
    began_s: float | None = field(default=None, init=False)
    first_audio_s: float | None = field(default=None, init=False)
    unspoken: list[str] = field(default_factory=list, init=False)
    error: ProtocolError | None = field(default=None, init=False)

    @property
    def ended(self) -> bool:
        """Whether no more work will be done on it."""
        return self.state not in _TRANSITIONS

    def begin(self, now_s: float) -> None:
        """Start to speak. From now on the listener is waiting for this utterance."""
        self._enter(UtteranceState.SPEAKING)
        self.began_s = now_s
        self.listener.await_audio(self.received_s)

    def add_audio(self, audio_s: float, now_s: float) -> None:
        """Record that a chunk of `audio_s` seconds has been handed out."""
        if self.first_audio_s is None:
            self.first_audio_s = now_s
        self.tally.audio_s += audio_s
        self.tally.chunks += 1
        self.listener.add_audio(audio_s, now_s)

    def complete(self) -> None:
        """End it after all of its audio has been handed out."""
        self._enter(UtteranceState.COMPLETE)

    def fail(self, error: ProtocolError) -> None:
        """End it because no more audio can be synthesized."""
        self._enter(UtteranceState.FAILED)
        self.error = error

    def cancel(self) -> None:
        """End it because its remaining audio is no longer wanted."""
        self._enter(UtteranceState.CANCELLED)

    def _enter(self, state: UtteranceState) -> None:
        if state not in _TRANSITIONS.get(self.state, ()):
            raise TransitionError(
                f"an utterance cannot change from {self.state.name} to {state.name}"
            )
        self.state = state
