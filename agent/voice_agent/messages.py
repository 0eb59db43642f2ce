"""The agent protocol, which defines the messages between a client and the agent.

Both transports have the same messages. On `/ws`, events are JSON in text frames and audio is in
binary frames. On `/invocations`, every event is a server-sent event, and `audio_chunk` contains
audio as base64.
"""

import base64
import json
import uuid
from typing import Annotated, Any, Literal

import pydantic_core
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, TypeAdapter, ValidationError

SAMPLE_RATE_HZ = 24_000
BYTES_PER_SECOND = SAMPLE_RATE_HZ * 2
"""The data rate of `pcm16`, which is 16-bit mono samples at `SAMPLE_RATE_HZ`."""

MAX_AUDIO_FRAME_BYTES = 16_384
"""AgentCore allows 32 KB per WebSocket frame."""


type Seconds = Annotated[float, PlainSerializer(lambda seconds: round(seconds, 3))]
"""Seconds, written with three decimals."""

INTERNAL_ERROR = "the agent failed unexpectedly; its log contains the reason"
"""The message of an error event with the code `internal`."""


class MessageError(ValueError):
    """A client's message is refused.

    Args:
        message: The field, its value and the accepted values.
        code: `invalid`, `too_long` or `unsupported`.
        request_id: The message's `request_id` if it could be read.
    """

    def __init__(self, message: str, code: str = "invalid", request_id: str | None = None):
        super().__init__(message)
        self.code = code
        self.request_id = request_id


class _ClientMessage(BaseModel):
    # A field's description is what an error message names as accepted.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Invocation(_ClientMessage):
    """The body of `POST /invocations`, which contains one prompt and how to speak the reply."""

    prompt: str = Field(min_length=1, description="a string that contains text")
    mode: Literal["bidi", "batch"] = Field("bidi", description="'bidi' or 'batch'")
    voice: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="the name of a voice or of a mix, 1 to 200 characters",
    )
    speed: float | None = Field(None, ge=0.5, le=2.0, description="a number from 0.5 to 2")
    format: Literal["pcm16"] = Field("pcm16", description="'pcm16'")
    timestamps: bool = Field(False, description="true or false")
    """Whether to send `words` events. Mode `batch` has none: its audio comes without word times."""


class Prompt(Invocation):
    """A prompt on `/ws`. While a reply is running, another prompt is refused with `busy`."""

    type: Literal["prompt"]
    request_id: str | None = Field(
        None, min_length=1, max_length=128, description="a string of 1 to 128 characters"
    )


class Interrupt(_ClientMessage):
    """The listener interrupts the reply after `played_s` seconds of its audio."""

    type: Literal["interrupt"]
    played_s: float = Field(ge=0.0, le=86_400.0, description="a number of seconds from 0 to 86400")


class Close(_ClientMessage):
    """The conversation is over. The agent closes the WebSocket."""

    type: Literal["close"]


type ClientMessage = Prompt | Interrupt | Close

_CLIENT_MESSAGE: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[Prompt | Interrupt | Close, Field(discriminator="type")]
)
_INVOCATION = TypeAdapter(Invocation)
_MODELS: dict[str, type[BaseModel]] = {"prompt": Prompt, "interrupt": Interrupt, "close": Close}


def parse_frame(text: str | None, *, max_prompt_chars: int) -> ClientMessage:
    """Return the message in one WebSocket frame.

    Args:
        text: The frame's text; None for a binary frame.
        max_prompt_chars: The longest prompt to accept.

    Raises:
        MessageError: The frame is not a message that the agent accepts.
    """
    if text is None:
        raise MessageError("a binary frame is not accepted; send messages as JSON in text frames")
    try:
        # Unlike `json`, this parser limits the nesting depth. It also refuses NaN and lone
        # surrogates, which an answer could not repeat.
        data = pydantic_core.from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise MessageError(f"the frame is not JSON: {error}") from error
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
    """Return an id for a request whose client has not chosen one."""
    return uuid.uuid4().hex[:12]


