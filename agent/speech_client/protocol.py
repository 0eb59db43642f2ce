"""Speech protocol 1, the client's side, without I/O.

Messages to the container are JSON objects in text frames. From the container, control is JSON in
text frames and audio is binary frames. Within a session requests are answered in order and their
frames do not interleave, so audio belongs to the last `synthesis_start`.

SageMaker carries one WebSocket frame as one or more payload parts, each with an optional
`DataType` (`UTF8` or `BINARY`) and `CompletionState` (`PARTIAL` or `COMPLETE`):
https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict, Unpack

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

MAX_FRAME_BYTES = 1 << 20
"""A fragmented frame longer than this is dropped: the container sends at most 16 KiB a frame."""


class SpeakSettings(TypedDict, total=False):
    """How a text is spoken; the container's default applies to what is absent or None."""

    voice: str | None
    """A voice's name, or a mix such as `af_bella(2)+af_sky(1)`."""

    speed: float | None
    """0.5 to 2; 1 is the voice's own pace."""

    granularity: Literal["window", "sentence"] | None
    """In what audio is synthesized and sent: windows inside a sentence, or sentences."""

    timestamps: bool
    """Whether `Timing` events say when each word is heard."""


class _Event(BaseModel):
    # A newer container may say more than this client knows.
    model_config = ConfigDict(extra="ignore", frozen=True)


class SynthesisStart(_Event):
    """The container begins to speak a request; the audio that follows belongs to it."""

    type: Literal["synthesis_start"]
    request_id: str
    voice: str
    format: str
    sample_rate: int
    channels: int


class Word(_Event):
    """A word, with its punctuation, and when it is heard in the audio of its request."""

    text: str
    start_s: float
    end_s: float


class Timing(_Event):
    """The words in the audio that follows, up to the request's next `Timing`."""

    type: Literal["timing"]
    request_id: str
    words: list[Word]


class SynthesisComplete(_Event):
    """A request is fully spoken. All times are the container's, in seconds."""

    type: Literal["synthesis_complete"]
    request_id: str
    total_duration_s: float
    elapsed_s: float
    queued_s: float
    first_audio_s: float


class Cancelled(_Event):
    """A request was stopped or dropped after `sent_duration_s` seconds of its audio."""

    type: Literal["cancelled"]
    request_id: str
    sent_duration_s: float


class RequestError(_Event):
    """The container refuses or fails one request; `request_id` is null if it could not tell which.

    The session goes on.
    """

    type: Literal["error"]
    request_id: str | None = None
    code: str
    message: str


class GoingAway(_Event):
    """The session ends in `deadline_s` seconds: finish what is in flight, speak the rest anew."""

    type: Literal["going_away"]
    reason: str
    deadline_s: float


@dataclass(frozen=True)
class Audio:
    """Audio of one request: whole samples, in the format its `SynthesisStart` named."""

    request_id: str
    data: bytes


@dataclass(frozen=True)
class Unrecognized:
    """A frame that says nothing this client understands; `reason` is for the log."""

    reason: str


type Control = SynthesisStart | Timing | SynthesisComplete | Cancelled | RequestError | GoingAway
type Event = Control | Audio | Unrecognized

_CONTROL: TypeAdapter[Control] = TypeAdapter(Annotated[Control, Field(discriminator="type")])


class SpeechProtocol:
    """One session's state: what was asked for, what is being spoken, what is still to come.

    Call `speak`, `cancel` and `close` for the messages to send, and `receive` with every payload
    part that arrives, in order.
    """

    def __init__(self) -> None:
        self._in_flight: dict[str, None] = {}
        self._speaking: str | None = None
        self._fragments = bytearray()
        self._fragment_type: str | None = None

    @property
    def in_flight(self) -> Iterable[str]:
        """Ids of the requests not yet completed, cancelled or refused, oldest first."""
        return tuple(self._in_flight)

    def speak(self, text: str, request_id: str, **settings: Unpack[SpeakSettings]) -> str:
        """Return the message that asks for `text` to be spoken.

        Args:
            text: What to say.
            request_id: Names the request in every event about it; unique among those in flight.
            **settings: How to say it.

        Raises:
            ValueError: The text is blank or the id is in flight already.
            TypeError: `settings` holds a name that is not one of `SpeakSettings`.
        """
        if unknown := settings.keys() - SpeakSettings.__annotations__.keys():
            raise TypeError(f"speak takes no {', '.join(sorted(unknown))}")
        if not text.strip():
            raise ValueError("text: is blank, there is nothing to speak")
        if request_id in self._in_flight:
            raise ValueError(f"request_id: {request_id!r} is in flight already")
        message: dict[str, object] = {"type": "speak", "text": text, "request_id": request_id}
        chosen = {k: v for k, v in settings.items() if v is not None and v is not False}
        built = _json(message | chosen)
        self._in_flight[request_id] = None
        return built

    def cancel(self, request_id: str | None = None) -> str:
        """Return the message that stops one request, or all of them."""
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
        """Take one payload part and return the event it completes, None if more must come.

        Args:
            data: The part's bytes.
            data_type: Its `DataType`, `UTF8` or `BINARY`. When absent, the frame is control only
                if it is a JSON object of a known `type`, and audio otherwise.
            completion_state: Its `CompletionState`; anything but `PARTIAL` ends the frame.
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
            if not (is_typed or first["loc"]):  # an object of a known type would be named here
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
