"""The `application/vnd.amazon.eventstream` framing, without I/O.

Format: https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html and
https://smithy.io/2.0/aws/amazon-eventstream.html. One message is

    total length (4) | headers length (4) | CRC32 of those 8 bytes (4)
    headers | payload | CRC32 of all before it (4)

with every integer big-endian.
"""

import datetime as dt
import struct
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_HEADERS_BYTES = 128 * 1024
"""The longest headers block that the specification allows."""

MAX_PAYLOAD_BYTES = 16 * 1024 * 1024
"""The longest payload that the official Python SDK reads and writes."""

CONTENT_TYPE = "application/vnd.amazon.eventstream"

_PRELUDE_BYTES = 12
_CRC_BYTES = 4
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MILLISECOND = dt.timedelta(milliseconds=1)

type HeaderValue = bool | int | bytes | str | dt.datetime | uuid.UUID


class EventStreamError(ValueError):
    """The bytes are no event stream. What follows them cannot be read either."""


@dataclass(frozen=True)
class Event:
    """One message: its headers, in order, and its payload."""

    headers: Mapping[str, HeaderValue] = field(default_factory=dict)
    payload: bytes = b""


def encode_headers(headers: Mapping[str, HeaderValue]) -> bytes:
    """Return the headers block.

    Only strings, bytes and timestamps (cut to milliseconds) are written: AWS streams send no
    other type.

    Raises:
        TypeError: A value is of another type.
    """
    block = bytearray()
    for name, value in headers.items():
        encoded_name = name.encode()
        block += struct.pack(">B", len(encoded_name)) + encoded_name
        match value:
            case bytes():
                block += struct.pack(">BH", 6, len(value)) + value
            case str():
                encoded_value = value.encode()
                block += struct.pack(">BH", 7, len(encoded_value)) + encoded_value
            case dt.datetime():
                block += struct.pack(">Bq", 8, (value - _EPOCH) // _MILLISECOND)
            case _:
                raise TypeError(f"header {name!r} has the unsupported type {type(value).__name__}")
    return bytes(block)


def encode_event(event: Event) -> bytes:
    """Return the message as it goes on the wire.

    Raises:
        ValueError: The payload or the headers are longer than the format allows.
    """
    headers = encode_headers(event.headers)
    if len(headers) > MAX_HEADERS_BYTES or len(event.payload) > MAX_PAYLOAD_BYTES:
        raise ValueError(
            f"an event has at most {MAX_HEADERS_BYTES} bytes of headers and {MAX_PAYLOAD_BYTES} of "
            f"payload, not {len(headers)} and {len(event.payload)}"
        )
    total_bytes = _PRELUDE_BYTES + len(headers) + len(event.payload) + _CRC_BYTES
    lengths = struct.pack(">II", total_bytes, len(headers))
    prelude = lengths + struct.pack(">I", zlib.crc32(lengths))
    message = b"".join((prelude, headers, event.payload))
    return message + struct.pack(">I", zlib.crc32(message))


def decode_headers(block: bytes) -> dict[str, HeaderValue]:
    """Read a headers block.

    Raises:
        EventStreamError: The block is cut short, repeats a name or holds an unknown type.
    """
    headers: dict[str, HeaderValue] = {}
    offset = 0
    try:
        while offset < len(block):
            name_end = offset + 1 + block[offset]
            if name_end >= len(block):
                raise EventStreamError("a header is cut short")
            name = block[offset + 1 : name_end].decode()
            if name in headers:
                raise EventStreamError(f"the header {name!r} is there twice")
            headers[name], offset = _decode_value(block, name_end)
    except (struct.error, UnicodeDecodeError) as error:
        raise EventStreamError(f"a header cannot be read: {error}") from error
    return headers


_INTEGER_FORMATS = {2: ">b", 3: ">h", 4: ">i", 5: ">q"}


def _decode_value(block: bytes, offset: int) -> tuple[HeaderValue, int]:
    """Read the type byte and value at `offset`; return the value and the offset after it."""
    kind = block[offset]
    offset += 1
    if kind in (0, 1):
        return kind == 0, offset
    if kind in _INTEGER_FORMATS:
        layout = _INTEGER_FORMATS[kind]
        (number,) = struct.unpack_from(layout, block, offset)
        return int(number), offset + struct.calcsize(layout)
    if kind in (6, 7):
        (length,) = struct.unpack_from(">H", block, offset)
        (raw,) = struct.unpack_from(f">{length}s", block, offset + 2)
        return raw.decode() if kind == 7 else bytes(raw), offset + 2 + length
    if kind == 8:
        (milliseconds,) = struct.unpack_from(">q", block, offset)
        try:
            return _EPOCH + milliseconds * _MILLISECOND, offset + 8
        except OverflowError as error:
            raise EventStreamError(f"timestamp {milliseconds} ms is out of range") from error
    if kind == 9:
        (raw,) = struct.unpack_from(">16s", block, offset)
        return uuid.UUID(bytes=raw), offset + 16
    raise EventStreamError(f"unknown header type {kind}")


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

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes and return the events they complete.

        Raises:
            EventStreamError: A checksum or a length is wrong. The decoder is of no use afterwards.
        """
        self._buffer += data
        events = []
        while len(self._buffer) >= _PRELUDE_BYTES:
            total_bytes, headers_bytes = self._read_prelude()
            if len(self._buffer) < total_bytes:
                break
            message = bytes(self._buffer[:total_bytes])
            del self._buffer[:total_bytes]
            (checksum,) = struct.unpack_from(">I", message, total_bytes - _CRC_BYTES)
            if zlib.crc32(memoryview(message)[:-_CRC_BYTES]) != checksum:
                raise EventStreamError("the checksum of an event does not match")
            headers_end = _PRELUDE_BYTES + headers_bytes
            events.append(
                Event(
                    decode_headers(message[_PRELUDE_BYTES:headers_end]),
                    message[headers_end:-_CRC_BYTES],
                )
            )
        return events

    def _read_prelude(self) -> tuple[int, int]:
        total_bytes, headers_bytes, checksum = struct.unpack_from(">III", self._buffer)
        if zlib.crc32(self._buffer[:8]) != checksum:
            raise EventStreamError("the checksum of an event's prelude does not match")
        payload_bytes = total_bytes - headers_bytes - _PRELUDE_BYTES - _CRC_BYTES
        if headers_bytes > MAX_HEADERS_BYTES or not 0 <= payload_bytes <= MAX_PAYLOAD_BYTES:
            raise EventStreamError(
                f"an event of {headers_bytes} bytes of headers and {payload_bytes} of payload is "
                f"outside 0 to {MAX_HEADERS_BYTES} and 0 to {MAX_PAYLOAD_BYTES}"
            )
        return total_bytes, headers_bytes
