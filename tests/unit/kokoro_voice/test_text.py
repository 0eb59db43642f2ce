"""Splitting text into segments to speak."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_voice.text import (
    CLAUSE_PAUSE_S,
    MAX_SEGMENT_CHARS,
    SENTENCE_PAUSE_S,
    WORD_PAUSE_S,
    Segment,
    segments,
)


def texts(text: str) -> list[str]:
    return [segment.text for segment in segments(text, "en-us")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Smith met J. K. Doe. They spoke.", ["Dr. Smith met J. K. Doe.", "They spoke."]),
        ("So am I. Then go.", ["So am I.", "Then go."]),
        ("It rained, etc. Then it stopped.", ["It rained, etc.", "Then it stopped."]),
        ("It costs $5.30 at 9.30 a.m. today.", ["It costs $5.30 at 9.30 a.m. today."]),
        ("“Stop!” she said. “Go.” He went.", ["“Stop!” she said.", "“Go.”", "He went."]),
        ("A heading\n\nwrapped\nlines here", ["A heading", "wrapped lines here"]),
        ("Wait... what?  Oh.", ["Wait... what?", "Oh."]),
        (" \n ", []),
        (
            "Use ASP.NET or Node.JS. See Example.Com.",
            ["Use ASP.NET or Node.JS.", "See Example.Com."],
        ),
        ("Is it me? yes. Hello.How are you", ["Is it me?", "yes.", "Hello.", "How are you"]),
        (
            "He said “Wait! Stop! Come.” Then left.",
            ["He said “Wait!", "Stop!", "Come.”", "Then left."],
        ),
        (
            "The party is on Dec. 25. Take bus No. 5.",
            ["The party is on Dec. 25.", "Take bus No. 5."],
        ),
        ("The party is on Dec. 25 at noon.", ["The party is on Dec. 25 at noon."]),
        ("He works at Acme Inc. I know.", ["He works at Acme Inc.", "I know."]),
        ("- milk\n- eggs\n- a loaf", ["- milk", "- eggs", "- a loaf"]),
        ("Hi [Dr. No. Yes](/nˈO. jˈɛs, nˈO/). Oh.", ["Hi [Dr. No. Yes](/nˈO. jˈɛs, nˈO/).", "Oh."]),
    ],
)
def test_sentences_end_where_a_reader_would_pause(text: str, expected: list[str]) -> None:
    """Guards against splits after a title or in a number, and against none after "etc."."""
    assert texts(text) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("La cita es con el Sr. García. Venga.", "es", ["La cita es con el Sr. García.", "Venga."]),
        ("Fale com a Sra. Silva. Obrigado.", "pt-br", ["Fale com a Sra. Silva.", "Obrigado."]),
        ("वह आया। वह गया।", "hi", ["वह आया।", "वह गया।"]),
        (
            "我来了。你好！他说：“好。”然后走了。",
            "cmn",
            ["我来了。", "你好！", "他说：“好。”", "然后走了。"],
        ),
        ("はい。そうです。", "ja", ["はい。", "そうです。"]),
    ],
)
def test_every_language_has_its_own_rules(text: str, language: str, expected: list[str]) -> None:
    """Guards against English rules for a language whose code espeak writes differently."""
    assert [segment.text for segment in segments(text, language)] == expected


def test_a_sentence_is_not_split_into_sentences() -> None:
    """Guards against pauses inside what the client knows to be one sentence."""
    text = "See Fig. 5. It is\n\nhere.  Hello. 😊"
    assert list(segments(text, "en-us", is_sentence=True)) == [
        Segment("See Fig. 5. It is here. Hello. 😊", SENTENCE_PAUSE_S)
    ]
    assert list(segments("\u200b", "en-us", is_sentence=True)) == []


def test_a_sentence_that_is_too_long_is_split_where_a_reader_would_pause() -> None:
    """Guards against a segment that the model cannot speak at once, and cuts between words."""
    sentence = "The boats came back to the harbor after a long day. "
    split = list(segments(sentence * 6, "en-us", is_sentence=True))
    assert split == [Segment(sentence.strip(), SENTENCE_PAUSE_S)] * 6


def test_chinese_counts_three_times() -> None:
    """Guards against a minute of speech in one segment: a Chinese character is a syllable."""
    split = list(segments("他今天早上在海边看到了很多小船，" * 20, "cmn"))
    assert all(len(segment.text) <= MAX_SEGMENT_CHARS / 3 for segment in split)
    assert all(segment.text.endswith("，") for segment in split)


def test_control_characters_are_dropped_and_signs_stay() -> None:
    """Guards against emoji that are missing from the written words."""
    assert texts("Hello 😊 © 2026\x00\u200b end.") == ["Hello 😊 © 2026 end."]
    assert texts("\u200b") == []


def test_a_long_sentence_is_split_at_clauses() -> None:
    """Guards against a first segment that takes many seconds to synthesize."""
    clause = "the boats came back to the harbor after a long day,"
    long = " ".join([clause] * 12)
    split = list(segments(long, "en-us"))
    assert " ".join(segment.text for segment in split) == long
    assert all(len(segment.text) <= MAX_SEGMENT_CHARS for segment in split)
    assert {segment.pause_s for segment in split[:-1]} == {CLAUSE_PAUSE_S}
    assert split[-1].pause_s == SENTENCE_PAUSE_S


def test_a_word_with_its_phonemes_is_never_cut() -> None:
    """Guards against splitting a word with phonemes, whose brackets would be read out."""
    word = "[New York, New York](/nu jˈɔɹk, nu jˈɔɹk/)"
    split = texts(" ".join([word] * 40))
    assert len(split) > 1
    assert " ".join(split) == " ".join([word] * 40)
    assert all(segment.startswith("[") and segment.endswith(")") for segment in split)


def test_words_without_punctuation_are_split_between_words() -> None:
    """Guards against losing words, and against pauses inside a phrase."""
    words = " ".join(f"word{number}" for number in range(150))
    split = list(segments(words, "en-us"))
    assert " ".join(segment.text for segment in split) == words
    assert {segment.pause_s for segment in split[:-1]} == {WORD_PAUSE_S}


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="abcD .,!?;\n'\"-12[](/)", max_size=1500))
def test_nothing_is_lost_whatever_the_text(text: str) -> None:
    """Guards against a split that drops a character, or gives an empty or too long segment."""
    split = texts(text)
    assert "".join("".join(split).split()) == "".join(text.split())
    assert all(0 < len(segment) <= MAX_SEGMENT_CHARS for segment in split)


def test_the_pause_after_a_sentence_can_be_set() -> None:
    """Guards against a setting that changes the pauses inside a long sentence, too."""
    long = "This clause is long enough to be split, " * 8 + "and it ends. So does this one."
    split = list(segments(long, "en-us", sentence_pause_s=0.8))
    assert {segment.pause_s for segment in split[:-2]} == {CLAUSE_PAUSE_S}
    assert [segment.pause_s for segment in split[-2:]] == [0.8, 0.8]
