"""What a listener hears of a streamed utterance: when sound begins, and for how long it stops."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples
from local.playback import Playback

AUDIBLE_DB = -40.0
"""Relative to the loudest sample of the utterance. Quieter samples count as silence."""


class Chunk(NamedTuple):
    """A chunk of an utterance.

    Attributes:
        at_s: When it arrived, in seconds.
        samples: Its samples at 24 kHz, shape (n,).
    """

    at_s: float
    samples: Samples

    @classmethod
    def of_pcm(cls, at_s: float, pcm: bytes) -> "Chunk":
        """Return the chunk of 16-bit PCM that arrived at `at_s`."""
        return cls(at_s, np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32768))


def duration_s(chunks: Sequence[Chunk]) -> float:
    """Return the total duration of `chunks` in seconds."""
    return sum(len(chunk.samples) for chunk in chunks) / SAMPLE_RATE_HZ


def first_sound_s(chunks: Sequence[Chunk]) -> float:
    """Return when the first audible sample arrived, in seconds.

    Args:
        chunks: One utterance, in playback order.

    Raises:
        ValueError: No sample is audible.
    """
    chunk, _ = _first_audible(chunks)
    return chunks[chunk].at_s


def underrun_s(chunks: Sequence[Chunk]) -> float:
    """Return for how many seconds in all playback stops because no samples are left.

    Playback begins with the first audible sample, as soon as it arrives.

    Args:
        chunks: One utterance, in playback order.

    Raises:
        ValueError: No sample is audible.
    """
    first, offset = _first_audible(chunks)
    playback = Playback()
    playback.add(chunks[first].at_s, (len(chunks[first].samples) - offset) / SAMPLE_RATE_HZ)
    for chunk in chunks[first + 1 :]:
        playback.add(chunk.at_s, len(chunk.samples) / SAMPLE_RATE_HZ)
    return playback.underrun_s


def as_heard(chunks: Sequence[Chunk]) -> Samples:
    """Return what a listener hears from time 0, shape (n,): the chunks, and silence between them.

    A chunk is played as soon as it has arrived and the chunk before it has been played.

    Args:
        chunks: One utterance, in playback order.
    """
    heard: list[Samples] = []
    played = 0
    for chunk in chunks:
        silent = max(0, round(chunk.at_s * SAMPLE_RATE_HZ) - played)
        heard += [np.zeros(silent, np.float32), chunk.samples]
        played += silent + len(chunk.samples)
    return np.concatenate([np.zeros(0, np.float32), *heard])


def _first_audible(chunks: Sequence[Chunk]) -> tuple[int, int]:
    """Return the index of the first chunk with an audible sample, and the sample's index in it."""
    peak = max((float(np.abs(chunk.samples).max(initial=0.0)) for chunk in chunks), default=0.0)
    if peak > 0.0:
        for index, chunk in enumerate(chunks):
            audible = np.abs(chunk.samples) >= peak * 10 ** (AUDIBLE_DB / 20)
            if audible.any():
                return index, int(audible.argmax())
    raise ValueError("chunks: no sample is audible")
