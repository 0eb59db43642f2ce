"""Measure how loud each voice is, and write the gains that make all voices equally loud.

    python -m bench.levels

The loudness of the sample of each served voice (`docs/samples`) is measured as in ITU-R BS.1770-4
(https://www.itu.int/rec/R-REC-BS.1770): K-weighted, without pauses. The gains are those to the
loudness of `af_heart`, with which the peaks of all voices stay below full scale. They are written
to `container/kokoro_voice/voice_gains.toml`. The server applies them if `KOKORO_LEVEL_VOICES` is
true.

On 2026-12-03, 35 of the voices spoke two other sentences each. With the gains, their loudness
differed by 1.9 dB at most (standard deviation 0.4 dB); without them, by 9.9 dB (2.1 dB).
"""

import numpy as np
from numpy.typing import NDArray

from bench.hearing import peak
from bench.samples import read_mp3
from bench.voices import samples, served
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples
from kokoro_voice.voice_gains import PATH

Levels = NDArray[np.float64]

REFERENCE = "af_heart"
# The two stages of the K-weighting: gain in dB, quality and frequency in Hz of a shelf, then
# quality and frequency of a high pass.
_SHELF_DB, _SHELF_Q, _SHELF_HZ = 3.999843853973347, 0.7071752369554196, 1681.974450955533
_PASS_Q, _PASS_HZ = 0.5003270373238773, 38.13547087602444
_BLOCK, _STEP = round(0.4 * SAMPLE_RATE_HZ), round(0.1 * SAMPLE_RATE_HZ)
_ABSOLUTE_GATE, _RELATIVE_GATE_DB = -70.0, 10.0


def loudness(audio: Samples) -> float:
    """Return the integrated loudness of mono audio at 24 kHz, in LUFS."""
    blocks = np.lib.stride_tricks.sliding_window_view(_k_weighted(audio), _BLOCK)[::_STEP]
    levels = -0.691 + 10 * np.log10(np.square(blocks).mean(axis=1) + 1e-12)
    levels = levels[levels > _ABSOLUTE_GATE]
    return _mean(levels[levels > _mean(levels) - _RELATIVE_GATE_DB])


def _mean(levels: Levels) -> float:
    return float(10 * np.log10((10 ** (levels / 10)).mean()))


def _k_weighted(audio: Samples) -> Levels:
    k = np.tan(np.pi * _SHELF_HZ / SAMPLE_RATE_HZ)
    high = 10 ** (_SHELF_DB / 20)
    band, side = high**0.4996667741545416 * k / _SHELF_Q, k / _SHELF_Q
    shelf = (
        [high + band + k * k, 2 * (k * k - high), high - band + k * k],
        [1 + side + k * k, 2 * (k * k - 1), 1 - side + k * k],
    )
    k = np.tan(np.pi * _PASS_HZ / SAMPLE_RATE_HZ)
    side = k / _PASS_Q
    high_pass = [1, -2, 1], [1 + side + k * k, 2 * (k * k - 1), 1 - side + k * k]
    # The second stage's numerator is not normalized in the recommendation.
    first = high_pass[1][0]
    # Zeros after the audio, because multiplied spectra mean a circular convolution.
    size = len(audio) + SAMPLE_RATE_HZ
    delay = np.exp(-2j * np.pi * np.fft.rfftfreq(size))
    response = first * np.ones_like(delay)
    for numerator, denominator in (shelf, high_pass):
        response *= np.polyval(numerator[::-1], delay) / np.polyval(denominator[::-1], delay)
    return np.fft.irfft(np.fft.rfft(audio, size) * response, size)[: len(audio)]


def content() -> str:
    """Return the content of the file, measured on the samples."""
    paths = {sample.voice: sample.path for sample in samples(served()) if "+" not in sample.voice}
    recorded = {name: read_mp3(path) for name, path in paths.items()}
    levels = {name: loudness(audio) for name, audio in recorded.items()}
    gains = {name: round(levels[REFERENCE] - level, 1) for name, level in levels.items()}
    highest_db = max(20 * np.log10(peak(recorded[name])) + gain for name, gain in gains.items())
    lines = [
        "# Written by `python -m bench.levels`.",
        f"# Gains in dB to {levels[REFERENCE]:.1f} LUFS, the loudness of {REFERENCE}.",
        f"# The highest peak of the samples is then at {highest_db:.1f} dB.",
        *(f"{name} = {gain:.1f}" for name, gain in gains.items()),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the file."""
    PATH.write_text(content(), encoding="utf-8")


if __name__ == "__main__":
    main()
