"""SageMaker's mapping between PayloadPart events and WebSocket frames, without I/O.

Each PayloadPart is one frame. Its bytes are not inspected. `DataType` UTF8 makes it a text frame;
BINARY or no `DataType` makes it a binary frame. `CompletionState` PARTIAL leaves the message open:
FIN is 0, and continuation frames follow. COMPLETE or no `CompletionState` ends the message. The
other direction is the reverse. Source: "Container contract to support bidirectional streaming",
sagemaker/latest/dg/your-algorithms-inference-code.html.
"""

from smithy_aws_event_stream.events import EventMessage
from websockets.frames import Frame, Opcode


class PayloadPartError(ValueError):
    """An event is not a PayloadPart that can become a frame."""


class PartsToFrames:
    """Maps the client's events to frames. It remembers whether a message is open."""

    def __init__(self) -> None:
        self._message_open = False

    def frame(self, event: EventMessage) -> Frame:
        """Return the frame for a PayloadPart.

        Raises:
            PayloadPartError: The event is not a PayloadPart, or has an undocumented value.
        """
        headers = event.headers
        if headers.get(":event-type") != "PayloadPart":
            raise PayloadPartError(f"event {headers.get(':event-type')!r}: must be PayloadPart")
        data_type = headers.get("DataType", "BINARY")
        if data_type not in ("UTF8", "BINARY"):
            raise PayloadPartError(f"DataType {data_type!r}: must be UTF8 or BINARY")
        completion_state = headers.get("CompletionState", "COMPLETE")
        if completion_state not in ("PARTIAL", "COMPLETE"):
            raise PayloadPartError(
                f"CompletionState {completion_state!r}: must be PARTIAL or COMPLETE"
            )
        if self._message_open:
            # Guess: the data type is ignored here, because a continuation frame has none.
            opcode = Opcode.CONT
        else:
            opcode = Opcode.TEXT if data_type == "UTF8" else Opcode.BINARY
        self._message_open = completion_state == "PARTIAL"
        return Frame(opcode, event.payload, fin=not self._message_open)


class FramesToParts:
    """Maps the container's frames to events. It remembers the type of the open message."""

    def __init__(self) -> None:
        self._data_type = "BINARY"

    def event(self, frame: Frame) -> EventMessage:
        """Return the event for a text, binary or continuation frame."""
        # Guess: all events of a fragmented message have the type of its first frame.
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
