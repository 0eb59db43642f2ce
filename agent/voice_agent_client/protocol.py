"""The agent protocol, the client's side, without I/O.

The events are the same on both transports. Over the WebSocket they are JSON text frames, and audio
is binary frames; over server-sent events audio is base64 in `audio_chunk`. Either way it arrives
here as `Audio`.
"""

from typing import Annotated, Literal, TypedDict

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from voice_agent_client.errors import AgentProtocolError


class PromptSettings(TypedDict, total=False):
    """How a reply is spoken; the agent's default applies to what is absent."""

    mode: Literal["bidi", "batch"]
    """Sentence by sentence as they are written, or the complete reply in one request."""

    voice: str
    """A voice's name, or a mix such as `af_bella(2)+af_sky(1)`."""

    speed: float
    """0.5 to 2; 1 is the voice's own pace."""

    timestamps: bool
    """Whether `Words` events say when each word is heard; not in mode `batch`."""


class _Model(BaseModel):
    # A newer agent may say more than this client knows.
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Event(_Model):
    request_id: str | None = None


class AgentStart(_Event):
    """A reply begins."""

    type: Literal["agent_start"] = "agent_start"
    mode: str


class TextDelta(_Event):
    """The model wrote `text`; all deltas joined are the reply."""

    type: Literal["text_delta"] = "text_delta"
    seq: int
    text: str


class Sentence(_Event):
    """The audio that follows speaks this sentence, from `start_s` in this reply's audio."""

    type: Literal["sentence"] = "sentence"
    seq: int
    text: str
    start_s: float


class Word(_Model):
    """A word, with its punctuation, and when it is heard in this reply's audio, in seconds."""

    text: str
    start_s: float
    end_s: float


class Words(_Event):
    """The words of sentence `seq`, or of a section of it, in the audio that follows."""

    type: Literal["words"] = "words"
    seq: int
    words: tuple[Word, ...]


class AudioStreamStart(_Event):
    """Audio follows: mono 16-bit little-endian samples, `sample_rate` of them a second."""

    type: Literal["audio_stream_start"] = "audio_stream_start"
    format: str
    voice: str
    sample_rate: int


class Audio(_Model):
    """Audio of the reply, in the format of `AudioStreamStart`: whole samples, 16 KiB at most."""

    type: Literal["audio"] = "audio"
    data: bytes


class _AudioChunk(_Event):
    type: Literal["audio_chunk"]
    data: Base64Bytes


class AudioStreamEnd(_Event):
    """All of this reply's audio has arrived, or all there will be: `duration_s` seconds."""

    type: Literal["audio_stream_end"] = "audio_stream_end"
    total_chunks: int
    duration_s: float


class Interrupted(_Event):
    """The reply was stopped; `heard_text` is what the listener had heard of it by then."""

    type: Literal["interrupted"] = "interrupted"
    heard_text: str


class SentenceMetrics(_Model):
    """One spoken sentence; times are seconds since the prompt arrived at the agent."""

    seq: int
    text: str
    sent_s: float | None = None
    first_audio_s: float | None = None
    audio_s: float | None = None


class Metrics(_Model):
    """How a reply went; times are seconds since the prompt arrived at the agent.

    A figure is None where its event never came. `ttft_s` is the time to the first text, `ttfa_s`
    the time to the first audio, `audio_s` the duration of the audio.
    """

    mode: str | None = None
    ttft_s: float | None = None
    first_sentence_s: float | None = None
    ttfa_s: float | None = None
    total_s: float | None = None
    audio_s: float | None = None
    streams_opened: int = 0
    sentences: tuple[SentenceMetrics, ...] = ()


class AgentEnd(_Event):
    """The reply is over, however it went."""

    type: Literal["agent_end"] = "agent_end"
    metrics: Metrics


class ErrorEvent(_Event):
    """The agent refuses a message, or a reply fails; the conversation goes on.

    Attributes:
        code: What failed, for programs: `invalid`, `busy`, `bedrock`, `speech_container`, ….
        message: What failed, for people.
    """

    type: Literal["error"] = "error"
    code: str
    message: str


class UnknownEvent(_Model):
    """An event of a newer agent; `model_extra` has its fields."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str


# Not a `type`: pydantic looks for the discriminator in the members of a union, not in an alias.
_Known = (
    AgentStart
    | TextDelta
    | Sentence
    | Words
    | AudioStreamStart
    | AudioStreamEnd
    | Interrupted
    | AgentEnd
    | ErrorEvent
)
type Event = _Known | Audio | UnknownEvent

_EVENT: TypeAdapter[_Known | _AudioChunk] = TypeAdapter(
    Annotated[_Known | _AudioChunk, Field(discriminator="type")]
)


def parse_event(text: str | bytes) -> Event:
    """Return the event in one JSON object.

    Raises:
        AgentProtocolError: It is not a JSON object with a `type`, or lacks a field of its type.
    """
    try:
        event = _EVENT.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "union_tag_invalid" and isinstance(first["input"]["type"], str):
            return UnknownEvent.model_validate_json(text)
        where = ".".join(map(str, first["loc"])) or "event"
        raise AgentProtocolError(f"the agent's {where}: {first['msg']}") from error
    return Audio(data=event.data) if isinstance(event, _AudioChunk) else event


class SseDecoder:
    """Cuts the body of a `text/event-stream` response into events, however its bytes arrive."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes and return the events that they complete.

        Raises:
            AgentProtocolError: As `parse_event` does.
        """
        # Not `str.splitlines`, which also splits at the U+2028 or U+0085 inside of a text.
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [parse_event(line[5:]) for line in lines if line.startswith(b"data:")]


class Reply:
    """Tells the events that answer one prompt from what is still to come of an earlier reply.

    Args:
        request_id: The prompt's; None where nothing else can arrive.

    Attributes:
        ended: Whether the answer's last event has been taken: `AgentEnd`, or the prompt's refusal.
    """

    def __init__(self, request_id: str | None = None) -> None:
        self.ended = False
        self._request_id = request_id
        self._started = False

    def takes(self, event: Event) -> bool:
        """Take the next event; whether it belongs to the answer."""
        if not self._started:
            # Audio has no id: before its own start, the answer has none.
            if not isinstance(event, AgentStart | ErrorEvent):
                return self._request_id is None
            ours = self._request_id in (None, event.request_id)
            if not (ours or event.request_id is None):
                return False
            self._started = isinstance(event, AgentStart)
        self.ended = isinstance(event, AgentEnd) or not self._started
        return True
