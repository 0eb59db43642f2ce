"""Measure how loud each voice is, and write the gains that make all voices equally loud.

    python -m bench.levels

Each served voice speaks two sentences of its language. Their loudness is measured as in ITU-R
BS.1770-4 (https://www.itu.int/rec/R-REC-BS.1770): K-weighted, without pauses. The gains are those
to the loudness of `af_heart`, with which the peaks of all voices stay below full scale. They are
written to `container/kokoro_voice/voice_gains.toml`. The server applies them if
`KOKORO_LEVEL_VOICES` is true.
"""

from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.quality import TEXTS
from bench.voices import Sample, served, speak
from kokoro_model.manifest import default_model_dir
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples
from kokoro_voice.synthesizer import Synthesizer
from kokoro_voice.voice_gains import PATH

Levels = NDArray[np.float64]

REFERENCE = "af_heart"
_TEXTS = (1, 3)  # of three to six seconds
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


def main() -> None:
    """Measure all voices and write the file."""
    voices, synthesizer = served(), Synthesizer(default_model_dir(), 2)
    measured = {}
    for name in voices.names:
        texts = TEXTS[voices.resolve(name).language]
        spoken = [speak(synthesizer, voices, Sample(name, texts[number])) for number in _TEXTS]
        audio = np.concatenate(spoken)
        measured[name] = loudness(audio), 20 * np.log10(float(np.abs(audio).max()))
        print(
            f"{name:16} {measured[name][0]:6.1f} LUFS, peak {measured[name][1]:6.1f} dB", flush=True
        )
    write(measured, PATH)


def write(measured: dict[str, tuple[float, float]], path: Path) -> None:
    """Write the gains for voices of the given loudness (LUFS) and peaks (dB)."""
    target = measured[REFERENCE][0]
    lines = [f"{name} = {target - level:.1f}" for name, (level, _) in measured.items()]
    highest_db = max(target - level + peak_db for level, peak_db in measured.values())
    path.write_text(
        f"# Written by `python -m bench.levels` on {date.today()}.\n"
        f"# Gains in dB to {target:.1f} LUFS (ITU-R BS.1770-4), the loudness of {REFERENCE}.\n"
        f"# The highest peak is then at {highest_db:.1f} dB.\n" + "\n".join(lines) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
