"""The agent protocol: the messages between a client and the agent.

Both transports have one vocabulary. On `/ws`, an event is a JSON text frame, and audio is binary
frames; on `/invocations`, each is a server-sent event, with audio as base64 in `audio_chunk`.
"""

import base64
import uuid
from typing import Annotated, Any, Literal

import pydantic_core
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

SAMPLE_RATE_HZ = 24_000
BYTES_PER_SECOND = SAMPLE_RATE_HZ * 2
"""16-bit mono samples: what `pcm16` means here."""

MAX_AUDIO_FRAME_BYTES = 16_384
"""AgentCore allows 32 KB a WebSocket frame."""


class MessageError(ValueError):
    """A client's message cannot be understood.

    Args:
        message: The field, its value and what would be accepted.
        code: `invalid`, `too_long` or `unsupported`.
        request_id: The message's, where it could be read.
    """

    def __init__(self, message: str, code: str = "invalid", request_id: str | None = None):
        super().__init__(message)
        self.code = code
        self.request_id = request_id


class _ClientMessage(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Invocation(_ClientMessage):
    """The body of `POST /invocations`: one prompt, and how to speak the reply to it."""

    prompt: str = Field(min_length=1)
    mode: Literal["bidi", "batch"] = "bidi"
    voice: str | None = Field(None, min_length=1, max_length=200)
    speed: float = Field(1.0, ge=0.5, le=2.0)
    format: Literal["pcm16"] = "pcm16"
    timestamps: bool = False
    """Whether to send `words` events; mode batch has none, as its audio comes without times."""


class Prompt(Invocation):
    """A prompt on `/ws`. While a reply is running, another prompt is refused as `busy`."""

    type: Literal["prompt"]
    request_id: str | None = Field(None, min_length=1, max_length=128)


class Interrupt(_ClientMessage):
    """The listener spoke up after `played_s` seconds of the reply's audio."""

    type: Literal["interrupt"]
    played_s: float = Field(ge=0.0, le=86_400.0)


class Close(_ClientMessage):
    """The conversation is over; the agent closes the socket."""

    type: Literal["close"]


type ClientMessage = Prompt | Interrupt | Close

_CLIENT_MESSAGE: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[Prompt | Interrupt | Close, Field(discriminator="type")]
)
_INVOCATION = TypeAdapter(Invocation)


def parse_frame(text: str | None, *, max_prompt_chars: int) -> ClientMessage:
    """Return the message in one WebSocket frame.

    Args:
        text: The frame's text; None for a binary frame.
        max_prompt_chars: The longest prompt to accept.

    Raises:
        MessageError: The frame is not a message that the agent accepts.
    """
    if text is None:
        raise MessageError("a binary frame: messages are JSON objects in text frames")
    try:
        # Unlike json it bounds the nesting, and refuses NaN and half a surrogate pair, which no
        # answer could repeat.
        data = pydantic_core.from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise MessageError(f"not JSON: {error}") from error
    message = _validate(_CLIENT_MESSAGE, data)
    if isinstance(message, Prompt):
        _check_prompt(message.prompt, max_prompt_chars, message.request_id)
    return message


def parse_invocation(data: object, *, max_prompt_chars: int) -> Invocation:
    """Return the request in the JSON body of `POST /invocations`.

    Args:
        data: The body's JSON value.
        max_prompt_chars: The longest prompt to accept.

    Raises:
        MessageError: The body is not such a request.
    """
    invocation = _validate(_INVOCATION, data)
    _check_prompt(invocation.prompt, max_prompt_chars, None)
    return invocation


def new_request_id() -> str:
    """Return a name for a request that its client has not named."""
    return uuid.uuid4().hex[:12]


def _validate[T](adapter: TypeAdapter[T], data: object) -> T:
    if not isinstance(data, dict):
        raise MessageError("not a JSON object")
    value = data.get("request_id")
    request_id = value if isinstance(value, str) and len(value) <= 128 else None
    try:
        return adapter.validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _describe(first, request_id) from error


