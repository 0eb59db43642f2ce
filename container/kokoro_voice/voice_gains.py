"""Gains that make all voices equally loud."""

import tomllib
from functools import cache
from pathlib import Path

from kokoro_voice.voices import Voice

PATH = Path(__file__).with_name("voice_gains.toml")
"""The gain of each voice in dB, measured by `python -m bench.levels`."""


def gain(voice: Voice) -> float:
    """Return the factor for the samples of `voice`; for a mix, by the weighted mean of the gains.

    A voice that was not measured keeps its level.
    """
    gains_db = _gains_db()
    return float(
        10 ** (sum(share * gains_db.get(name, 0.0) for name, share in voice.components) / 20)
    )


@cache
def _gains_db() -> dict[str, float]:
    return tomllib.loads(PATH.read_text(encoding="utf-8"))
