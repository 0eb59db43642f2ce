"""The client's side of the agent protocol, without I/O.

Both transports have the same events. A WebSocket carries events as JSON in text frames and audio in
binary frames. Server-sent events carry audio as base64 in `audio_chunk`. This module returns audio
of either transport as `Audio`.
"""

from typing import Annotated, Literal, TypedDict

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from voice_agent_client.errors import AgentProtocolError


class PromptSettings(TypedDict, total=False):
    """How a reply is spoken. The agent's default applies to a key that is absent."""

    mode: Literal["bidi", "batch"]
    """`bidi` speaks each sentence as soon as it is written; `batch` speaks the complete reply."""

    voice: str
    """The name of a voice, or a mix such as `af_bella(2)+af_sky(1)`."""

    speed: float
    """A factor from 0.5 to 2; 1 is the voice's own pace."""

    timestamps: bool
    """Whether the agent sends `Words` events with the times of the words. Not in mode `batch`."""


class _Model(BaseModel):
    # A newer agent may send fields that this client does not know.
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Event(_Model):
    request_id: str | None = None


class AgentStart(_Event):
    """A reply begins."""

    type: Literal["agent_start"] = "agent_start"
    mode: str


class TextDelta(_Event):
    """The model wrote `text`. The texts of all deltas, joined, are the reply."""

    type: Literal["text_delta"] = "text_delta"
    seq: int
    text: str


class Sentence(_Event):
    """The audio that follows speaks this sentence.

    `start_s` is the sentence's position in the audio of this reply, in seconds.
    """

    type: Literal["sentence"] = "sentence"
    seq: int
    text: str
    start_s: float


class Word(_Model):
    """A word with its punctuation and the blank after it. Times are in this reply, in seconds."""

    text: str
    start_s: float
    end_s: float


class Words(_Event):
    """The words of sentence `seq`, or of a segment of it, that the following audio speaks."""

    type: Literal["words"] = "words"
    seq: int
    words: tuple[Word, ...]


class AudioStreamStart(_Event):
    """Audio follows: mono 16-bit little-endian samples, `sample_rate` per second."""

    type: Literal["audio_stream_start"] = "audio_stream_start"
    format: str
    voice: str
    sample_rate: int


class Audio(_Model):
    """Audio of the reply in the format of `AudioStreamStart`: whole samples, at most 16 KiB."""

    type: Literal["audio"] = "audio"
    data: bytes


class _AudioChunk(_Event):
    type: Literal["audio_chunk"]
    data: Base64Bytes


class AudioStreamEnd(_Event):
    """No more audio of this reply follows. `duration_s` seconds of it have been sent."""

    type: Literal["audio_stream_end"] = "audio_stream_end"
    total_chunks: int
    duration_s: float


class Interrupted(_Event):
    """The reply was stopped. `heard_text` is the text that the listener had heard by then."""

    type: Literal["interrupted"] = "interrupted"
    heard_text: str


class SentenceMetrics(_Model):
    """The figures of one sentence. Times are in seconds since the prompt arrived at the agent."""

    seq: int
    text: str
    sent_s: float | None = None
    first_audio_s: float | None = None
    audio_s: float | None = None


class Metrics(_Model):
    """The figures of one reply. Times are in seconds since the prompt arrived at the agent.

    A figure is None if its event did not occur. `ttft_s` is the time to first token, `ttfa_s` the
    time to first audio, and `audio_s` the duration of the audio.
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
    """The reply is over, whether or not it succeeded.

    Attributes:
        stop_reason: Why the model stopped writing: `end_turn` at the end of the reply, and another
            reason, such as `max_tokens`, if the reply is cut off. None if the model did not stop by
            itself.
        unspoken: The words of the reply that were left out, because no sound is known for them.
        metrics: The figures of the reply. If nothing was spoken, `audio_s` is 0.
    """

    type: Literal["agent_end"] = "agent_end"
    stop_reason: str | None = None
    unspoken: tuple[str, ...] = ()
    metrics: Metrics


class ErrorEvent(_Event):
    """The agent refuses a message, or a reply fails. The conversation stays open.

    Attributes:
        code: What failed, for programs: `invalid`, `busy`, `bedrock`, `speech_container`, ….
        message: What failed, for people.
    """

    type: Literal["error"] = "error"
    code: str
    message: str


class UnknownEvent(_Model):
    """An event of a newer agent. `model_extra` contains its fields."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str


# A plain union, because pydantic does not find the discriminator through a `type` alias.
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
    """Return the event that `text`, a JSON object, contains.

    Raises:
        AgentProtocolError: `text` is not a JSON object with a `type`, or a field is missing.
    """
    try:
        event = _EVENT.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "union_tag_invalid" and isinstance(first["input"]["type"], str):
            return UnknownEvent.model_validate_json(text)
        where = ".".join(map(str, first["loc"])) or "event"
        raise AgentProtocolError(
            f"the agent sent data that is not an event: {where}: {first['msg']}; check that the "
            "address is an agent's"
        ) from error
    return Audio(data=event.data) if isinstance(event, _AudioChunk) else event


class SseDecoder:
    """Splits the body of a `text/event-stream` response into events.

    The body may arrive in chunks of any size.
    """

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes and return the events that they complete.

        Raises:
            AgentProtocolError: An event is invalid, as in `parse_event`.
        """
        # `str.splitlines` would also split at a U+2028 or U+0085 within a text.
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [parse_event(line[5:]) for line in lines if line.startswith(b"data:")]


class Reply:
    """Separates the events that answer one prompt from remaining events of an earlier reply.

    Args:
        request_id: The prompt's `request_id`; None if no other events can arrive.

    Attributes:
        ended: Whether the last event of the answer has been taken, which is `AgentEnd` or the
            refusal of the prompt.
    """

    def __init__(self, request_id: str | None = None) -> None:
        self.ended = False
        self._request_id = request_id
        self._started = False

    def takes(self, event: Event) -> bool:
        """Take the next event. Return whether it belongs to the answer."""
        if not self._started:
            # Audio has no id. Audio before the answer's own start belongs to an earlier reply.
            if not isinstance(event, AgentStart | ErrorEvent):
                return self._request_id is None
            ours = self._request_id in (None, event.request_id)
            if not (ours or event.request_id is None):
                return False
            self._started = isinstance(event, AgentStart)
        elif isinstance(event, ErrorEvent) and self._request_id is not None:
            # A refusal of another message does not belong to this answer.
            return event.request_id in (None, self._request_id)
        self.ended = isinstance(event, AgentEnd) or not self._started
        return True
