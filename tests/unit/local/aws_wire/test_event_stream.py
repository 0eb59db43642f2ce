"""The event stream codec, against the two codecs that AWS ships."""

import datetime as dt
import struct
import zlib

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given, settings
from hypothesis import strategies as st
from smithy_aws_event_stream.events import Byte, EventMessage, Long, Short

from local.aws_wire.event_stream import (
    MAX_PAYLOAD_BYTES,
    Event,
    EventDecoder,
    EventStreamError,
    decode_headers,
    encode_event,
)

NAMES = st.text(min_size=1, max_size=20)
# Quarters of a second: the SDK multiplies floats and is a millisecond short now and then.
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
EVENTS = st.builds(Event, st.dictionaries(NAMES, WRITTEN, max_size=5), st.binary(max_size=200))
QUICK = settings(max_examples=60, deadline=None)


def decode(data: bytes) -> list[Event]:
    return EventDecoder().feed(data)


@QUICK
@given(st.lists(EVENTS, max_size=4), st.data())
def test_events_survive_any_cutting_of_the_bytes(events: list[Event], data: st.DataObject) -> None:
    """A decoder that relies on reads ending where events end loses or delays some."""
    wire = b"".join(encode_event(event) for event in events)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=6)))
    decoder = EventDecoder()
    received = []
    for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True):
        received += decoder.feed(wire[start:end])
    assert received == events
    assert decoder.buffered_bytes == 0


@QUICK
@given(EVENTS)
def test_an_event_is_encoded_as_the_sdk_encodes_it(event: Event) -> None:
    """Another encoding of the same headers would break signatures, which cover the bytes."""
    expected = EventMessage(headers=event.headers, payload=event.payload).encode()
    assert encode_event(event) == expected


@QUICK
@given(st.dictionaries(NAMES, READ, max_size=8), st.binary(max_size=100))
def test_every_header_type_of_the_sdk_is_read(headers: dict, payload: bytes) -> None:
    """A type left out makes the reader lose its place in the headers."""
    wire = EventMessage(headers=headers, payload=payload).encode()
    assert decode(wire) == [Event(headers, payload)]


@QUICK
@given(EVENTS)
def test_boto3_reads_what_is_written(event: Event) -> None:
    buffer = EventStreamBuffer()
    buffer.add_data(encode_event(event))
    message = next(iter(buffer))
    assert message.payload == event.payload
    # botocore leaves timestamps as milliseconds.
    assert message.headers == {
        name: round(value.timestamp() * 1000) if isinstance(value, dt.datetime) else value
        for name, value in event.headers.items()
    }


@QUICK
@given(EVENTS, st.data())
def test_no_flipped_bit_goes_unnoticed(event: Event, data: st.DataObject) -> None:
    wire = bytearray(encode_event(event))
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
        (16 + MAX_PAYLOAD_BYTES + 1, 0),
        (0xFFFFFFFF, 0),
        (16 + 128 * 1024 + 1, 128 * 1024 + 1),
    ],
)
def test_impossible_lengths_fail_before_anything_is_buffered(
    total_bytes: int, headers_bytes: int
) -> None:
    """Waiting for four gigabytes that were promised is how a decoder eats the memory."""
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
    """IndexError or struct.error would pass by whoever handles bad input."""
    with pytest.raises(EventStreamError):
        decode_headers(block)


def test_a_payload_of_sixteen_mebibytes_is_the_longest() -> None:
    payload = bytes(MAX_PAYLOAD_BYTES)
    assert decode(encode_event(Event({}, payload))) == [Event({}, payload)]
    with pytest.raises(ValueError, match="16777217"):
        encode_event(Event({}, payload + b"x"))


def test_a_header_of_a_type_we_do_not_write_is_refused() -> None:
    with pytest.raises(TypeError, match="'flag'"):
        encode_event(Event({"flag": True}))
