"""SageMaker's mapping between PayloadParts and frames, as documented by AWS."""

import pytest
from smithy_aws_event_stream.events import EventMessage
from websockets.frames import Frame, Opcode

from local.sagemaker.payload_parts import FramesToParts, PartsToFrames, PayloadPartError


def part(payload: bytes = b"x", **headers: str) -> EventMessage:
    named = {":message-type": "event", ":event-type": "PayloadPart", **headers}
    return EventMessage(headers=named, payload=payload)


@pytest.mark.parametrize(
    ("headers", "opcode"),
    [
        ({"DataType": "UTF8"}, Opcode.TEXT),
        ({"DataType": "BINARY"}, Opcode.BINARY),
        ({}, Opcode.BINARY),  # without a data type, the frame is binary
    ],
)
def test_the_data_type_decides_the_frame(headers: dict[str, str], opcode: Opcode) -> None:
    assert PartsToFrames().frame(part(**headers)) == Frame(opcode, b"x", fin=True)


def test_partial_parts_become_one_fragmented_message() -> None:
    """Every container would close with 1002 after a second text frame before FIN."""
    frames = PartsToFrames()
    sent = [
        frames.frame(part(b"a", DataType="UTF8", CompletionState="PARTIAL")),
        frames.frame(part(b"b", DataType="UTF8", CompletionState="PARTIAL")),
        frames.frame(part(b"c", DataType="UTF8", CompletionState="COMPLETE")),
        frames.frame(part(b"d", DataType="UTF8")),
    ]
    assert sent == [
        Frame(Opcode.TEXT, b"a", fin=False),
        Frame(Opcode.CONT, b"b", fin=False),
        Frame(Opcode.CONT, b"c", fin=True),
        Frame(Opcode.TEXT, b"d", fin=True),
    ]


def test_bytes_are_not_looked_at() -> None:
    """SageMaker forwards text that is not UTF-8 unchanged. The container must handle it."""
    assert PartsToFrames().frame(part(b"\xff\x00", DataType="UTF8")).data == b"\xff\x00"


@pytest.mark.parametrize(
    ("event", "named"),
    [
        (part(DataType="TEXT"), "'TEXT'"),
        (part(CompletionState="DONE"), "'DONE'"),
        (EventMessage(headers={":event-type": "Ping"}), "'Ping'"),
        (EventMessage(), "None"),
    ],
)
def test_an_undocumented_value_is_named(event: EventMessage, named: str) -> None:
    with pytest.raises(PayloadPartError, match=named):
        PartsToFrames().frame(event)


def test_the_containers_frames_keep_type_and_fin() -> None:
    parts = FramesToParts()
    events = [
        parts.event(frame)
        for frame in (
            Frame(Opcode.TEXT, b"a", fin=False),
            Frame(Opcode.CONT, b"b", fin=True),
            Frame(Opcode.BINARY, b"c", fin=False),
            Frame(Opcode.CONT, b"", fin=True),
        )
    ]
    assert [
        (event.headers["DataType"], event.headers["CompletionState"], event.payload)
        for event in events
    ] == [
        ("UTF8", "PARTIAL", b"a"),
        ("UTF8", "COMPLETE", b"b"),
        ("BINARY", "PARTIAL", b"c"),
        ("BINARY", "COMPLETE", b""),
    ]