def _describe(error: Any, request_id: str | None) -> MessageError:
    # The discriminator has no location. An unknown key may be of any length.
    field = _shortened(str(error["loc"][-1]) if error["loc"] else "type")
    kind, value = error["type"], error["input"]
    if kind == "extra_forbidden":
        return MessageError(f"{field}: unknown key", request_id=request_id)
    if kind == "missing":
        return MessageError(f"{field}: must be given", request_id=request_id)
    if kind == "union_tag_not_found":
        return MessageError("type: must be prompt, interrupt or close", request_id=request_id)
    if kind == "union_tag_invalid":
        tag = error["ctx"]["tag"][:40]
        return MessageError(
            f"type: must be prompt, interrupt or close, not {tag!r}", request_id=request_id
        )
    message = f"{field}: {error['msg']}, not {_shortened(repr(value))}"
    unsupported = field == "format" and isinstance(value, str)
    return MessageError(message, "unsupported" if unsupported else "invalid", request_id)


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _check_prompt(prompt: str, max_chars: int, request_id: str | None) -> None:
    if not prompt.strip():
        raise MessageError("prompt: is blank", request_id=request_id)
    if len(prompt) > max_chars:
        raise MessageError(
            f"prompt: {len(prompt)} characters, at most {max_chars} are accepted",
            "too_long",
            request_id,
        )


class _Event(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    request_id: str | None


class AgentStart(_Event):
    """A reply begins."""

    type: Literal["agent_start"] = "agent_start"
    mode: str


class TextDelta(_Event):
    """The model wrote `text`; the texts of all deltas, joined, are the reply."""

    type: Literal["text_delta"] = "text_delta"
    seq: int
    text: str


class Sentence(_Event):
    """The audio that follows speaks this sentence, from `start_s` in this reply's audio."""

    type: Literal["sentence"] = "sentence"
    seq: int
    text: str
    start_s: float


class Word(BaseModel):
    """A spoken word, with its punctuation, and when it is heard in this reply's audio."""

    text: str
    start_s: float
    end_s: float


class Words(_Event):
    """Words of sentence `seq`, not always all of them, in the audio that follows."""

    type: Literal["words"] = "words"
    seq: int
    words: list[Word]


class AudioStreamStart(_Event):
    """Audio follows: mono 16-bit little-endian samples."""

    type: Literal["audio_stream_start"] = "audio_stream_start"
    format: Literal["pcm16"] = "pcm16"
    voice: str
    sample_rate: int = SAMPLE_RATE_HZ


class AudioChunk(_Event):
    """Audio: whole samples, at most `MAX_AUDIO_FRAME_BYTES`."""

    type: Literal["audio_chunk"] = "audio_chunk"
    seq: int
    data: bytes


class AudioStreamEnd(_Event):
    """No more audio of this reply follows."""

    type: Literal["audio_stream_end"] = "audio_stream_end"
    total_chunks: int
    duration_s: float


class Interrupted(_Event):
    """The reply was stopped; `heard_text` is what the listener had heard of it by then."""

    type: Literal["interrupted"] = "interrupted"
    heard_text: str


class SentenceMetrics(BaseModel):
    """One spoken sentence; times are seconds since the prompt arrived."""

    seq: int
    text: str
    sent_s: float
    first_audio_s: float | None
    audio_s: float


class Metrics(BaseModel):
    """A reply's figures; times are seconds since the prompt arrived, None for what never came."""

    mode: str
    ttft_s: float | None
    first_sentence_s: float | None
    ttfa_s: float | None
    total_s: float
    audio_s: float
    streams_opened: int
    sentences: list[SentenceMetrics]


class AgentEnd(_Event):
    """The reply is over, however it went."""

    type: Literal["agent_end"] = "agent_end"
    metrics: Metrics


class ErrorEvent(_Event):
    """Something went wrong; `message` is for people and names the component or the field."""

    type: Literal["error"] = "error"
    code: str
    message: str


type ServerEvent = (
    AgentStart
    | TextDelta
    | Sentence
    | Words
    | AudioStreamStart
    | AudioChunk
    | AudioStreamEnd
    | Interrupted
    | AgentEnd
    | ErrorEvent
)


def to_json(event: ServerEvent) -> dict[str, Any]:
    """Return the event as a JSON object, audio as base64."""
    if isinstance(event, AudioChunk):
        return event.model_dump() | {"data": base64.b64encode(event.data).decode()}
    return event.model_dump()
