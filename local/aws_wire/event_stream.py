"""Reading and writing the `application/vnd.amazon.eventstream` framing, without I/O.

Events are encoded and their headers decoded by `smithy-aws-event-stream`, which reads only complete
events; `EventDecoder` finds these in a stream and checks what that package leaves unchecked.

Format: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html and
https://smithy.io/2.0/aws/amazon-eventstream.html. One message is

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
    """The bytes are no event stream. What follows them cannot be read either."""


def json_event(kind: Literal["event", "exception"], name: str, body: object) -> EventMessage:
    """Return the event `name` of a service's model, or its exception, with `body` as JSON."""
    headers = {
        ":message-type": kind,
        f":{kind}-type": name,
        ":content-type": "application/json",
    }
    return EventMessage(headers=headers, payload=json.dumps(body).encode())


class EventDecoder:
    """Cuts a byte stream into events, however the bytes arrive.

    It holds at most one incomplete event, whose size is checked as soon as its prelude is there.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()

    @property
    def buffered_bytes(self) -> int:
        """How much of an incomplete event is held: 0 between events."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[EventMessage]:
        """Take the next bytes and return the events they complete.

        Raises:
            EventStreamError: A checksum, a length or a header is wrong. The decoder is of no use
                afterwards.
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
                f"an event of {headers_bytes} bytes of headers and {payload_bytes} of payload is "
                f"outside 0 to {MAX_HEADERS_LENGTH} and 0 to {MAX_PAYLOAD_LENGTH}"
            )
        return total_bytes, headers_bytes


def _decode(message: bytearray, headers_bytes: int) -> EventMessage:
    """Decode one complete event, whose prelude has been checked."""
    try:
        event = Event.decode(BytesIO(message))
    except (EventError, KeyError, OverflowError, ValueError, struct.error) as error:
        raise EventStreamError(f"an event cannot be read: {error!r}") from error
    assert event is not None  # as for an empty message
    # The SDK's decoder takes the end of the headers for the end of a value that is cut short.
    headers_end = _PRELUDE_BYTES + headers_bytes
    if encode_headers(event.message.headers) != message[_PRELUDE_BYTES:headers_end]:
        raise EventStreamError("a header is cut short")
    return event.message


def encode_headers(headers: HEADERS_DICT) -> bytes:
    """Return the headers block that `headers` have been decoded from."""
    encoder = EventHeaderEncoder()
    for name, value in headers.items():
        if isinstance(value, dt.datetime):  # the encoder's floats lose a millisecond now and then
            value += dt.timedelta(microseconds=500)
        encoder.encode_headers({name: value})
    return encoder.get_result()
