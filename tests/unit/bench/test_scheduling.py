"""The simulation of the scheduler: it does all of the work, at its cost."""

from dataclasses import replace
from itertools import islice

import pytest

from bench.scheduling import LOCK, QUEUE, SENTENCES, STRATEGIES, WINDOWS, Costs, estimated, simulate
from bench.turns import POOL, turns
from kokoro_voice.decoding import Decoding

COSTS = Costs(prosody=(0.03, 0.001), whole=(0.02, 0.005), window=(0.02, 0.005), pronounce_s=0.01)


def first_turns(sessions: int) -> list[list[str]]:
    """Return the sentences of the first turn of each session."""
    return [list(next(turns(1, number)).sentences) for number in range(sessions)]


def test_turns_are_the_same_again_and_different_between_sessions() -> None:
    """Strategies must be compared with the same turns."""
    assert list(islice(turns(1, 0), 5)) == list(islice(turns(1, 0), 5))
    assert next(turns(1, 0)) != next(turns(1, 1)) != next(turns(2, 1))
    assert all(5 <= len(sentence.split()) <= 25 for sentence in POOL)


def test_first_sound_of_one_session_is_the_work_before_it() -> None:
    """No work may be free or be done twice."""
    first = estimated(first_turns(1)[0][0])
    prosody_s = 0.03 + 0.001 * first.frames
    span = Decoding(first.frames, first.spoken, windowed=True).next()
    assert span is not None
    assert not span.whole
    window_s = 0.02 + 0.005 * span.work_frames
    whole_s = 0.02 + 0.005 * first.frames
    windows, sentences = (simulate(one, 1, COSTS, run_s=9.0) for one in (WINDOWS, SENTENCES))
    assert windows.first_sound_s[0] == pytest.approx(0.01 + prosody_s + window_s)
    assert sentences.first_sound_s[0] == pytest.approx(0.01 + prosody_s + whole_s)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_everything_is_spoken_to_the_end(strategy) -> None:
    """No turn, and no end of a sentence, may get lost under load."""
    outcome = simulate(replace(strategy, headroom=0.0), 3, COSTS, run_s=9.0)
    assert not outcome.refused
    assert len(outcome.gaps_s) == len(outcome.first_sound_s) == 3
    speech = [estimated(sentence) for turn in first_turns(3) for sentence in turn]
    assert outcome.audio_s == pytest.approx(sum(one.audio_s for one in speech))


def test_deadlines_make_first_sounds_sooner_and_gaps_fewer() -> None:
    """The plot is there to show this order of the strategies."""
    windows, queue, lock = (simulate(one, 4, COSTS, run_s=400.0) for one in (WINDOWS, QUEUE, LOCK))
    assert windows.first_sound(95) < queue.first_sound(95) < lock.first_sound(95)
    assert sum(windows.gaps_s) < 0.1 * sum(queue.gaps_s)
