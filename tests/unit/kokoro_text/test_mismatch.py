"""The warning about a text in another language than the voice's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kokoro_text.mismatch import mismatch
from kokoro_voice.languages import LANGUAGES


@pytest.mark.parametrize(
    ("text", "language", "mentions"),
    [
        ("Привет, как дела?", "en-us", ["English", "Cyrillic"]),
        ("你好，世界。", "fr-fr", ["French", "Chinese"]),
        ("नमस्ते दुनिया", "es", ["Spanish", "Devanagari"]),
        ("The boats leave the bay.", "hi", ["Hindi", "Latin"]),
        ("Bonjour, vous êtes dans le train avec nous.", "en-us", ["English", "French"]),
        ("Los barcos y las casas del puerto están muy lejos.", "en-gb", ["Spanish"]),
        ("The boats are in the bay with you.", "es", ["Spanish", "English"]),
        ("Você não está aqui, e eu também não.", "en-us", ["Portuguese"]),
    ],
)
def test_another_language_is_named(text: str, language: str, mentions: list[str]) -> None:
    """Guards against a voice that babbles, and nobody knows why."""
    warning = mismatch(text, language)
    assert warning is not None
    assert all(word in warning for word in mentions)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Hello there.", "fr-fr"),  # too short to tell
        ("La la la la.", "en-us"),
        ("Do it. Do it now. Do it again.", "it"),
        ("Los Angeles and Las Vegas y Las Cruces are there.", "en-us"),
        ("The word is привет.", "en-us"),
        ("नमस्ते, this is दुनिया का गीत", "hi"),
        ("123 – 456 €", "en-us"),
        ("Café, déjà vu, fiancé.", "en-us"),
        ("", "hi"),
    ],
)
def test_doubt_is_no_warning(text: str, language: str) -> None:
    """Guards against a warning with every other text, which nobody reads any more."""
    assert mismatch(text, language) is None


@given(st.text(), st.sampled_from(sorted(set(LANGUAGES.values()))))
def test_any_text_has_an_answer(text: str, language: str) -> None:
    """Guards against a request that fails because of its warning."""
    mismatch(text, language)
