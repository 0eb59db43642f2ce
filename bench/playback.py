"""What a listener has of a streamed utterance: when sound begins, and how long it stops."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples

AUDIBLE_DB = -40.0
"""Below the loudest sample of the utterance; what is quieter is taken for silence."""


class Chunk(NamedTuple):
    """A chunk of an utterance: when it arrived, in seconds, and its samples, 24 kHz, shape (n,)."""

    at_s: float
    samples: Samples

    @classmethod
    def of_pcm(cls, at_s: float, pcm: bytes) -> "Chunk":
        """16-bit PCM that arrived at `at_s`."""
        return cls(at_s, np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32768))


def duration_s(chunks: Sequence[Chunk]) -> float:
    """How long `chunks` are together."""
    return sum(len(chunk.samples) for chunk in chunks) / SAMPLE_RATE_HZ


def first_sound_s(chunks: Sequence[Chunk]) -> float:
    """When the first audible sample arrived.

    Args:
        chunks: one utterance in the order of its samples.

    Raises:
        ValueError: nothing in it is audible.
    """
    chunk, _ = _first_audible(chunks)
    return chunks[chunk].at_s


def underrun_s(chunks: Sequence[Chunk]) -> float:
    """How long playback stands still for want of samples, in all.

    Playback begins at the first audible sample, the moment it arrives.

    Args:
        chunks: one utterance in the order of its samples.

    Raises:
        ValueError: nothing in it is audible.
    """
    first, offset = _first_audible(chunks)
    # When the last sample so far has been played.
    ends_s = chunks[first].at_s + (len(chunks[first].samples) - offset) / SAMPLE_RATE_HZ
    waited_s = 0.0
    for chunk in chunks[first + 1 :]:
        late_s = max(0.0, chunk.at_s - ends_s)
        waited_s += late_s
        ends_s += late_s + len(chunk.samples) / SAMPLE_RATE_HZ
    return waited_s


def as_heard(chunks: Sequence[Chunk]) -> Samples:
    """What a listener hears from time 0, shape (n,): silence, chunks, and silence in underruns.

    A chunk is played as soon as it has arrived and the chunk before it has been played.

    Args:
        chunks: one utterance in the order of its samples.
    """
    heard: list[Samples] = []
    played = 0
    for chunk in chunks:
        silent = max(0, round(chunk.at_s * SAMPLE_RATE_HZ) - played)
        heard += [np.zeros(silent, np.float32), chunk.samples]
        played += silent + len(chunk.samples)
    return np.concatenate([np.zeros(0, np.float32), *heard])


def _first_audible(chunks: Sequence[Chunk]) -> tuple[int, int]:
    """The index of the chunk with the first audible sample, and of that sample in it."""
    peak = max((float(np.abs(chunk.samples).max(initial=0.0)) for chunk in chunks), default=0.0)
    if peak > 0.0:
        for index, chunk in enumerate(chunks):
            audible = np.abs(chunk.samples) >= peak * 10 ** (AUDIBLE_DB / 20)
            if audible.any():
                return index, int(audible.argmax())
    raise ValueError("chunks: nothing in them is audible")
