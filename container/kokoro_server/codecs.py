"""The protocol's audio formats and their encoding of 24 kHz mono audio.

To add a format, add its name to `SessionFormat` or `BatchFormat`, and an entry to `CODECS`.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples

SessionFormat = Literal["pcm"]
"""Formats of a session's binary frames."""
BatchFormat = Literal["wav", "pcm"]
"""Formats of the body of a batch response."""

BYTES_PER_SAMPLE = 2
MAX_FRAME_BYTES = 16 * 1024


@dataclass(frozen=True)
class Codec:
    """The media type and the header of a batch response.

    Attributes:
        media_type: The value of `Content-Type`.
        header: The bytes before the first audio.
    """

    media_type: str
    header: bytes = b""


def to_pcm(samples: Samples) -> bytes:
    """Convert float audio in -1…1 to signed 16-bit little-endian samples, clipping louder ones."""
    return (np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes()


def frames(pcm: bytes, max_frame_bytes: int = MAX_FRAME_BYTES) -> Iterator[bytes]:
    """Divide `pcm` into frames of at most `max_frame_bytes`, which must be even."""
    for start in range(0, len(pcm), max_frame_bytes):
        yield pcm[start : start + max_frame_bytes]


def duration_s(pcm_bytes: int) -> float:
    """Return the duration, in seconds, of `pcm_bytes` bytes of PCM."""
    return pcm_bytes / BYTES_PER_SAMPLE / SAMPLE_RATE_HZ


def wav_header() -> bytes:
    """Return the 44-byte header of a mono 16-bit WAV stream whose length is not known yet.

    Both size fields are 0xFFFFFFFF, the convention for streams. Players and Python's `wave` then
    read to the end of the data.
    """
    unknown = 0xFFFFFFFF
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF",
        unknown,
        b"WAVE",
        b"fmt ",
        16,
        1,
        1,
        SAMPLE_RATE_HZ,
        SAMPLE_RATE_HZ * BYTES_PER_SAMPLE,
        BYTES_PER_SAMPLE,
        8 * BYTES_PER_SAMPLE,
        b"data",
        unknown,
    )


CODECS: dict[BatchFormat, Codec] = {
    "wav": Codec("audio/wav", wav_header()),
    # No media type is registered for little-endian PCM (audio/L16 is big-endian, RFC 2586). OpenAI
    # uses this one.
    "pcm": Codec(f"audio/pcm;rate={SAMPLE_RATE_HZ};channels=1"),
}
"""Every format, by name."""
