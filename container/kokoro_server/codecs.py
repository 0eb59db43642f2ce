"""The audio formats of the protocol, and 24 kHz mono audio in them.

A new format is a name in `SessionFormat` or `BatchFormat` and an entry in `CODECS`.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples

SessionFormat = Literal["pcm"]
"""What a session's binary frames may hold."""
BatchFormat = Literal["wav", "pcm"]
"""What the body of a batch response may be."""

BYTES_PER_SAMPLE = 2
MAX_FRAME_BYTES = 16 * 1024


@dataclass(frozen=True)
class Codec:
    """How a response is announced, and what it begins with.

    Attributes:
        media_type: of a batch response.
        header: the bytes before the first audio.
    """

    media_type: str
    header: bytes = b""


def to_pcm(samples: Samples) -> bytes:
    """Float audio in -1…1 as signed 16-bit little-endian samples; louder samples are clipped."""
    return (np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes()


def frames(pcm: bytes, max_frame_bytes: int = MAX_FRAME_BYTES) -> Iterator[bytes]:
    """Cut `pcm` into frames of whole samples, none longer than `max_frame_bytes` (even)."""
    for start in range(0, len(pcm), max_frame_bytes):
        yield pcm[start : start + max_frame_bytes]


def duration_s(pcm_bytes: int) -> float:
    """The seconds of speech in `pcm_bytes` bytes of PCM."""
    return pcm_bytes / BYTES_PER_SAMPLE / SAMPLE_RATE_HZ


def wav_header() -> bytes:
    """The 44-byte header of a mono 16-bit WAV stream whose length is not known yet.

    Both size fields are 0xFFFFFFFF, the convention for streams: players and Python's `wave` read
    to the end of the data.
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
    # There is no registered type for little-endian PCM (audio/L16 is big-endian, RFC 2586); this
    # is what OpenAI calls it.
    "pcm": Codec(f"audio/pcm;rate={SAMPLE_RATE_HZ};channels=1"),
}
"""Every format by its name."""
