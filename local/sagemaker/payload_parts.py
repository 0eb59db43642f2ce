"""SageMaker's mapping between PayloadPart events and WebSocket frames, without I/O.

One part is one frame; bytes are not looked at. `DataType` UTF8 is a text frame, BINARY or none a
binary one. `CompletionState` PARTIAL leaves the message open (FIN 0; what follows are continuation
frames), COMPLETE or none ends it. The way back mirrors it. Source: "Container contract to support
bidirectional streaming", sagemaker/latest/dg/your-algorithms-inference-code.html.
"""

from smithy_aws_event_stream.events import EventMessage
from websockets.frames import Frame, Opcode


class PayloadPartError(ValueError):
    """An event is no PayloadPart that can become a frame."""


class PartsToFrames:
    """The client's direction. It remembers whether a message is open."""

    def __init__(self) -> None:
        self._message_open = False

    def frame(self, event: EventMessage) -> Frame:
        """Return the frame for a part.

        The data type of a part that continues a message is not looked at: a guess, since
        a continuation frame has none.

        Raises:
            PayloadPartError: The event is another one, or has a value that is not documented.
        """
        headers = event.headers
        if headers.get(":event-type") != "PayloadPart":
            raise PayloadPartError(f"unexpected event {headers.get(':event-type')!r}")
        data_type = headers.get("DataType", "BINARY")
        if data_type not in ("UTF8", "BINARY"):
            raise PayloadPartError(f"DataType is {data_type!r}, not UTF8 or BINARY")
        completion_state = headers.get("CompletionState", "COMPLETE")
        if completion_state not in ("PARTIAL", "COMPLETE"):
            raise PayloadPartError(
                f"CompletionState is {completion_state!r}, not PARTIAL or COMPLETE"
            )
        if self._message_open:
            opcode = Opcode.CONT
        else:
            opcode = Opcode.TEXT if data_type == "UTF8" else Opcode.BINARY
        self._message_open = completion_state == "PARTIAL"
        return Frame(opcode, event.payload, fin=not self._message_open)


class FramesToParts:
    """The container's direction. It remembers the type of the open message."""

    def __init__(self) -> None:
        self._data_type = "BINARY"

    def event(self, frame: Frame) -> EventMessage:
        """Return the event for a text, binary or continuation frame.

        Every part of a fragmented message carries the type of its first frame: a guess.
        """
        if frame.opcode is not Opcode.CONT:
            self._data_type = "UTF8" if frame.opcode is Opcode.TEXT else "BINARY"
        return EventMessage(
            headers={
                ":message-type": "event",
                ":event-type": "PayloadPart",
                ":content-type": "application/octet-stream",
                "DataType": self._data_type,
                "CompletionState": "COMPLETE" if frame.fin else "PARTIAL",
            },
            payload=bytes(frame.data),
        )
