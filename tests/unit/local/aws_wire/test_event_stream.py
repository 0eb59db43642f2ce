"""The event stream decoder, compared with the two codecs that AWS ships."""

import datetime as dt
import struct
import zlib

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given, settings
from hypothesis import strategies as st
from smithy_aws_event_stream.events import (
    MAX_PAYLOAD_LENGTH,
    Byte,
    EventMessage,
    Long,
    Short,
)
from smithy_aws_event_stream.exceptions import InvalidPayloadLength

from local.aws_wire.event_stream import EventDecoder, EventStreamError, encode_headers, json_event

NAMES = st.text(min_size=1, max_size=20)
# Quarters of a second, because the SDK multiplies floats and is sometimes a millisecond short.
TIMES = st.datetimes(
    min_value=dt.datetime(1971, 1, 1),
    max_value=dt.datetime(2200, 1, 1),
    timezones=st.just(dt.UTC),
).map(lambda time: time.replace(microsecond=time.microsecond // 250_000 * 250_000))
WRITTEN = st.one_of(st.text(max_size=50), st.binary(max_size=50), TIMES)
READ = st.one_of(
    WRITTEN,
    st.booleans(),
    st.uuids(),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**7), 2**7 - 1).map(Byte),
    st.integers(-(2**15), 2**15 - 1).map(Short),
    st.integers(-(2**63), 2**63 - 1).map(Long),
)
EVENTS = st.builds(
    EventMessage,
    headers=st.dictionaries(NAMES, WRITTEN, max_size=5),
    payload=st.binary(max_size=200),
)
QUICK = settings(max_examples=60, deadline=None)


def decode(data: bytes) -> list[EventMessage]:
    return EventDecoder().feed(data)


@QUICK
@given(st.lists(EVENTS, max_size=4), st.data())
def test_events_survive_any_cutting_of_the_bytes(
    events: list[EventMessage], data: st.DataObject
) -> None:
    """A decoder that expects each read to end with an event would lose or delay events."""
    wire = b"".join(event.encode() for event in events)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=6)))
    decoder = EventDecoder()
    received = []
    for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True):
        received += decoder.feed(wire[start:end])
    assert received == events
    assert decoder.buffered_bytes == 0


@QUICK
@given(st.dictionaries(NAMES, READ, max_size=8), st.binary(max_size=100))
def test_every_header_type_of_the_sdk_is_read(headers: dict, payload: bytes) -> None:
    """After a header of an unknown type, the rest of the headers cannot be read."""
    event = EventMessage(headers=headers, payload=payload)
    assert decode(event.encode()) == [event]


@QUICK
@given(st.integers(0, 4_000_000_000_000))
def test_every_millisecond_is_read(milliseconds: int) -> None:
    """The SDK encodes dates with floats; repeating that would lose a millisecond."""
    block = struct.pack(">B5sBq", 5, b":date", 8, milliseconds)
    start = prelude(16 + len(block), len(block)) + block
    (event,) = decode(start + struct.pack(">I", zlib.crc32(start)))
    date = event.headers[":date"]
    assert isinstance(date, dt.datetime)
    assert round(date.timestamp() * 1000) == milliseconds
    assert encode_headers(event.headers) == block


@QUICK
@given(EVENTS)
def test_boto3_reads_what_is_written(event: EventMessage) -> None:
    buffer = EventStreamBuffer()
    buffer.add_data(event.encode())
    message = next(iter(buffer))
    assert message.payload == event.payload
    # botocore leaves timestamps as milliseconds.
    assert message.headers == {
        name: round(value.timestamp() * 1000) if isinstance(value, dt.datetime) else value
        for name, value in event.headers.items()
    }


@QUICK
@given(EVENTS, st.data())
def test_no_flipped_bit_goes_unnoticed(event: EventMessage, data: st.DataObject) -> None:
    wire = bytearray(event.encode())
    position = data.draw(st.integers(0, len(wire) * 8 - 1))
    wire[position // 8] ^= 1 << position % 8
    with pytest.raises(EventStreamError):
        decode(bytes(wire) + bytes(64))


def prelude(total_bytes: int, headers_bytes: int) -> bytes:
    lengths = struct.pack(">II", total_bytes, headers_bytes)
    return lengths + struct.pack(">I", zlib.crc32(lengths))


@pytest.mark.parametrize(
    ("total_bytes", "headers_bytes"),
    [
        (15, 0),  # no room for the checksum
        (20, 8),  # headers longer than the event
        (16 + MAX_PAYLOAD_LENGTH + 1, 0),
        (0xFFFFFFFF, 0),
        (16 + 128 * 1024 + 1, 128 * 1024 + 1),
    ],
)
def test_impossible_lengths_fail_before_anything_is_buffered(
    total_bytes: int, headers_bytes: int
) -> None:
    """A decoder that waits for an announced four gigabytes would run out of memory."""
    with pytest.raises(EventStreamError, match="outside"):
        decode(prelude(total_bytes, headers_bytes))


@pytest.mark.parametrize(
    "block",
    [
        b"\x05:na",  # the name is cut short
        b"\x02:a",  # no type
        b"\x02:a\x07\x00\x05abc",  # the value is cut short
        b"\x02:a\x04\x00\x00",  # the integer is cut short
        b"\x02:a\x0a",  # unknown type
        b"\x02:a\x00\x02:a\x01",  # twice
        b"\x02:a\x07\x00\x01\xff",  # not UTF-8
        b"\x02:a\x08" + b"\x7f" * 8,  # in the year 290 million
    ],
)
def test_broken_headers_are_one_kind_of_error(block: bytes) -> None:
    """The code that handles bad input does not catch KeyError or struct.error."""
    start = prelude(16 + len(block), len(block)) + block
    with pytest.raises(EventStreamError):
        decode(start + struct.pack(">I", zlib.crc32(start)))


def test_a_payload_of_sixteen_mebibytes_is_the_longest() -> None:
    payload = bytes(MAX_PAYLOAD_LENGTH)
    event = EventMessage(payload=payload)
    assert decode(event.encode()) == [event]
    with pytest.raises(InvalidPayloadLength, match="16777217"):
        EventMessage(payload=payload + b"x")


def test_boto3_tells_an_exception_from_an_event() -> None:
    """With its name in the wrong header, a client does not recognize the event."""
    buffer = EventStreamBuffer()
    buffer.add_data(json_event("event", "messageStop", {"stopReason": "end_turn"}).encode())
    buffer.add_data(json_event("exception", "throttled", {"message": "Slow."}).encode())
    assert [(message.headers, message.payload) for message in buffer] == [
        (
            {
                ":message-type": "event",
                ":event-type": "messageStop",
                ":content-type": "application/json",
            },
            b'{"stopReason": "end_turn"}',
        ),
        (
            {
                ":message-type": "exception",
                ":exception-type": "throttled",
                ":content-type": "application/json",
            },
            b'{"message": "Slow."}',
        ),
    ]
