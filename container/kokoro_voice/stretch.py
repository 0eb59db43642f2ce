"""Changes the pace of speech without changing its pitch."""

import numpy as np

from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples

_HOP = SAMPLE_RATE_HZ * 15 // 1000
"""Samples of output for each excerpt, during which the previous excerpt fades into it."""
_COMPARED = 2 * _HOP
"""Samples that are compared to find an excerpt: 30 ms, at least two periods of a low voice."""
_REACH = SAMPLE_RATE_HZ // 100
"""How far an excerpt may be from its exact place, in samples: 10 ms, a period of a low voice."""
_LEAST_ENERGY = 1e-6
"""Added to the energy of an excerpt, which is 0 in silence."""


def model_speed(speed: float) -> float:
    """Return the speed at which the model itself speaks; `Stretcher` does the rest.

    A slower model makes sounds before the first word and after the last one, and a faster one
    loses words.
    """
    return min(max(speed, 1.0), 1.25)


class Stretcher:
    """Makes the speech of one sentence faster or slower as it is synthesized.

    The method is WSOLA (waveform similarity overlap-add,
    https://doi.org/10.1109/ICASSP.1993.319366): the output consists of excerpts that fade into one
    another. Each is taken from where it continues the previous excerpt best, at most 0.01 s from
    its exact place.

    The concatenated output is the same however the audio is divided into calls of `push`. About
    0.04 s of audio is held back.

    Use one instance for each sentence.

    Args:
        speed: 2.0 takes half the time. With 1.0 the output is the input.
    """

    def __init__(self, speed: float) -> None:
        self._speed = speed
        self._held = np.zeros(0, np.float32)
        self._first = 0
        """The position of `_held` in the input, in samples."""
        self._received = 0
        self._excerpts = 0
        self._continuation = 0
        """The position after the previous excerpt."""

    def push(self, samples: Samples) -> Samples:
        """Add audio, shape (n,), and return the samples that can be sent now, possibly none."""
        if self._speed == 1.0:
            return samples
        self._received += len(samples)
        return self._stretched(samples)

    def end(self) -> Samples:
        """Return the remaining samples."""
        if not self._received:
            return self._held
        # The last excerpts fade into silence.
        silence = np.zeros(2 * (_REACH + _COMPARED), np.float32)
        return self._stretched(silence, up_to=self._received + _REACH)

    def _stretched(self, samples: Samples, up_to: int | None = None) -> Samples:
        """Add audio and return what all excerpts give whose exact place is before `up_to`."""
        self._held = np.concatenate([self._held, samples])
        end = self._first + len(self._held)
        output = [self._held[:0]]
        while True:
            place = round(self._excerpts * _HOP * self._speed)
            needed = max(place + _REACH, self._continuation) + _COMPARED
            if needed > end or (up_to is not None and place >= up_to):
                return np.concatenate(output)
            before = self._at(self._continuation, _COMPARED)
            begin = self._similar(before, max(self._first, place - _REACH), place + _REACH)
            after = self._at(begin, _HOP)
            output.append(before[:_HOP] + _RAMP * (after - before[:_HOP]))
            self._continuation = begin + _HOP
            self._excerpts += 1
            self._forget(min(self._continuation, place + round(_HOP * self._speed) - _REACH - 1))

    def _similar(self, wanted: Samples, earliest: int, latest: int) -> int:
        """Return the position at which the input resembles `wanted` most."""
        candidates = self._at(earliest, latest - earliest + len(wanted))
        likeness = np.correlate(candidates, wanted, "valid")
        energies = np.cumsum(np.square(candidates, dtype=np.float64))
        energies = energies[len(wanted) - 1 :] - np.append(0.0, energies[: -len(wanted)])
        return earliest + int(np.argmax(likeness / np.sqrt(energies + _LEAST_ENERGY)))

    def _at(self, position: int, count: int) -> Samples:
        return self._held[position - self._first :][:count]

    def _forget(self, position: int) -> None:
        """Drop the audio before `position`."""
        count = max(0, position - self._first)
        self._held = self._held[count:]
        self._first += count


_RAMP = (0.5 - 0.5 * np.cos(np.pi * np.arange(_HOP) / _HOP)).astype(np.float32)
