"""Faster and slower speech: the samples of two voices, one high and one low."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.hearing import transcribe, word_error_rate
from bench.samples import FOLDER, read_mp3
from bench.voices import TEXTS, plain_name
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples
from kokoro_voice.stretch import Stretcher

VOICES = ("af_heart", "am_onyx")
SPEEDS = (0.5, 0.8, 1.25, 2.0)


@cache
def speech(voice: str) -> Samples:
    return read_mp3(FOLDER / f"{voice}.mp3")


def stretched(speed: float, *pushes: Samples) -> Samples:
    stretcher = Stretcher(speed)
    return np.concatenate([*(stretcher.push(samples) for samples in pushes), stretcher.end()])


def median_pitch_hz(audio: Samples) -> float:
    """The median over the loudest quarter of the frames of 40 ms, by autocorrelation."""
    frames = audio[: len(audio) // 960 * 960].reshape(-1, 960)
    loudest = frames[np.argsort(np.square(frames).sum(axis=1))[-len(frames) // 4 :]]
    spectra = np.square(np.abs(np.fft.rfft(loudest, 1920)))
    shortest, longest = SAMPLE_RATE_HZ // 350, SAMPLE_RATE_HZ // 60
    periods = np.fft.irfft(spectra)[:, shortest:longest].argmax(axis=1) + shortest
    return float(SAMPLE_RATE_HZ / np.median(periods))


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("speed", SPEEDS)
def test_only_the_pace_changes(voice: str, speed: float) -> None:
    """Guards against resampled speech, which sounds like a dwarf or a giant, clicks, and echoes."""
    before = speech(voice)
    after = stretched(speed, before)
    assert len(after) == pytest.approx(len(before) / speed, abs=0.03 * SAMPLE_RATE_HZ)
    assert median_pitch_hz(after) == pytest.approx(median_pitch_hz(before), rel=0.05)
    level_db = 10 * np.log10(np.square(after).mean() / np.square(before).mean())
    assert abs(level_db) < 0.5
    assert np.abs(np.diff(after)).max() <= 1.2 * np.abs(np.diff(before)).max()


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_every_word_is_still_understood(voice: str, speed: float) -> None:
    """Guards against lost or doubled sounds."""
    text = TEXTS["en-us"].format(name=plain_name(voice))
    heard = transcribe(stretched(speed, speech(voice)), SAMPLE_RATE_HZ)
    # Whisper writes "I'm", which counts twice, or another spelling of the name.
    assert word_error_rate(text, heard) <= 2 / 12, heard


@pytest.mark.parametrize("speed", SPEEDS)
def test_sound_stays_in_its_place(speed: float) -> None:
    """Guards against a drift, with which the times of words would be wrong."""
    before = speech("af_heart")
    after = stretched(speed, before)
    step = SAMPLE_RATE_HZ // 100

    def loudness(audio: Samples) -> Samples:
        return np.square(audio[: len(audio) // step * step]).reshape(-1, step).mean(axis=1)

    heard = np.cumsum(loudness(after))
    expected = np.cumsum(loudness(before))
    # When each tenth of the energy has been heard, in seconds of the slower or faster audio.
    shares = np.linspace(0.1, 0.9, 9)
    found_s = np.searchsorted(heard, shares * heard[-1]) / 100
    wanted_s = np.searchsorted(expected, shares * expected[-1]) / 100 / speed
    # The energy at one of these times may be so low that the time means little.
    assert np.median(np.abs(found_s - wanted_s)) <= 0.02 / min(1.0, speed)


def test_normal_speed_changes_nothing_and_keeps_nothing_back() -> None:
    """Guards against a delay, or a loss of quality, for everybody."""
    stretcher = Stretcher(1.0)
    assert np.array_equal(stretcher.push(speech("af_heart")), speech("af_heart"))
    assert len(stretcher.end()) == 0


def test_little_is_held_back() -> None:
    """Guards against a first sound that waits."""
    stretcher = Stretcher(2.0)
    assert len(stretcher.push(speech("af_heart")[:4800])) >= (4800 - 0.05 * SAMPLE_RATE_HZ) / 2


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([0.5, 0.93, 1.5, 2.0]), st.lists(st.integers(0, 24_000), max_size=12))
def test_the_pushes_do_not_matter(speed: float, cuts: list[int]) -> None:
    """Guards against windows that sound different from the whole sentence."""
    audio = speech("am_onyx")[:24_000]
    pushes = np.split(audio, sorted(cuts))
    assert np.array_equal(stretched(speed, *pushes), stretched(speed, audio))


@pytest.mark.parametrize("samples", [0, 1, 100, 720])
@pytest.mark.parametrize("speed", SPEEDS)
def test_next_to_nothing_and_silence_are_no_harm(samples: int, speed: float) -> None:
    """Guards against a crash on audio shorter than an excerpt."""
    after = stretched(speed, np.zeros(samples, np.float32))
    assert len(after) <= samples / speed + 0.05 * SAMPLE_RATE_HZ
    assert not after.any()
    assert len(stretched(speed, np.zeros(0, np.float32))) == 0