def _validate[T](adapter: TypeAdapter[T], data: object) -> T:
    if not isinstance(data, dict):
        raise MessageError("the message is not a JSON object")
    value = data.get("request_id")
    request_id = value if isinstance(value, str) and len(value) <= 128 else None
    try:
        return adapter.validate_python(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise _describe(first, request_id) from error


def _describe(error: Any, request_id: str | None) -> MessageError:
    # An error in the discriminator has no location. An unknown key may have any length.
    kind, location, value = error["type"], error["loc"], error["input"]
    types = "'prompt', 'interrupt' or 'close'"
    if kind == "union_tag_not_found":
        return MessageError(f"type: is missing; it must be {types}", request_id=request_id)
    if kind == "union_tag_invalid":
        message = f"type: must be {types}, not {_shown(value['type'])}"
        return MessageError(message, request_id=request_id)
    fields = (_MODELS[location[0]] if len(location) > 1 else Invocation).model_fields
    field = str(location[-1])
    if kind == "extra_forbidden":
        message = f"{_shortened(field)}: unknown key; the keys are {', '.join(fields)}"
        return MessageError(message, request_id=request_id)
    accepted = fields[field].description
    if kind == "missing":
        message = f"{field}: is missing; it must be {accepted}"
        return MessageError(message, request_id=request_id)
    message = f"{field}: must be {accepted}, not {_shown(value)}"
    unsupported = field == "format" and isinstance(value, str)
    return MessageError(message, "unsupported" if unsupported else "invalid", request_id)


def _shown(value: object) -> str:
    return _shortened(repr(value) if isinstance(value, str) else json.dumps(value))


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _check_prompt(prompt: str, max_chars: int, request_id: str | None) -> None:
    if not prompt.strip():
        raise MessageError("prompt: is blank; it must contain text", request_id=request_id)
    if len(prompt) > max_chars:
        raise MessageError(
            f"prompt: has {len(prompt)} characters; at most {max_chars} are accepted",
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
    """The model wrote `text`. The texts of all deltas, joined, are the reply.

    The model's thoughts are not part of it.
    """

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


class Word(BaseModel):
    """A spoken word with its punctuation and the blank that follows it, if one is written.

    Its times in the audio of this reply are in seconds.
    """

    text: str
    start_s: float
    end_s: float


class Words(_Event):
    """The words of sentence `seq`, or of a segment of it, that the following audio speaks."""

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
    """Audio in whole samples, at most `MAX_AUDIO_FRAME_BYTES`."""

    type: Literal["audio_chunk"] = "audio_chunk"
    seq: int
    data: bytes


class AudioStreamEnd(_Event):
    """No more audio of this reply follows."""

    type: Literal["audio_stream_end"] = "audio_stream_end"
    total_chunks: int
    duration_s: float


class Interrupted(_Event):
    """The reply was stopped. `heard_text` is the text that the listener had heard by then."""

    type: Literal["interrupted"] = "interrupted"
    heard_text: str


class SentenceMetrics(BaseModel):
    """The figures of one sentence. Times are in seconds since the prompt arrived."""

    seq: int
    text: str
    sent_s: Seconds
    first_audio_s: Seconds | None
    audio_s: Seconds


class Metrics(BaseModel):
    """The figures of one reply. Times are in seconds since the prompt arrived.

    A time is None if its event did not occur.
    """

    mode: str
    ttft_s: Seconds | None
    first_sentence_s: Seconds | None
    ttfa_s: Seconds | None
    total_s: Seconds
    audio_s: Seconds
    streams_opened: int
    sentences: list[SentenceMetrics]


class AgentEnd(_Event):
    """The reply is over, whether or not it succeeded.

    `stop_reason` is Bedrock's reason why the model stopped writing, such as `end_turn`. It is None
    if the model did not get that far. If nothing was spoken, `metrics.audio_s` is 0. `unspoken` are
    the words of the reply that were left out because no sound is known for them.
    """

    type: Literal["agent_end"] = "agent_end"
    stop_reason: str | None
    unspoken: list[str]
    metrics: Metrics


class ErrorEvent(_Event):
    """A message was refused, or a reply failed.

    `message` is for people. It names the field or the component.
    """

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
    """Return the event as a JSON object, with audio as base64."""
    if isinstance(event, AudioChunk):
        return event.model_dump() | {"data": base64.b64encode(event.data).decode()}
    return event.model_dump()
