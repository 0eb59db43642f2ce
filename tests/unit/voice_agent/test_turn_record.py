"""The figures of a reply and the text that its listener has heard, without a clock."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice_agent.turn_record import TurnRecord

SECOND_BYTES = 48_000


def two_sentences() -> TurnRecord:
    record = TurnRecord("bidi", prompted_at=100.0)
    record.text_written(100.4)
    record.text_written(100.6)
    record.sentence_complete(100.9)
    assert record.sentence_sent("One two three four.", 101.0) == 0
    assert record.audio_arrived(0, SECOND_BYTES, 101.5)
    record.sentence_complete(102.0)
    assert record.sentence_sent("Five six.", 102.5) == 1
    assert not record.audio_arrived(0, SECOND_BYTES, 103.0)
    assert record.audio_arrived(1, SECOND_BYTES, 104.0)
    return record


def test_times_count_from_the_prompt() -> None:
    """Figures that count from the first event of a turn would hide the wait for that event."""
    metrics = two_sentences().metrics(105.0, streams_opened=1)
    assert metrics.ttft_s == pytest.approx(0.4)
    assert metrics.first_sentence_s == pytest.approx(0.9)
    assert metrics.ttfa_s == pytest.approx(1.5)
    assert metrics.total_s == pytest.approx(5.0)
    assert metrics.audio_s == pytest.approx(3.0)
    assert metrics.streams_opened == 1
    first, second = metrics.sentences
    assert (first.seq, first.text, first.audio_s) == (0, "One two three four.", 2.0)
    assert first.sent_s == pytest.approx(1.0)
    assert first.first_audio_s == pytest.approx(1.5)
    assert (second.seq, second.audio_s) == (1, 1.0)
    assert second.first_audio_s == pytest.approx(4.0)


def test_what_never_came_is_none_not_zero() -> None:
    """A zero for a reply without audio would count as the best time."""
    record = TurnRecord("batch", prompted_at=0.0)
    record.sentence_sent("Unanswered.", 1.0)
    metrics = record.metrics(2.0, streams_opened=0)
    assert (metrics.ttft_s, metrics.first_sentence_s, metrics.ttfa_s) == (None, None, None)
    assert metrics.sentences[0].first_audio_s is None


@pytest.mark.parametrize(
    ("played_s", "heard"),
    [
        (0.0, ""),
        (0.4, ""),
        (0.5, "One"),
        (1.9, "One two three"),
        (2.0, "One two three four."),
        (2.5, "One two three four. Five"),
        (3.0, "One two three four. Five six."),
        (99.0, "One two three four. Five six."),
    ],
)
def test_heard_is_what_has_been_played(played_s, heard) -> None:
    """The history must not contain words that the listener has not heard."""
    assert two_sentences().heard_text(played_s) == heard


@pytest.mark.parametrize(
    ("played_s", "heard"),
    [
        (0.1, ""),
        (0.5, "港"),
        (1.0, "港の朝"),
        (2.0, "港の朝は早い。"),
        (3.0, "港の朝は早い。船が"),
        (3.5, "港の朝は早い。船が「Oki」"),
        (9.0, "港の朝は早い。船が「Oki」へ。"),
    ],
)
def test_what_is_heard_of_japanese_has_no_blanks(played_s, heard) -> None:
    """A sentence without blanks is not one word, and blanks between sentences are none of its."""
    record = TurnRecord("bidi", prompted_at=0.0)
    for text in ("港の朝は早い。", "船が「Oki」へ。"):
        record.audio_arrived(record.sentence_sent(text, 0.0), 2 * SECOND_BYTES, 0.0)
    assert record.heard_text(played_s) == heard


def test_a_sentence_whose_audio_never_came_was_not_heard() -> None:
    """After a failure, the last sentences may have been sent without any audio in return."""
    record = two_sentences()
    record.sentence_sent("Never spoken.", 105.0)
    assert "Never" not in record.heard_text(1000.0)


@given(st.lists(st.integers(1, 10), max_size=6), st.floats(0, 40), st.floats(0, 5))
def test_hearing_longer_never_means_hearing_less(lengths, played_s, more_s) -> None:
    record = TurnRecord("bidi", prompted_at=0.0)
    words = iter(range(1000))
    for count in lengths:
        text = " ".join(str(next(words)) for _ in range(count)) + "."
        seq = record.sentence_sent(text, 0.0)
        record.audio_arrived(seq, count * SECOND_BYTES // 2, 0.0)
    shorter, longer = record.heard_text(played_s), record.heard_text(played_s + more_s)
    assert longer.startswith(shorter.removesuffix("."))
    if played_s >= sum(lengths) / 2:
        assert shorter.count(".") == len(lengths)
