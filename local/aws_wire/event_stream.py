"""Reading and writing the `application/vnd.amazon.eventstream` framing, without I/O.

The package `smithy-aws-event-stream` encodes events and decodes their headers, but it reads only
complete events. `EventDecoder` finds the events in a stream and checks what that package does not.

The format is described at
https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html and
https://smithy.io/2.0/aws/amazon-eventstream.html. A message consists of

    total length (4) | headers length (4) | CRC32 of those 8 bytes (4)
    headers | payload | CRC32 of all before it (4)

with every integer big-endian.
"""

import datetime as dt
import json
import struct
import zlib
from io import BytesIO
from typing import Literal

from smithy_aws_event_stream.events import (
    HEADERS_DICT,
    MAX_HEADERS_LENGTH,
    MAX_PAYLOAD_LENGTH,
    Event,
    EventHeaderEncoder,
    EventMessage,
)
from smithy_aws_event_stream.exceptions import EventError

CONTENT_TYPE = "application/vnd.amazon.eventstream"

_PRELUDE_BYTES = 12
_CRC_BYTES = 4


class EventStreamError(ValueError):
    """The bytes are not an event stream. The bytes after them cannot be read either."""


def json_event(kind: Literal["event", "exception"], name: str, body: object) -> EventMessage:
    """Return the event or exception `name` of a service's model, with `body` as JSON."""
    headers = {
        ":message-type": kind,
        f":{kind}-type": name,
        ":content-type": "application/json",
    }
    return EventMessage(headers=headers, payload=json.dumps(body).encode())


class EventDecoder:
    """Finds the events in a byte stream, which may arrive in chunks of any size.

    It holds at most one incomplete event. The event's size is checked as soon as its prelude has
    arrived.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def buffered_bytes(self) -> int:
        """The size of the incomplete event that is held, or 0 between events."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[EventMessage]:
        """Take the next bytes and return the events that they complete.

        Raises:
            EventStreamError: A checksum, a length or a header is wrong. The decoder cannot be used
                any more.
        """
        self._buffer += data
        events = []
        while len(self._buffer) >= _PRELUDE_BYTES:
            total_bytes, headers_bytes = self._read_prelude()
            if len(self._buffer) < total_bytes:
                break
            events.append(_decode(self._buffer[:total_bytes], headers_bytes))
            del self._buffer[:total_bytes]
        return events

    def _read_prelude(self) -> tuple[int, int]:
        total_bytes, headers_bytes, checksum = struct.unpack_from(">III", self._buffer)
        if zlib.crc32(self._buffer[:8]) != checksum:
            raise EventStreamError("the checksum of an event's prelude does not match")
        payload_bytes = total_bytes - headers_bytes - _PRELUDE_BYTES - _CRC_BYTES
        if headers_bytes > MAX_HEADERS_LENGTH or not 0 <= payload_bytes <= MAX_PAYLOAD_LENGTH:
            raise EventStreamError(
                f"an event with {headers_bytes} bytes of headers and {payload_bytes} of payload is "
                f"outside the limits of 0 to {MAX_HEADERS_LENGTH} and 0 to {MAX_PAYLOAD_LENGTH}"
            )
        return total_bytes, headers_bytes


def _decode(message: bytearray, headers_bytes: int) -> EventMessage:
    """Decode one complete event, whose prelude has been checked."""
    try:
        event = Event.decode(BytesIO(message))
    except (EventError, KeyError, OverflowError, ValueError, struct.error) as error:
        raise EventStreamError(f"an event cannot be read: {error!r}") from error
    assert event is not None  # it is None only for an empty message
    # If a value is cut short, the SDK's decoder ends it at the end of the headers.
    headers_end = _PRELUDE_BYTES + headers_bytes
    if encode_headers(event.message.headers) != message[_PRELUDE_BYTES:headers_end]:
        raise EventStreamError("a header is cut short")
    return event.message


def encode_headers(headers: HEADERS_DICT) -> bytes:
    """Return the headers block from which `headers` were decoded."""
    encoder = EventHeaderEncoder()
    for name, value in headers.items():
        if isinstance(value, dt.datetime):  # the encoder's floats sometimes lose a millisecond
            value += dt.timedelta(microseconds=500)
        encoder.encode_headers({name: value})
    return encoder.get_result()
