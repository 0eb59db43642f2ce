"""Where a sentence can be heard."""

import numpy as np
import pytest
from numpy.typing import NDArray

from kokoro_voice.windows import SpokenFrames


def energy(frames: int, onset: float) -> NDArray[np.float32]:
    """An energy curve of silence, followed by speech from a frame, or half a frame, on."""
    return np.where(np.arange(2 * frames) < 2 * onset, -9.0, 4.0).astype(np.float32)


def test_silence_around_the_sentence_is_not_decoded() -> None:
    """Silence is trimmed away in any case, and in front it would delay the first sound."""
    token_frames = np.array([20, 4, 3, 11, 2])
    spoken = SpokenFrames.of(token_frames, energy(40, 18.5), last_sound=1)
    assert (spoken.start, spoken.onset, spoken.end) == (15, 21, 33)


@pytest.mark.parametrize("onset", [0, 22.5, 33])
def test_speech_that_begins_where_it_should_not_is_decoded(onset: float) -> None:
    """Energy that passes at once, late or, with a voice never seen, nowhere near the padding's end:
    its first phoneme would be lost."""
    spoken = SpokenFrames.of(np.array([20, 14, 6]), energy(40, onset), last_sound=0)
    assert 0 <= spoken.start <= min(onset, 20)
    assert onset <= spoken.onset <= spoken.end == 40
    assert SpokenFrames.of(np.array([1, 2, 1]), energy(4, 4), last_sound=0) == SpokenFrames(0, 4, 4)
