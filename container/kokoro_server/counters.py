"""Counters of one server process, as `GET /stats` returns them."""

from dataclasses import dataclass


@dataclass
class Counters:
    """Counts since the start. A stream is a WebSocket session; a request is a `speak` message.

    `unspoken_words` are words of completed requests for which no sound is known.
    """

    streams_opened: int = 0
    streams_open: int = 0
    requests: int = 0
    completed: int = 0
    cancelled: int = 0
    failed: int = 0
    refused: int = 0
    unspoken_words: int = 0
    batch_requests: int = 0
    batch_open: int = 0
