"""Trimming and silence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_voice import audio
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples, Trimmer


def tone(duration_s: float, level: float = 0.5) -> Samples:
    time_s = np.arange(round(duration_s * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
    return (level * np.sin(2 * np.pi * 220 * time_s)).astype(np.float32)


def noise(duration_s: float, level: float) -> Samples:
    generator = np.random.default_rng(1)
    count = round(duration_s * SAMPLE_RATE_HZ)
    return (level * generator.standard_normal(count)).astype(np.float32)


def trimmed(*pushes: Samples) -> Samples:
    trimmer = Trimmer()
    return np.concatenate([*(trimmer.push(samples) for samples in pushes), trimmer.end()])


def test_silence_and_the_models_noise_around_speech_are_left_out() -> None:
    """Guards against 0.8 s between sentences and against a noisy tail after short words."""
    raw = np.concatenate([audio.silence(0.3), tone(1.0), noise(0.5, 0.0005)])
    assert 1.0 <= len(trimmed(raw)) / SAMPLE_RATE_HZ <= 1.13


def test_all_that_is_loud_is_kept() -> None:
    """Guards against cutting into the first or last sound."""
    speech = tone(0.5)
    kept = trimmed(np.concatenate([audio.silence(0.2), speech, audio.silence(0.2)]))
    assert np.sum(np.square(kept)) == pytest.approx(np.sum(np.square(speech)), rel=1e-3)


def test_a_quiet_first_sound_and_a_pause_are_kept() -> None:
    """Guards against losing a quiet h before a loud vowel, and the pause at a comma."""
    parts = [audio.silence(0.2), noise(0.1, 0.001), tone(0.3), audio.silence(0.4), tone(0.3)]
    assert 1.1 <= len(trimmed(*parts)) / SAMPLE_RATE_HZ <= 1.23


def test_there_is_no_click_at_either_end() -> None:
    """Guards against clicks where audio begins or ends at full level."""
    speech = tone(0.5) + np.float32(0.2)
    kept = trimmed(speech[:6000], speech[6000:])
    assert kept[0] == 0
    assert kept[-1] == 0
    assert np.abs(np.diff(kept)).max() < 0.05


@pytest.mark.parametrize("samples", [0, 1, 100, 239, 240, 5000])
def test_of_silence_and_of_next_to_nothing_nothing_is_left(samples: int) -> None:
    """Guards against a crash on audio shorter than one block, or without a peak."""
    assert len(trimmed(np.zeros(samples, np.float32))) == 0


def test_the_input_stays_as_it_is() -> None:
    """Guards against applying fades to the caller's array."""
    raw = tone(0.2)
    trimmed(raw)
    assert np.array_equal(raw, tone(0.2))


def test_sound_is_sent_at_once() -> None:
    """Guards against a first sound that waits for the sentence, or a pause that plays too early."""
    trimmer = Trimmer()
    assert len(trimmer.push(audio.silence(0.3))) == 0
    first = trimmer.push(tone(0.5))
    assert trimmer.dropped_samples == round(0.26 * SAMPLE_RATE_HZ)
    assert len(first) > (0.04 + 0.5 - 0.02) * SAMPLE_RATE_HZ
    assert len(trimmer.push(audio.silence(0.4))) == 0
    assert len(trimmer.push(tone(0.1))) >= (0.4 + 0.1) * SAMPLE_RATE_HZ


def test_a_pause_is_sent_at_once_where_speech_is_known_to_follow() -> None:
    """Guards against an underrun in a pause that was decoded in time."""
    trimmer = Trimmer(last_sound=round(0.8 * SAMPLE_RATE_HZ))
    assert len(trimmer.push(audio.silence(0.2))) == 0
    sent = [trimmer.push(tone(0.3)[:-100]), trimmer.push(audio.silence(0.3))]
    assert len(np.concatenate(sent)) > 0.63 * SAMPLE_RATE_HZ - 100
    sent += [trimmer.push(tone(0.1)), trimmer.end()]
    raw = [audio.silence(0.2), tone(0.3)[:-100], audio.silence(0.3), tone(0.1)]
    assert np.array_equal(np.concatenate(sent), trimmed(np.concatenate(raw)))


def test_speech_that_does_not_follow_after_all_is_no_harm() -> None:
    """Guards against a crash where the model makes the last word inaudible."""
    trimmer = Trimmer(last_sound=SAMPLE_RATE_HZ)
    trimmer.push(tone(0.3)[:-100])
    assert len(trimmer.end()) < 240


def test_what_is_heard_after_the_last_sound_is_left_out() -> None:
    """Guards against the click that some voices make at the end, and against one that hums."""
    last_sound = round(0.4 * SAMPLE_RATE_HZ)
    click = [audio.silence(0.2), tone(0.4), audio.silence(0.06), tone(0.05, 0.02), tone(0.1, 0.1)]
    trimmer = Trimmer(last_sound)
    kept = np.concatenate([trimmer.push(np.concatenate(click)), trimmer.end()])
    assert len(kept) / SAMPLE_RATE_HZ == pytest.approx(0.04 + 0.4 + 0.08, abs=0.01)
    assert np.abs(kept[round(0.45 * SAMPLE_RATE_HZ) :]).max() == 0
    trimmer = Trimmer(last_sound)
    hum = np.concatenate([audio.silence(0.2), tone(2.0)])
    kept = np.concatenate([trimmer.push(hum), trimmer.push(hum), trimmer.end()])
    assert len(kept) / SAMPLE_RATE_HZ == pytest.approx(0.04 + 0.2 + 0.5 + 0.08, abs=0.03)


def test_a_stop_at_the_end_and_a_pause_before_are_kept() -> None:
    """Guards against losing the burst of a t, or everything after a comma."""
    parts = [tone(0.3), audio.silence(0.4), tone(0.1), audio.silence(0.08), noise(0.03, 0.05)]
    trimmer = Trimmer(last_sound=round(0.77 * SAMPLE_RATE_HZ))
    kept = np.concatenate([trimmer.push(np.concatenate(parts)), trimmer.end()])
    assert len(kept) / SAMPLE_RATE_HZ == pytest.approx(0.91, abs=0.02)


LEVELS = st.lists(st.tuples(st.integers(0, 900), st.integers(-90, 0)), max_size=12)


@settings(max_examples=100, deadline=None)
@given(LEVELS, st.lists(st.integers(0, 4000), max_size=12), st.none() | st.integers(-500, 9000))
def test_what_is_kept_does_not_depend_on_the_pushes(
    levels: list[tuple[int, int]], cuts: list[int], last_sound: int | None
) -> None:
    """Guards against windows whose audio or word times differ from the whole sentence."""
    parts = [noise(count / SAMPLE_RATE_HZ, 10 ** (level / 20)) for count, level in levels]
    raw = np.concatenate([audio.silence(0), *parts])
    whole, windows = Trimmer(last_sound), Trimmer(last_sound)
    at_once = np.concatenate([whole.push(raw), whole.end()])
    pushed = [windows.push(samples) for samples in np.split(raw, sorted(cuts))]
    assert np.array_equal(np.concatenate([*pushed, windows.end()]), at_once)
    if len(at_once):
        assert windows.dropped_samples == whole.dropped_samples
    if len(at_once) and last_sound is None:
        kept = raw[whole.dropped_samples :][: len(at_once)]
        assert np.array_equal(at_once[240:-240], kept[240:-240])
