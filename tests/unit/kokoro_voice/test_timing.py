"""Words through splitting and durations to their times."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_voice.timing import (
    PronouncedWord,
    last_sound_frame,
    phonemes_of,
    split,
    word_times,
)
from kokoro_voice.windows import FRAME_SAMPLES

FRAME_S = FRAME_SAMPLES / 24_000
PHONEMES = st.text(alphabet="abˈ̃,. ", max_size=8)
WORDS = st.lists(st.builds(PronouncedWord, st.text("xyz.", min_size=1, max_size=5), PHONEMES))


def frames_of(
    words: list[tuple[str, str]], token_frames: list[int], dropped: int = 0
) -> list[tuple[str, int, int]]:
    """`word_times` with all times in frames."""
    pronounced = [PronouncedWord(*word) for word in words]
    times = word_times(pronounced, np.array(token_frames), dropped * FRAME_SAMPLES)
    return [
        (word.text, round(word.start_s / FRAME_S), round(word.end_s / FRAME_S)) for word in times
    ]


def test_a_word_lasts_from_its_first_sound_to_its_last() -> None:
    """Guards against times that include the blank before, or the pause after."""
    words = [("So,", "sO, "), ("old", "Old "), ("Al.", "Al.")]
    token_frames = [10, 3, 30, 2, 3, 6, 2, 9, 3, 7, 20, 4, 1]
    assert frames_of(words, token_frames) == [("So, ", 8, 15), ("old ", 46, 63), ("Al. ", 66, 77)]


def test_times_are_those_of_the_audio_that_is_sent() -> None:
    """Guards against times that count from the untrimmed audio."""
    assert frames_of([("Oh.", "O.")], [10, 3, 1, 9], dropped=4) == [("Oh. ", 4, 7)]


def test_the_last_sound_is_that_before_the_punctuation() -> None:
    """Guards against sending the silence at the end as if speech followed."""
    assert last_sound_frame("sO, nO…", np.array([10, 3, 30, 2, 3, 6, 20, 4, 1])) == 52


def test_what_is_not_said_stays_with_its_neighbour() -> None:
    """Guards against losing a dash, or giving it a duration of zero."""
    words = [("–", ""), ("Oh", "O "), ("—", "— "), ("no", "n "), ("…", "")]
    assert frames_of(words, [5] + [1] * 6) == [("– Oh — ", 3, 4), ("no … ", 7, 8)]


def test_words_without_blanks_between_them_stay_together() -> None:
    """Guards against blanks in Japanese and Mandarin captions."""
    words = [
        PronouncedWord("「", "", ""),
        PronouncedWord("猫", "a ", ""),
        PronouncedWord("OK", "b ", " "),
        PronouncedWord("です。", "ab.", ""),
    ]
    times = word_times(words, np.ones(9, np.int64), 0)
    assert [word.text for word in times] == ["「猫", "OK ", "です。"]


@settings(max_examples=100, deadline=None)
@given(WORDS, st.integers(1, 12), st.data())
def test_runs_lose_no_word_and_their_times_follow_one_another(
    words: list[PronouncedWord], limit: int, data: st.DataObject
) -> None:
    """Guards against over 510 phonemes, lost words, and times that go back or leave the audio."""
    runs = list(split(words, limit))
    joined = [word for run in runs for word in run]
    assert [word.text for word in joined if word.text] == [word.text for word in words]
    spoken = "".join(word.phonemes for word in joined)
    assert spoken.replace(" ", "") == "".join(word.phonemes for word in words).replace(" ", "")
    for run in runs:
        phonemes = phonemes_of(run)
        assert len(phonemes) <= limit
        count = len(phonemes) + 2
        frames = data.draw(st.lists(st.integers(0, 9), min_size=count, max_size=count))
        times = word_times(run, np.array(frames), FRAME_SAMPLES)
        if times:
            texts = "".join(word.text for word in times).split()
            assert texts == [word.text for word in run if word.text]
        moments = [moment for word in times for moment in (word.start_s, word.end_s)]
        assert moments == sorted(moments)
        assert all(0.0 <= moment <= sum(frames) * FRAME_S for moment in moments)
