"""The client's side of speech protocol 1, without I/O.

Messages to the container are JSON objects in text frames. The container sends control messages as
JSON in text frames and audio in binary frames. Within a session, it answers requests in order and
does not interleave their frames. Audio therefore belongs to the last `synthesis_start`.

SageMaker carries one WebSocket frame as one or more payload parts. Each payload part has an
optional `DataType` (`UTF8` or `BINARY`) and `CompletionState` (`PARTIAL` or `COMPLETE`):
https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict, Unpack

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

MAX_FRAME_BYTES = 1 << 20
"""Longer fragmented frames are dropped. The container sends at most 16 KiB in a frame."""


class SpeakSettings(TypedDict, total=False):
    """How a text is spoken. The container's default applies to a key that is absent or None."""

    voice: str | None
    """The name of a voice, or a mix such as `af_bella(2)+af_sky(1)`."""

    speed: float | None
    """A factor from 0.5 to 2; 1 is the voice's own pace."""

    granularity: Literal["window", "sentence"] | None
    """The unit in which audio is synthesized and sent: windows inside a sentence, or sentences."""

    timestamps: bool
    """Whether the container sends `Timing` events, which give the time of each word."""

    sentence: bool
    """Whether the text is one sentence. The container splits other texts into sentences."""


class _Event(BaseModel):
    # A newer container may send fields that this client does not know.
    model_config = ConfigDict(extra="ignore", frozen=True)


class SynthesisStart(_Event):
    """The container begins to speak a request. The audio that follows belongs to this request.

    `warning` is what is probably wrong with the request, such as the voice's language.
    """

    type: Literal["synthesis_start"]
    request_id: str
    voice: str
    format: str
    sample_rate: int
    channels: int
    warning: str | None = None


class Word(_Event):
    """A word with its punctuation and the blank after it. Times are in its request, in seconds."""

    text: str
    start_s: float
    end_s: float


class Timing(_Event):
    """The words that the following audio speaks, up to the next `Timing` of the request."""

    type: Literal["timing"]
    request_id: str
    words: list[Word]


class SynthesisComplete(_Event):
    """A request has been spoken completely. All times are in seconds, by the container's clock.

    `unspoken` are the words of the text for which the container knows no sound.
    """

    type: Literal["synthesis_complete"]
    request_id: str
    total_duration_s: float
    elapsed_s: float
    queued_s: float
    first_audio_s: float
    unspoken: list[str] = []


class Cancelled(_Event):
    """A request was stopped or dropped. `sent_duration_s` seconds of its audio had been sent."""

    type: Literal["cancelled"]
    request_id: str
    sent_duration_s: float


class RequestError(_Event):
    """The container refuses a request, or fails to speak it. The session stays open.

    `request_id` is None if the container could not identify the request.
    """

    type: Literal["error"]
    request_id: str | None = None
    code: str
    message: str


class GoingAway(_Event):
    """The session ends in `deadline_s` seconds.

    Let the requests in flight finish, and send new requests in another session.
    """

    type: Literal["going_away"]
    reason: str
    deadline_s: float


@dataclass(frozen=True)
class Audio:
    """Audio of one request: whole samples in the format that its `SynthesisStart` states."""

    request_id: str
    data: bytes


@dataclass(frozen=True)
class Unrecognized:
    """A frame that this client does not understand; `reason` is for the log."""

    reason: str


type Control = SynthesisStart | Timing | SynthesisComplete | Cancelled | RequestError | GoingAway
type Event = Control | Audio | Unrecognized

_CONTROL: TypeAdapter[Control] = TypeAdapter(Annotated[Control, Field(discriminator="type")])


