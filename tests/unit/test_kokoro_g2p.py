"""Pronunciation by the real misaki and espeak-ng."""

import pytest

from kokoro_server.g2p import Pronouncer
from kokoro_server.voices import LANGUAGES


@pytest.fixture(scope="module")
def pronouncer() -> Pronouncer:
    return Pronouncer()


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("Hello there.", "həlˈO ðˈɛɹ."),
        ("$5.30", "fˈIv dˈɑləɹz ænd θˈɜɹTi sˈɛnts"),
        ("[Kokoro](/kˈOkəɹO/) speaks.", "kˈOkəɹO spˈiks."),
        ("...", "..."),
    ],
)
def test_english_is_pronounced_as_kokoro_was_trained(
    pronouncer: Pronouncer, text: str, phonemes: str
) -> None:
    """Guards against falling back to espeak's alphabet for everything."""
    assert pronouncer.phonemes(text, "en-us") == phonemes


def test_words_in_no_dictionary_are_pronounced_too(pronouncer: Pronouncer) -> None:
    """Guards against silence in place of unknown words: espeak-ng is behind misaki."""
    assert pronouncer.phonemes("Zyxqwv.", "en-us") != "."


def test_british_and_american_differ(pronouncer: Pronouncer) -> None:
    """Guards against one accent for all English voices."""
    assert pronouncer.phonemes("tomato", "en-gb") != pronouncer.phonemes("tomato", "en-us")


@pytest.mark.parametrize("language", sorted(set(LANGUAGES.values())))
def test_every_served_language_is_there(pronouncer: Pronouncer, language: str) -> None:
    """Guards against a voice whose language espeak does not know by that name."""
    assert len(pronouncer.phonemes("banana", language)) > 4
