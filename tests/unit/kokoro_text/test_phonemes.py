"""Kokoro's alphabet, and its differences from the International Phonetic Alphabet."""

import json
from pathlib import Path

import pytest

from kokoro_text.phonemes import ALPHABET, from_ipa, unknown_phonemes


def test_the_alphabet_is_the_models(model_dir: Path) -> None:
    """Guards against phonemes that are accepted and then left out."""
    assert set(json.loads((model_dir / "vocab.json").read_text())) == ALPHABET


@pytest.mark.parametrize(
    ("language", "ipa", "phonemes"),
    [
        ("en-us", "təˈmeɪ.toʊ", "təˈmAtO"),
        ("en-us", "t͡ʃɜːrt͡ʃ", "ʧɜɹʧ"),
        ("en-us", "ˈwɔːtɚ", "ˈwɔtəɹ"),
        ("en-gb", "ɡəʊ", "ɡQ"),
        ("en-gb", "ˈwɔːtə", "ˈwɔːtə"),
        ("en-gb", "bed", "bɛd"),
        ("fr-fr", "bɔ̃ʒuʁ", "bɔ̃ʒuʁ"),
        ("pt-br", "ˈmãɪ̃", "ˈmãɪ̃"),
        ("es", "ˈpero", "ˈpero"),
        ("es", "ˈkaʝe", "ˈkaʝe"),
    ],
)
def test_a_dictionarys_transcription_is_understood(language: str, ipa: str, phonemes: str) -> None:
    """Guards against sounds of a dictionary that the model does not have."""
    assert from_ipa(ipa, language) == phonemes.replace("ã", "a\u0303")
    assert unknown_phonemes(from_ipa(ipa, language)) == []
