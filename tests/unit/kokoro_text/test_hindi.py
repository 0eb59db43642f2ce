"""Hindi: what is heard is what was written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_text.hindi_numbers import cardinal, number
from kokoro_text.normalizer import read
from kokoro_text.reading import words_of
from kokoro_voice.g2p import Pronouncer
from tests.said_right import is_said_right, load


def spoken(text: str) -> str:
    return " ".join(reading.spoken for reading in read(text, "hi"))


def test_every_case_is_said_right() -> None:
    """Guards against numbers, money, dates and signs that no reader would say so."""
    pronouncer = Pronouncer()
    cases = load("hi")
    wrong = [case.text for case in cases if not is_said_right(case, pronouncer.phonemes)]
    assert len(cases) > 40
    assert not wrong


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Rs. 500/- दें", "पाँच सौ रुपये दें"),
        ("डॉ॰ राम, रु० 45", "डॉक्टर राम, पैंतालीस रुपये"),
        ("₹500-₹700, ₹5L", "पाँच सौ से सात सौ रुपये, पाँच लाख रुपये"),
        ("£0.50 या ₹0.75", "पचास पेंस या पचहत्तर पैसे"),
        ("₹50/किलो", "पचास रुपये प्रति किलो"),
        ("12:45 बजे, 14:30 बजे", "पौने एक बजे, चौदह तीस बजे"),
        ("10:00-12:00 बजे", "दस से बारह बजे"),
        ("शाम 7:30 PM पर, 9 AM", "शाम साढ़े सात बजे, सुबह नौ बजे"),
        ("00/01/2024", "शून्य शून्य/शून्य एक/दो हज़ार चौबीस"),
        ("+91 98765 43210 पर", "प्लस नौ एक, नौ आठ सात छह पाँच, चार तीन दो एक शून्य पर"),
        ("15-20वीं बार, 1वीं, 4था", "पंद्रह-बीसवीं बार, पहली, चौथा"),
        ("भाग IV, हेनरी VIII", "भाग चार, हेनरी अष्टम"),
        ("5G, H1N1, MBA, NASA", "फ़ाइव जी, एच एक एन एक, एम बी ए, [NASA](en-us)"),
        ("ए.पी.जे. अब्दुल", "ए पी जे अब्दुल"),
        ("कि.मी. में", "किलोमीटर में"),
        ("COVID-19", "[COVID](en-us)-उन्नीस"),
        ("2½ कप, 1 1/2 कप, 5/8", "ढाई कप, डेढ़ कप, पाँच बटा आठ"),
        ("info@example.com", "[info](en-us) ऐट [example](en-us) डॉट [com](en-us)"),
        ("क्या? हाँ। ठीक॥", "क्या? हाँ. ठीक."),
        ("वह 2 मिली", "वह दो मिली"),
        ("3-2 से हराया, 1-1 से बराबर", "तीन दो से हराया, एक एक से बराबर"),
        ("लुई XIV ने", "लुई चौदहवें ने"),
        ("10K, 4K, #भारत", "दस हज़ार, चार के, हैशटैग भारत"),
    ],
)
def test_written_forms_are_read_in_words(text: str, said: str) -> None:
    """Guards against forms that the cases do not cover."""
    assert " ".join(spoken(text).split()) == said


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "शून्य"),
        (100, "एक सौ"),
        (101_000, "एक लाख एक हज़ार"),
        (10**7, "एक करोड़"),
        (1_40_00_00_000, "एक अरब चालीस करोड़"),
        (10**12 + 1, "दस खरब एक"),
    ],
)
def test_numbers_are_grouped_by_lakh_and_crore(value: int, words: str) -> None:
    """Guards against Western thousands, and scales without a number."""
    assert cardinal(value) == words


def test_long_numbers_and_codes_are_read_digit_by_digit() -> None:
    """Guards against an exception for a number without a name, and against lost zeros."""
    assert number("9" * 14) == " ".join(["नौ"] * 14)
    assert number("007") == "शून्य शून्य सात"
    assert number("1,000.50") == "एक हज़ार दशमलव पाँच शून्य"


@settings(max_examples=400, deadline=None)
@given(st.text(alphabet="0123456789१२,.:/-–%+₹$ बजेवींरु.कि.मी.AMkgIVX।½@°", max_size=80))
def test_any_mixture_is_read_without_digits(text: str) -> None:
    """Guards against exceptions, digits that are left to espeak, and lost words."""
    readings = read(text, "hi")
    assert " ".join(reading.written for reading in readings) == " ".join(words_of(text))
    assert not any(char.isdigit() for reading in readings for char in reading.spoken)
