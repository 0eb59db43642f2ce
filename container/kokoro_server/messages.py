"""Speech protocol 1 on the wire: what a client may send and what the server answers.

Control messages are JSON in text frames; audio is 16-bit little-endian PCM in binary frames. A
client's control messages are accepted in either frame type, because SageMaker delivers a payload
part without `DataType` as binary.
"""

import reprlib
from typing import Any, Literal

import pydantic_core
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from kokoro_server.codecs import BatchFormat, SessionFormat
from kokoro_voice.audio import SAMPLE_RATE_HZ
from kokoro_voice.errors import InvalidMixError, UnknownVoiceError
from kokoro_voice.timing import WordTime
from kokoro_voice.voices import Voice, Voices

MAX_REQUEST_ID_CHARS = 128
MAX_LEXICON_WORDS = 200

Granularity = Literal["window", "sentence"]
"""The unit in which audio is synthesized and sent: windows inside a sentence, or sentences."""

ErrorCode = Literal[
    "invalid", "unknown_voice", "too_long", "unreadable", "busy", "stale", "internal"
]


class ProtocolError(Exception):
    """A request that is refused.

    Args:
        code: One of the protocol's error codes.
        message: The problem, with the field, its value and what is accepted.
        request_id: The client's id of the request, if it could be read.
    """

    def __init__(self, code: ErrorCode, message: str, request_id: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.request_id = request_id


INTERNAL = ProtocolError("internal", "the speech could not be synthesized; see the server's log")
"""The answer to a client after a fault of the server. The cause is in the log only."""


class _Inbound(BaseModel):
    # Error messages quote a field's description to say what is accepted.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _SpeechFields(_Inbound):
    text: str = Field(description="a string that is not blank")
    request_id: str | None = Field(
        None,
        min_length=1,
        max_length=MAX_REQUEST_ID_CHARS,
        description=f"a string of 1 to {MAX_REQUEST_ID_CHARS} characters",
    )
    voice: str | None = Field(
        None, description="the name of a voice or a mix such as af_bella(2)+af_sky(1)"
    )
    speed: float = Field(1.0, ge=0.5, le=2.0, description="a number from 0.5 to 2")
    sample_rate: Literal[24_000] = Field(24_000, description="24000")
    granularity: Granularity | None = Field(None, description='"window" or "sentence"')
    lexicon: dict[str, str] | None = Field(
        None,
        description=f"an object of at most {MAX_LEXICON_WORDS} words and their pronunciations",
    )

    @field_validator("text")
    @classmethod
    def _has_something_to_say(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("blank")
        return text

    @field_validator("lexicon", mode="before")
    @classmethod
    def _has_few_words(cls, lexicon: object) -> object:
        # pydantic would first check each of any number of words.
        if isinstance(lexicon, dict) and len(lexicon) > MAX_LEXICON_WORDS:
            raise ValueError("too many words")
        return lexicon


class Speak(_SpeechFields):
    """Speak `text`.

    Without a `request_id` the session generates one. Without a `voice` or a `granularity` the
    default applies. `lexicon` has pronunciations of words. With `timestamps`, the times of the
    words are sent. With `sentence`, the text is one sentence, which the server does not split.
    """

    type: Literal["speak"] = "speak"
    timestamps: bool = Field(False, description="true or false")
    sentence: bool = Field(False, description="true or false")
    format: SessionFormat = Field("pcm", description='"pcm"')
    request_timestamp: float | None = Field(None, description="a number of Unix seconds")


class Cancel(_Inbound):
    """Cancel one request, or all of them without a `request_id`."""

    type: Literal["cancel"]
    request_id: str | None = Field(None, description="a string")


class Close(_Inbound):
    """Cancel all requests and close the session."""

    type: Literal["close"]


class BatchRequest(_SpeechFields):
    """The body of `POST /invocations`: the fields of `speak`, and those that OpenAI's clients send.

    OpenAI's clients always send `model`. It is ignored, because there is only one model.
    """

    format: BatchFormat = Field("wav", description='"wav" or "pcm"')
    timestamps: Literal[False] = Field(
        False, description="false; word times are sent in WebSocket sessions only"
    )
    transport: Literal["http"] = Field("http", description='"http"; the body is streamed')
    model: str | None = Field(None, description="a string")


_CLIENT_MESSAGES: dict[str, type[Speak | Cancel | Close]] = {
    "speak": Speak,
    "cancel": Cancel,
    "close": Close,
}
_OPENAI_NAMES = {"input": "text", "response_format": "format"}


def decode(frame: str | bytes) -> Speak | Cancel | Close:
    """Decode one frame.

    Raises:
        ProtocolError: `invalid`, naming the field, its value and what is accepted.
    """
    fields = _json_object(frame)
    kind = fields.get("type", "speak" if "text" in fields else None)
    if kind is None:
        raise _invalid(fields, "a message needs a type (speak, cancel or close) or a text")
    model = _CLIENT_MESSAGES.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise _invalid(fields, f"type: {_shown(kind)} is not accepted; give speak, cancel or close")
    return _validated(model, fields)


def decode_batch(body: bytes) -> BatchRequest:
    """Decode the body of `POST /invocations`. It may use OpenAI's `input` and `response_format`.

    Raises:
        ProtocolError: `invalid`, naming the field, its value and what is accepted.
    """
    fields = _json_object(body)
    for alias, name in _OPENAI_NAMES.items():
        if alias in fields:
            if name in fields:
                raise _invalid(fields, f"{alias}: an alias of {name}; give only one of them")
            fields[name] = fields.pop(alias)
    return _validated(BatchRequest, fields)


def resolve_voice(voices: Voices, name: str | None) -> Voice:
    """Return the voice, or mix, called `name`; the default if it is None.

    Raises:
        ProtocolError: `unknown_voice`, with a list of the voices; or `invalid`, if the mix is not
            possible.
    """
    try:
        return voices.resolve(name)
    except UnknownVoiceError as error:
        raise ProtocolError("unknown_voice", f"voice: {error}") from None
    except InvalidMixError as error:
        raise ProtocolError("invalid", f"voice: {error}") from None


def _json_object(data: str | bytes) -> dict[str, Any]:
    # Unlike json, jiter limits the nesting and refuses NaN and lone surrogates.
    try:
        value = pydantic_core.from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise ProtocolError("invalid", f"not valid JSON: {error}; send a JSON object") from None
    if not isinstance(value, dict):
        raise ProtocolError("invalid", "not a JSON object; send an object with a text or a type")
    return value


def _validated[Message: _Inbound](model: type[Message], fields: dict[str, Any]) -> Message:
    # Of unknown keys, pydantic would collect any number of errors.
    if unknown := next((name for name in fields if name not in model.model_fields), None):
        known = ", ".join(model.model_fields)
        raise _invalid(fields, f"{_shown(unknown)}: unknown key; the keys are {known}")
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
    name = str(first["loc"][0])
    accepted = model.model_fields[name].description
    if first["type"] == "missing":
        raise _invalid(fields, f"{name}: missing; give {accepted}")
    raise _invalid(fields, f"{name}: {_shown(first['input'])} is not accepted; give {accepted}")


def _invalid(fields: dict[str, Any], message: str) -> ProtocolError:
    request_id = fields.get("request_id")
    if not isinstance(request_id, str) or not 0 < len(request_id) <= MAX_REQUEST_ID_CHARS:
        request_id = None
    return ProtocolError("invalid", message, request_id)


def _shown(value: object) -> str:
    """Format `value` for a message, in at most 58 characters, whatever its size."""
    text = repr(value[:60]) if isinstance(value, str) else reprlib.repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


class _Outbound(BaseModel):
    model_config = ConfigDict(frozen=True)

    def encode(self) -> str:
        """Return the event as one text frame: compact JSON, keys in the order of the fields."""
        return self.model_dump_json()


class SynthesisStart(_Outbound):
    """Announces that the audio of a request follows.

    `warning` is absent unless something is probably wrong, such as the voice's language.
    """

    type: Literal["synthesis_start"] = "synthesis_start"
    request_id: str
    voice: str
    format: SessionFormat = "pcm"
    sample_rate: int = SAMPLE_RATE_HZ
    channels: int = 1
    warning: str | None = None

    def encode(self) -> str:
        """Return the event as one text frame, without a warning if there is none."""
        return self.model_dump_json(exclude_none=True)


def word_in_request(word: WordTime, begin_s: float) -> WordTime:
    """Shift a word's times to its request's audio, in which its sentence starts at `begin_s`."""
    start_s, end_s = (round(begin_s + time_s, 3) for time_s in (word.start_s, word.end_s))
    return WordTime(word.text, start_s, end_s)


class Timing(_Outbound):
    """The words in the audio that follows, up to the request's next `Timing`."""

    type: Literal["timing"] = "timing"
    request_id: str
    words: tuple[WordTime, ...]


class SynthesisComplete(_Outbound):
    """All audio of a request has been sent.

    `elapsed_s`, `queued_s` and `first_audio_s` count from the arrival of the request: until this
    event, until work on it began, and until its first audio frame. `unspoken` are the words of the
    text for which no sound is known, as they were written.
    """

    type: Literal["synthesis_complete"] = "synthesis_complete"
    request_id: str
    total_duration_s: float
    elapsed_s: float
    queued_s: float
    first_audio_s: float
    unspoken: tuple[str, ...]


class Cancelled(_Outbound):
    """A request was cancelled after `sent_duration_s` seconds of its audio had been sent."""

    type: Literal["cancelled"] = "cancelled"
    request_id: str
    sent_duration_s: float


class Error(_Outbound):
    """A message was refused, or a request failed. The session continues."""

    type: Literal["error"] = "error"
    request_id: str | None
    code: ErrorCode
    message: str


class GoingAway(_Outbound):
    """The session ends in `deadline_s` seconds. The client should finish or open another one."""

    type: Literal["going_away"] = "going_away"
    reason: Literal["idle", "session_limit", "shutdown"]
    deadline_s: float


ServerMessage = SynthesisStart | Timing | SynthesisComplete | Cancelled | Error | GoingAway