class SpeechProtocol:
    """The state of one session: the requests in flight, and the request that is being spoken.

    `speak`, `cancel` and `close` return the messages to send. Pass every payload part that arrives
    to `receive`, in order.
    """

    def __init__(self) -> None:
        self._in_flight: dict[str, None] = {}
        self._speaking: str | None = None
        self._fragments = bytearray()
        self._fragment_type: str | None = None

    @property
    def in_flight(self) -> Iterable[str]:
        """Ids of the requests that are not completed, cancelled or refused, oldest first."""
        return tuple(self._in_flight)

    def speak(self, text: str, request_id: str, **settings: Unpack[SpeakSettings]) -> str:
        """Return the message that requests speech for `text`.

        Args:
            text: What to say.
            request_id: Identifies the request in its events. It must be unique among the requests
                in flight.
            **settings: How to say it.

        Raises:
            ValueError: The text is blank, or a request with this id is in flight.
            TypeError: `settings` contains a key that is not in `SpeakSettings`.
        """
        if unknown := settings.keys() - SpeakSettings.__annotations__.keys():
            known = ", ".join(SpeakSettings.__annotations__)
            raise TypeError(
                f"speak: unknown {', '.join(sorted(unknown))}; the settings are {known}"
            )
        if not text.strip():
            raise ValueError(f"text: {text!r} is blank; pass text that can be spoken")
        if request_id in self._in_flight:
            raise ValueError(
                f"request_id: {request_id!r} is in flight already; pass an id that is unique among "
                "the requests in flight"
            )
        message: dict[str, object] = {"type": "speak", "text": text, "request_id": request_id}
        chosen = {k: v for k, v in settings.items() if v is not None and v is not False}
        built = _json(message | chosen)
        self._in_flight[request_id] = None
        return built

    def cancel(self, request_id: str | None = None) -> str:
        """Return the message that stops one request, or all requests if `request_id` is None."""
        message: dict[str, object] = {"type": "cancel"}
        if request_id is not None:
            message["request_id"] = request_id
        return _json(message)

    def close(self) -> str:
        """Return the message that ends the session."""
        return _json({"type": "close"})

    def receive(
        self, data: bytes, data_type: str | None = None, completion_state: str | None = None
    ) -> Event | None:
        """Take one payload part and return the event that it completes.

        Returns None if the frame is not complete yet.

        Args:
            data: The bytes of the payload part.
            data_type: Its `DataType`, `UTF8` or `BINARY`. If it is absent, the frame is a control
                message if it is a JSON object of a known `type`, and audio otherwise.
            completion_state: Its `CompletionState`. Any value except `PARTIAL` ends the frame.
        """
        if completion_state == "PARTIAL" or self._fragments:
            if not self._fragments:
                self._fragment_type = data_type
            self._fragments += data
            if completion_state == "PARTIAL" and len(self._fragments) <= MAX_FRAME_BYTES:
                return None
            data, data_type = bytes(self._fragments), self._fragment_type
            self._fragments.clear()
            if completion_state == "PARTIAL":
                return Unrecognized(f"a frame of more than {MAX_FRAME_BYTES} bytes")
        if data_type in ("UTF8", None):
            return self._receive_control(data, is_typed=data_type is not None)
        return self._receive_audio(data)

    def _receive_audio(self, data: bytes) -> Event:
        if self._speaking is None:
            return Unrecognized(f"{len(data)} bytes of audio before any synthesis_start")
        return Audio(self._speaking, data)

    def _receive_control(self, data: bytes, *, is_typed: bool) -> Event:
        try:
            event = _CONTROL.validate_json(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            if not (is_typed or first["loc"]):  # `loc` begins with the type if that is known
                return self._receive_audio(data)
            where = ".".join(map(str, first["loc"])) or "frame"
            return Unrecognized(f"{where}: {first['msg']}")
        match event:
            case SynthesisStart():
                if event.request_id not in self._in_flight:
                    return Unrecognized(f"synthesis_start of unknown request {event.request_id!r}")
                self._speaking = event.request_id
            case Timing():
                if event.request_id != self._speaking:
                    return Unrecognized(
                        f"timing of {event.request_id!r}, which is not being spoken"
                    )
            case SynthesisComplete() | Cancelled() | RequestError():
                if event.request_id is None:
                    return event
                if event.request_id not in self._in_flight:
                    return Unrecognized(f"{event.type} of unknown request {event.request_id!r}")
                del self._in_flight[event.request_id]
                if self._speaking == event.request_id:
                    self._speaking = None
            case GoingAway():
                pass
        return event


def _json(message: dict[str, object]) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))
