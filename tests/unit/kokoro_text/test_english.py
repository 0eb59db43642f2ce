"""What is heard of English text is what was written."""

import string
import time
from collections.abc import Iterator

import misaki.en
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_text.normalizer import read
from kokoro_voice.g2p import Pronouncer
from tests.said_right import is_said_right, load, sounds

ACCENTS = ("en-us", "en-gb")
APOSTROPHES = "’‘ʼʻ‛＇`´ʹ′"
CONTRACTIONS = [
    "aren't",
    "can't",
    "couldn't",
    "daren't",
    "didn't",
    "doesn't",
    "don't",
    "hadn't",
    "hasn't",
    "haven't",
    "isn't",
    "mightn't",
    "mustn't",
    "needn't",
    "oughtn't",
    "shan't",
    "shouldn't",
    "wasn't",
    "weren't",
    "won't",
    "wouldn't",
    "ain't",
    "I'm",
    "I'd",
    "I'll",
    "I've",
    "you're",
    "you'd",
    "you'll",
    "you've",
    "he's",
    "he'd",
    "he'll",
    "she's",
    "she'd",
    "she'll",
    "it's",
    "it'd",
    "it'll",
    "we're",
    "we'd",
    "we'll",
    "we've",
    "they're",
    "they'd",
    "they'll",
    "they've",
    "there's",
    "there'd",
    "there'll",
    "here's",
    "that's",
    "that'd",
    "that'll",
    "this'll",
    "who's",
    "who'd",
    "who'll",
    "who've",
    "who're",
    "what's",
    "what'd",
    "what'll",
    "what've",
    "what're",
    "where's",
    "where'd",
    "where'll",
    "where're",
    "when's",
    "when'd",
    "why's",
    "why'd",
    "how's",
    "how'd",
    "how'll",
    "how're",
    "let's",
    "y'all",
    "ma'am",
    "o'clock",
    "should've",
    "could've",
    "would've",
    "might've",
    "must've",
    "shouldn't've",
    "couldn't've",
    "wouldn't've",
    "I'd've",
    "they'd've",
    "somebody's",
    "everyone's",
    "nobody's",
]
FRAMES = (
    "{}",
    "{} ready.",
    "I think {} late.",
    "No, it {}.",
    "And {} what she said?",
    "“{} over,” he said.",
    "He said {}, and left.",
    "We ({} sure) agreed.",
    "The old dog {} bark.",
    "{}!",
)


@pytest.fixture(scope="module")
def pronouncer() -> Pronouncer:
    return Pronouncer()


@pytest.mark.parametrize("name", ["english_reported", "english_own", "english_more"])
def test_text_is_said_as_a_careful_reader_says_it(name: str, pronouncer: Pronouncer) -> None:
    wrong = [case.text for case in load(name) if not is_said_right(case, pronouncer.phonemes)]
    assert not wrong


@pytest.mark.parametrize("accent", ACCENTS)
def test_every_apostrophe_of_a_contraction_sounds_the_same(
    accent: str, pronouncer: Pronouncer
) -> None:
    wrong = [
        text
        for number, contraction in enumerate(CONTRACTIONS)
        for frame in FRAMES
        for said in [sounds(pronouncer.phonemes(frame.format(contraction), accent))]
        for apostrophe in ("’", APOSTROPHES[number % len(APOSTROPHES)])
        for text in [frame.format(contraction.replace("'", apostrophe))]
        if sounds(pronouncer.phonemes(text, accent)) != said
    ]
    assert not wrong


@pytest.mark.parametrize("accent", ACCENTS)
def test_contractions_are_said_as_one_word(accent: str, pronouncer: Pronouncer) -> None:
    """The negation or verb is heard, and none of it is spelled."""
    vowels = "AIOQWYaiuæɑɒɔəɛɜɪʊʌᵊ"
    for contraction in CONTRACTIONS:
        said = sounds(pronouncer.phonemes(f"They know {contraction} so.", accent))
        assert "ɛntˈi" not in said
        assert any(sound in vowels for sound in said)


def _tokens(pronouncer: Pronouncer, text: str, accent: str) -> Iterator[misaki.en.MToken]:
    spoken = " ".join(reading.spoken for reading in read(text, accent) if reading.spoken)
    yield from _english(pronouncer, accent)(spoken)[1]


def _english(pronouncer: Pronouncer, accent: str) -> misaki.en.G2P:
    from kokoro_voice.g2p import _English

    return _English(pronouncer._nlp, british=accent == "en-gb")


@pytest.fixture(scope="module")
def english(pronouncer: Pronouncer) -> dict[str, misaki.en.G2P]:
    return {accent: _english(pronouncer, accent) for accent in ACCENTS}


@given(
    text=st.text(
        alphabet=string.ascii_letters + string.digits + " .,:;!?'’\"“”-–—/$£€%&#@+=*()°²½",
        max_size=60,
    ),
    accent=st.sampled_from(ACCENTS),
)
@settings(max_examples=150, deadline=None)
def test_no_word_is_silent(english: dict[str, misaki.en.G2P], text: str, accent: str) -> None:
    spoken = " ".join(reading.spoken for reading in read(text, accent) if reading.spoken)
    silent = [
        token.text
        for token in english[accent](spoken)[1]
        if any(map(str.isalnum, token.text)) and not (token.phonemes or "").strip()
    ]
    assert not silent


@given(
    text=st.text(
        alphabet=string.ascii_letters + string.digits + " .,:;!?'’\"“”-–—/$£€%&#@+=*()°²½",
        max_size=60,
    ),
    accent=st.sampled_from(ACCENTS),
)
@settings(max_examples=300, deadline=None)
def test_numbers_become_words(text: str, accent: str) -> None:
    assert not any(char.isdecimal() for reading in read(text, accent) for char in reading.spoken)


@given(text=st.text(max_size=80), accent=st.sampled_from(ACCENTS))
@settings(max_examples=300, deadline=None)
def test_the_written_words_are_kept(text: str, accent: str) -> None:
    written = " ".join(reading.written for reading in read(text, accent))
    assert written.split() == text.split()


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "1,",
        "1.",
        "1-",
        "1 ",
        "A.",
        "a-",
        "$1",
        "'",
        "(",
        "<b",
        "/a",
        "1/",
        "I ",
        "St. ",
        "a@",
        "x1",
        "A1-",
        "__",
        "*",
        "1:",
        "http://",
        "#",
        "\u0661",
    ],
)
def test_reading_takes_linear_time(unit: str) -> None:
    times = []
    for count in (500, 4000):
        text = (unit * count)[:count]
        begin = time.perf_counter()
        read(text, "en-us")
        times.append(time.perf_counter() - begin)
    assert times[1] < 40 * max(times[0], 0.002)


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("May I sit? I am 5.", "May I sit? I am five."),
        ("We sold 5 in 10 minutes.", "We sold five in ten minutes."),
        ("A man and a plan.", "A man and a plan."),
        ("Come in. 4 are free.", "Come in. four are free."),
        ("The march in May was long.", "The march in May was long."),
        ("I can march, or I may not.", "I can march, or I may not."),
        ("He sat in the sun.", "He sat in the sun."),
        ("Will you mark the no. of seats?", "Will you mark the no. of seats?"),
        ("It's the students' best.", "It's the students' best."),
    ],
)
def test_nothing_is_read_into_plain_words(text: str, spoken: str) -> None:
    assert " ".join(reading.spoken for reading in read(text, "en-us")) == spoken
