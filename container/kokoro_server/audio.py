"""Audio between the engine and the wire: trimming, 16-bit samples, frames, the WAV header."""

import struct
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

SAMPLE_RATE_HZ = 24_000
BYTES_PER_SAMPLE = 2
MAX_FRAME_BYTES = 16 * 1024

Samples = npt.NDArray[np.float32]

_BLOCK = SAMPLE_RATE_HZ // 100
"""Samples in the 10 ms blocks in which loudness is looked at."""
_LEAD_S, _TAIL_S, _FADE_S = 0.04, 0.08, 0.01
_ONSET_DB, _END_DB = -50.0, -45.0
"""Below the loudest block. The model ends with a plateau of noise at about -57 dB."""


def trim(samples: Samples) -> Samples:
    """Speech without the silence and noise the model puts around it (about 0.3 s and 0.5 s).

    What is left begins at most 0.04 s before the first audible block and ends at most 0.08 s after
    the last, faded in and out over 0.01 s so that no cut is heard as a click.

    Args:
        samples: float audio, shape (n,).

    Returns:
        A new array, shape (m,) with m <= n; empty when there is nothing audible.
    """
    blocks = len(samples) // _BLOCK
    power = np.square(samples[: blocks * _BLOCK].reshape(blocks, _BLOCK)).mean(axis=1)
    if not power.size or power.max() < 1e-8:
        return samples[:0].copy()
    level_db = 10 * np.log10(np.maximum(power / power.max(), 1e-12))
    first = int(np.argmax(level_db > _ONSET_DB))
    last = blocks - 1 - int(np.argmax(level_db[::-1] > _END_DB))
    start = max(0, first * _BLOCK - round(_LEAD_S * SAMPLE_RATE_HZ))
    end = min(len(samples), (last + 1) * _BLOCK + round(_TAIL_S * SAMPLE_RATE_HZ))
    kept = samples[start:end].copy()
    fade = np.linspace(0.0, 1.0, min(len(kept), round(_FADE_S * SAMPLE_RATE_HZ)), dtype=np.float32)
    kept[: len(fade)] *= fade
    kept[len(kept) - len(fade) :] *= fade[::-1]
    return kept


def silence(duration_s: float) -> Samples:
    """`duration_s` seconds of nothing."""
    return np.zeros(round(duration_s * SAMPLE_RATE_HZ), dtype=np.float32)


def to_pcm(samples: Samples) -> bytes:
    """Float audio in -1…1 as signed 16-bit little-endian samples; louder is clipped."""
    return (np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes()


def frames(pcm: bytes, max_frame_bytes: int = MAX_FRAME_BYTES) -> Iterator[bytes]:
    """`pcm` in pieces of whole samples, none longer than `max_frame_bytes` (even)."""
    for start in range(0, len(pcm), max_frame_bytes):
        yield pcm[start : start + max_frame_bytes]


def duration_s(pcm_bytes: int) -> float:
    """Seconds of speech in `pcm_bytes` bytes of PCM."""
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
