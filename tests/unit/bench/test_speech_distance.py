"""The distances of the quality gate, on sounds whose difference is known."""

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.speech_distance import (
    SAMPLE_RATE_HZ,
    beginning,
    join_step_db,
    level_db,
    loudness_difference_db,
    mel_distance_db,
    snr_db,
)

Audio = NDArray[np.float32]


def noise(duration_s: float, amplitude: float = 0.1, seed: int = 0) -> Audio:
    """Return noise, which has sound in every band, unlike a tone."""
    samples = np.random.default_rng(seed).normal(size=round(duration_s * SAMPLE_RATE_HZ))
    return (amplitude * samples).astype(np.float32)


def louder(audio: Audio, gain_db: float) -> Audio:
    return (audio * 10 ** (gain_db / 20)).astype(np.float32)


def silence(duration_s: float) -> Audio:
    return np.zeros(round(duration_s * SAMPLE_RATE_HZ), np.float32)


SPEECH = np.concatenate([silence(0.3), noise(1.0), noise(0.5, 0.03, seed=1), silence(0.4)])


def test_equal_audio_has_no_distance() -> None:
    """If equal audio had a distance, the gate's limits would be stricter than they say."""
    assert mel_distance_db(SPEECH, SPEECH) == 0.0
    assert loudness_difference_db(SPEECH, SPEECH) == 0.0
    assert join_step_db(SPEECH, SPEECH, [20_000]) == 0.0
    assert snr_db(SPEECH, SPEECH) == float("inf")


@pytest.mark.parametrize("gain_db", [1.0, -1.0])
def test_distances_are_in_decibels_of_the_reference(gain_db: float) -> None:
    """Amplitude instead of power doubles the figure; a lost sign lets softer speech pass."""
    changed = louder(SPEECH, gain_db)
    assert mel_distance_db(SPEECH, changed) == pytest.approx(1.0, abs=0.02)
    assert loudness_difference_db(SPEECH, changed) == pytest.approx(1.0, abs=1e-3)
    # A gain of 1 dB leaves a difference of 0.122 of the amplitude.
    assert snr_db(SPEECH, louder(SPEECH, 1.0)) == pytest.approx(18.3, abs=0.1)


def test_a_band_that_is_missing_counts_by_its_share_of_the_bands() -> None:
    """Averaging over the spectrum first would hide an error in a few bands."""
    spectrum = np.fft.rfft(SPEECH)
    frequencies = np.fft.rfftfreq(len(SPEECH), 1 / SAMPLE_RATE_HZ)
    spectrum[frequencies > 4_310] *= 10 ** (-6 / 20)
    dull = np.fft.irfft(spectrum, len(SPEECH)).astype(np.float32)
    # 4310 Hz is 2218 mel, of the 61 to 3174 that the bands cover.
    share = (3174 - 2218) / (3174 - 61)
    assert mel_distance_db(SPEECH, dull) == pytest.approx(6 * share**0.5, abs=0.1)


def test_silence_is_not_compared() -> None:
    """The model's silence is noise at -57 dB. Nobody hears when it is twice as loud."""
    changed = SPEECH.copy()
    changed[: round(0.2 * SAMPLE_RATE_HZ)] += noise(0.2, 0.0001)
    assert mel_distance_db(SPEECH, changed) == 0.0
    assert loudness_difference_db(SPEECH, changed) == 0.0


def test_sound_that_is_missing_is_found_and_stays_finite() -> None:
    """Digital silence gives log 0, which is infinite, or NaN, for which every `>` is false."""
    gone = SPEECH.copy()
    gone[12_000:24_000] = 0.0
    assert 10.0 < mel_distance_db(SPEECH, gone) < 70.0
    assert loudness_difference_db(SPEECH, gone) == pytest.approx(70.0, abs=0.5)


def test_the_beginning_starts_at_the_onset() -> None:
    """The first 0.6 s of the samples would be half silence."""
    changed = SPEECH.copy()
    changed[round(0.9 * SAMPLE_RATE_HZ) :] *= 0.5
    reference, audio = beginning(SPEECH, changed, 0.5)
    assert len(reference) == round(0.5 * SAMPLE_RATE_HZ) + 512
    assert mel_distance_db(reference, audio) == 0.0
    assert mel_distance_db(*beginning(SPEECH, changed, 0.8)) > 1.0


def test_a_short_loudness_fault_is_in_the_95th_percentile() -> None:
    """A mean over the sentence would hide a syllable that is 6 dB too loud."""
    changed = SPEECH.copy()
    changed[12_000:16_800] = louder(changed[12_000:16_800], 6.0)
    assert loudness_difference_db(SPEECH, changed) == pytest.approx(6.0, abs=0.1)


def test_a_step_at_a_join_is_found_and_one_elsewhere_is_not() -> None:
    """Speech has steps in level itself. Only a step that the join adds is a fault."""
    own_step = 31_200  # where SPEECH falls by 10 dB
    changed = SPEECH.copy()
    changed[20_000:] = louder(changed[20_000:], 3.0)
    assert join_step_db(SPEECH, changed, [20_000]) == pytest.approx(3.0, abs=0.1)
    assert join_step_db(SPEECH, changed, [12_000, 20_000, 40_000]) > 2.9
    assert join_step_db(SPEECH, changed, [own_step]) < 0.1
    assert join_step_db(SPEECH, changed, []) == 0.0
    # Too near to an end to have two sides.
    assert join_step_db(SPEECH, changed, [100, len(SPEECH) - 100]) == 0.0


def test_a_join_in_silence_is_no_step() -> None:
    """The ratio of two silences means nothing."""
    changed = SPEECH.copy()
    changed[3_000:4_000] = noise(1, 0.0001)[:1_000]
    assert join_step_db(SPEECH, changed, [3_000]) < 0.01


def test_what_is_left_out_has_the_level_of_its_loudest_moment() -> None:
    """A mean over half a second of silence would hide a cut-off consonant of 20 ms."""
    tail = np.concatenate([silence(0.4), louder(noise(0.02), -20.0), silence(0.1)])
    assert level_db(tail, SPEECH) == pytest.approx(-20.0, abs=1.5)
    assert level_db(SPEECH, SPEECH) == 0.0
    assert level_db(SPEECH[:0], SPEECH) == float("-inf")
    assert level_db(silence(0.5), SPEECH) == float("-inf")
    with pytest.raises(ValueError, match="silent"):
        level_db(silence(0.5), silence(1))


def test_audio_of_another_length_is_refused() -> None:
    """Cutting both to the shorter length would pass speech without its end."""
    for measure in (mel_distance_db, loudness_difference_db, snr_db):
        with pytest.raises(ValueError, match="the reference has"):
            measure(SPEECH, SPEECH[:-600])
    with pytest.raises(ValueError, match="the reference has"):
        join_step_db(SPEECH, SPEECH[:-600], [])
    with pytest.raises(ValueError, match="at least 1024"):
        mel_distance_db(SPEECH[:1000], SPEECH[:1000])


def test_silence_as_reference() -> None:
    """An utterance without sound must not cause a division by zero."""
    assert mel_distance_db(silence(1), silence(1)) == 0.0
    assert loudness_difference_db(silence(1), silence(1)) == 0.0
    assert join_step_db(silence(1), silence(1), [12_000]) == 0.0
    with pytest.raises(ValueError, match="silent"):
        snr_db(silence(1), silence(1))
