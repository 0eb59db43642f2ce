"""Speech protocol 1 on the wire: what a client may send and what the server answers.

Control is JSON in text frames, audio is 16-bit little-endian PCM in binary frames. Inbound control
is accepted in either frame type, because SageMaker delivers a part without `DataType` as binary.
"""

from typing import Any, Literal

import pydantic_core
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from kokoro_server.codecs import BatchFormat, SessionFormat
from kokoro_voice.audio import SAMPLE_RATE_HZ
from kokoro_voice.errors import InvalidMixError, UnknownVoiceError
from kokoro_voice.timing import WordTime
from kokoro_voice.voices import Voice, Voices

MAX_REQUEST_ID_CHARS = 128

Granularity = Literal["window", "sentence"]
"""What audio is synthesized and sent in: windows inside a sentence, or sentences."""

ErrorCode = Literal[
    "invalid", "unknown_voice", "too_long", "unreadable", "busy", "stale", "internal"
]


class ProtocolError(Exception):
    """A request is refused.

    Args:
        code: One of the protocol's error codes.
        message: What is wrong, with the field, the value and what is accepted.
        request_id: The id the client gave, where one could be read.
    """

    def __init__(self, code: ErrorCode, message: str, request_id: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.request_id = request_id


INTERNAL = ProtocolError("internal", "the speech could not be made")
"""What a client learns of a fault of the server; the log has the rest."""


class _Inbound(BaseModel):
    # A field's description is also what an error message says is accepted.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _SpeechFields(_Inbound):
    text: str = Field(description="a string with something to say")
    request_id: str | None = Field(
        None,
        min_length=1,
        max_length=MAX_REQUEST_ID_CHARS,
        description=f"a string of 1 to {MAX_REQUEST_ID_CHARS} characters",
    )
    voice: str | None = Field(None, description="the name of a voice")
    speed: float = Field(1.0, ge=0.5, le=2.0, description="a number from 0.5 to 2")
    sample_rate: Literal[24_000] = Field(24_000, description="24000")
    granularity: Granularity | None = Field(None, description='"window" or "sentence"')

    @field_validator("text")
    @classmethod
    def _has_something_to_say(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("blank")
        return text


class Speak(_SpeechFields):
    """Say `text`.

    Without a `request_id` the session generates one; without a `voice` or a `granularity`, the
    default is used. With `timestamps`, each word's times are sent.
    """

    type: Literal["speak"] = "speak"
    timestamps: bool = Field(False, description="true or false")
    format: SessionFormat = Field("pcm", description='"pcm"')
    request_timestamp: float | None = Field(None, description="a number, Unix seconds")


class Cancel(_Inbound):
    """Stop and drop one request, or all of them without a `request_id`."""

    type: Literal["cancel"]
    request_id: str | None = Field(None, description="a string")


class Close(_Inbound):
    """Drop what is left and close the session."""

    type: Literal["close"]


class BatchRequest(_SpeechFields):
    """The body of `POST /invocations`: a speak's fields, and what OpenAI's clients send.

    `model` is always sent by OpenAI's clients; there is one model here, so it is not looked at.
    """

    format: BatchFormat = Field("wav", description='"wav" or "pcm"')
    timestamps: Literal[False] = Field(
        False, description="false: only a session has a place for them"
    )
    transport: Literal["http"] = Field("http", description='"http", a streamed body')
    model: str | None = Field(None, description="a string")


_CLIENT_MESSAGES: dict[str, type[Speak | Cancel | Close]] = {
    "speak": Speak,
    "cancel": Cancel,
    "close": Close,
}
_OPENAI_NAMES = {"input": "text", "response_format": "format"}


def decode(frame: str | bytes) -> Speak | Cancel | Close:
    """One frame's message.

    Raises:
        ProtocolError: `invalid`, with the field, its value and what is accepted.
    """
    fields = _json_object(frame)
    kind = fields.get("type", "speak" if "text" in fields else None)
    if kind is None:
        raise _invalid(fields, "a message needs a type (speak, cancel or close) or a text")
    model = _CLIENT_MESSAGES.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise _invalid(fields, f"type: {_shown(kind)} is not accepted, give speak, cancel or close")
    return _validated(model, fields)


def decode_batch(body: bytes) -> BatchRequest:
    """The body of `POST /invocations`; OpenAI's `input` and `response_format` are aliases.

    Raises:
        ProtocolError: `invalid`, with the field, its value and what is accepted.
    """
    fields = _json_object(body)
    for alias, name in _OPENAI_NAMES.items():
        if alias in fields:
            if name in fields:
                raise _invalid(fields, f"{alias}: another name for {name}, give one of them")
            fields[name] = fields.pop(alias)
    return _validated(BatchRequest, fields)


def resolve_voice(voices: Voices, name: str | None) -> Voice:
    """The voice, or mix, of that name; the default's without one.

    Raises:
        ProtocolError: `unknown_voice`, the message lists the voices; or `invalid`, a mix that
            cannot be spoken.
    """
    try:
        return voices.resolve(name)
    except UnknownVoiceError as error:
        raise ProtocolError("unknown_voice", f"voice: {error}") from None
    except InvalidMixError as error:
        raise ProtocolError("invalid", f"voice: {error}") from None


def _json_object(data: str | bytes) -> dict[str, Any]:
    # jiter rather than json: bounded nesting, no NaN, no lone surrogates.
    try:
        value = pydantic_core.from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise ProtocolError("invalid", f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ProtocolError("invalid", "not a JSON object")
    return value


def _validated[Message: _Inbound](model: type[Message], fields: dict[str, Any]) -> Message:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    name = str(first["loc"][0])
    if first["type"] == "extra_forbidden":
        known = ", ".join(model.model_fields)
        raise _invalid(fields, f"{_shown(name)}: unknown key, the keys are {known}")
    accepted = model.model_fields[name].description
    if first["type"] == "missing":
        raise _invalid(fields, f"{name}: missing, give {accepted}")
    raise _invalid(fields, f"{name}: {_shown(first['input'])} is not accepted, give {accepted}")


def _invalid(fields: dict[str, Any], message: str) -> ProtocolError:
    request_id = fields.get("request_id")
    if not isinstance(request_id, str) or not 0 < len(request_id) <= MAX_REQUEST_ID_CHARS:
        request_id = None
    return ProtocolError("invalid", message, request_id)


def _shown(value: object) -> str:
    """`value` as it may stand in a message: never longer than a line."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


class _Outbound(BaseModel):
    model_config = ConfigDict(frozen=True)

    def encode(self) -> str:
        """The event as one text frame: compact JSON, keys in the order of the fields."""
        return self.model_dump_json()


class SynthesisStart(_Outbound):
    """The audio of a request follows."""

    type: Literal["synthesis_start"] = "synthesis_start"
    request_id: str
    voice: str
    format: SessionFormat = "pcm"
    sample_rate: int = SAMPLE_RATE_HZ
    channels: int = 1


def word_in_request(word: WordTime, begin_s: float) -> WordTime:
    """The word's times in its request's audio, in which its sentence begins at `begin_s`."""
    start_s, end_s = (round(begin_s + time_s, 3) for time_s in (word.start_s, word.end_s))
    return WordTime(word.text, start_s, end_s)


class Timing(_Outbound):
    """The words in the audio that follows, up to the next `Timing` of the request."""

    type: Literal["timing"] = "timing"
    request_id: str
    words: tuple[WordTime, ...]


class SynthesisComplete(_Outbound):
    """All audio of a request is sent.

    `elapsed_s`, `queued_s` and `first_audio_s` count from the arrival of the request: to this
    event, to the beginning of work on it and to its first audio frame.
    """

    type: Literal["synthesis_complete"] = "synthesis_complete"
    request_id: str
    total_duration_s: float
    elapsed_s: float
    queued_s: float
    first_audio_s: float


class Cancelled(_Outbound):
    """A request was dropped after `sent_duration_s` of its audio."""

    type: Literal["cancelled"] = "cancelled"
    request_id: str
    sent_duration_s: float


class Error(_Outbound):
    """A message was refused or a request failed; the session goes on."""

    type: Literal["error"] = "error"
    request_id: str | None
    code: ErrorCode
    message: str


class GoingAway(_Outbound):
    """The session ends in `deadline_s`: finish, or move to another one."""

    type: Literal["going_away"] = "going_away"
    reason: Literal["idle", "session_limit", "shutdown"]
    deadline_s: float


ServerMessage = SynthesisStart | Timing | SynthesisComplete | Cancelled | Error | GoingAway
