"""What is heard of English text is what was written."""

import string
import time

import misaki.en
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_text.normalizer import read
from kokoro_voice.g2p import Pronouncer, _English
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
ALPHABET = string.ascii_letters + string.digits + " .,:;!?'’\"“”-–—/$£€%&#@+=*()°²½"
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


@pytest.mark.parametrize(
    "name", ["english_reported", "english_own", "english_more", "english_readers"]
)
def test_text_is_said_as_a_careful_reader_says_it(name: str, pronouncer: Pronouncer) -> None:
    wrong = [case.text for case in load(name) if not is_said_right(case, pronouncer.phonemes)]
    assert not wrong


@pytest.mark.parametrize("accent", ACCENTS)
def test_every_apostrophe_of_a_contraction_is_read_the_same(accent: str) -> None:
    """Equal words have equal phonemes, so this holds for what is heard too."""
    wrong = [
        text
        for contraction in CONTRACTIONS
        for frame in FRAMES
        for spoken in [_spoken(frame.format(contraction), accent)]
        for apostrophe in APOSTROPHES
        for text in [frame.format(contraction.replace("'", apostrophe))]
        if _spoken(text, accent) != spoken
    ]
    assert not wrong


@pytest.mark.parametrize("accent", ACCENTS)
def test_the_negation_is_heard_wherever_it_stands(accent: str, pronouncer: Pronouncer) -> None:
    """misaki's tagger depends on the words around, and takes some contractions for punctuation."""
    wrong = [
        frame.format(contraction)
        for contraction in CONTRACTIONS
        if contraction.endswith("n't")
        for frame in FRAMES
        if "nt"
        not in sounds(pronouncer.phonemes(frame.format(contraction.replace("'", "’")), accent))
    ]
    assert not wrong


def _spoken(text: str, accent: str) -> str:
    return " ".join(reading.spoken for reading in read(text, accent) if reading.spoken)


@pytest.fixture(scope="module")
def english(pronouncer: Pronouncer) -> dict[str, misaki.en.G2P]:
    return {accent: _English(pronouncer._nlp, british=accent == "en-gb") for accent in ACCENTS}


@given(
    text=st.text(
        alphabet=ALPHABET,
        max_size=60,
    ),
    accent=st.sampled_from(ACCENTS),
)
@settings(max_examples=150, deadline=None)
def test_no_word_is_silent(english: dict[str, misaki.en.G2P], text: str, accent: str) -> None:
    silent = [
        token.text
        for token in english[accent](_spoken(text, accent))[1]
        if any(map(str.isalnum, token.text)) and not (token.phonemes or "").strip()
    ]
    assert not silent


@given(
    text=st.text(
        alphabet=ALPHABET,
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


REPEATED = [
    "1", "1,", "1.", "1-", "1 ", "1/", "1:", "A.", "A1-", "a-", "a)", "a@", "x1", "I ", "St. ",
    "$1", "'", "(", "<b", "/a", "__", "*", "#", "<think>", "\u0661",
]  # fmt: skip


@pytest.mark.parametrize("unit", REPEATED)
def test_reading_takes_linear_time(unit: str) -> None:
    """Eight times the text takes about eight times as long; with a quadratic rule, 64 times."""
    seconds = []
    for length in (2000, 16000):
        text = (unit * length)[:length]
        begin = time.process_time()
        read(text, "en-us")
        seconds.append(time.process_time() - begin)
    assert seconds[1] < 30 * seconds[0]


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
