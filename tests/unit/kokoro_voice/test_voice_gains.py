"""Voices of equal loudness: the gains, on the samples of all voices."""

import numpy as np
import pytest

from bench.hearing import peak
from bench.levels import content, loudness
from bench.samples import read_mp3
from bench.voices import samples, served
from kokoro_voice.audio import SAMPLE_RATE_HZ
from kokoro_voice.voice_gains import PATH, gain
from kokoro_voice.voices import Voice

VOICES = served()
RECORDED = {sample.voice: sample.path for sample in samples(VOICES) if "+" not in sample.voice}


def test_the_gains_are_those_of_the_samples() -> None:
    """Guards against gains of voices that sound different now: run `python -m bench.levels`."""
    assert PATH.read_text(encoding="utf-8") == content()


def test_with_their_gains_all_voices_are_equally_loud_and_none_clips() -> None:
    """Guards against a gain of the wrong sign, a voice that was forgotten, and distortion."""
    levels = []
    for name, path in RECORDED.items():
        audio = np.float32(gain(VOICES.resolve(name))) * read_mp3(path)
        assert peak(audio) < 0.95, name
        levels.append(loudness(audio))
    before = [loudness(read_mp3(path)) for path in RECORDED.values()]
    assert max(before) - min(before) > 10
    assert max(levels) - min(levels) <= 0.2


def test_a_mix_has_the_mean_of_the_gains() -> None:
    """Guards against a mix that is as loud as its first voice."""
    one, other = (gain(VOICES.resolve(name)) for name in ("af_nova", "af_aoede"))
    mix = gain(VOICES.resolve("af_nova(3)+af_aoede(1)"))
    assert mix == pytest.approx(one**0.75 * other**0.25)
    assert gain(Voice("zz_new", (("zz_new", 1.0),))) == 1.0


def test_loudness_is_that_of_the_recommendation() -> None:
    """ITU-R BS.1770-4: a sine of 997 Hz at full scale, in one channel, has -3.01 LUFS."""
    time_s = np.arange(3 * SAMPLE_RATE_HZ) / SAMPLE_RATE_HZ
    sine = np.sin(2 * np.pi * 997 * time_s).astype(np.float32)
    assert loudness(sine) == pytest.approx(-3.01, abs=0.1)
    # Silence does not count.
    assert loudness(np.append(sine, np.zeros_like(sine))) == pytest.approx(-3.01, abs=0.3)
