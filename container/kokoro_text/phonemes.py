"""Kokoro's alphabet of phonemes, and its differences from the International Phonetic Alphabet."""

import unicodedata

import regex

ALPHABET = frozenset(
    ';:,.!?—…"()“” \u0303ʣʥʦʨᵝꭧAIOQSTWYᵊabcdefhijklmnopqrstuvwxyzɑɐɒæβɔɕçɖðʤəɚɛɜɟɡɥɨɪʝɯɰŋɳɲɴøɸθœ'
    "ɹɾɻʁɽʂʃʈʧʊʋʌɣɤχʎʒʔˈˌːʰʲ↓→↗↘ᵻ"
)
"""The phonemes that the model knows: the keys of its `vocab.json`."""

# The model has one sign for each of these. Longer ones come first.
_COMMON = {"tʃ": "ʧ", "dʒ": "ʤ", "ts": "ʦ", "dz": "ʣ", "tɕ": "ʨ", "dʑ": "ʥ", "g": "ɡ", "'": "ˈ"}
_DIPHTHONGS = {"eɪ": "A", "aɪ": "I", "ɔɪ": "Y", "aʊ": "W"}
_ENGLISH = _DIPHTHONGS | {"r": "ɹ", "ɝː": "ɜɹ", "ɝ": "ɜɹ", "ɚ": "əɹ", "ɫ": "l"}
_AMERICAN = _ENGLISH | {
    "oʊ": "O", "əʊ": "O", "ɜːr": "ɜɹ", "ɜːɹ": "ɜɹ", "ɜː": "ɜɹ", "e": "ɛ", "ɾ": "T", "ː": "",
}  # fmt: skip
_BRITISH = _ENGLISH | {"əʊ": "Q", "oʊ": "Q", "eə": "ɛː", "e": "ɛ"}
_BY_LANGUAGE = {"en-us": _AMERICAN, "en-gb": _BRITISH}
# Ties, the limits of syllables, and the marks below a letter that say it is (not) syllabic.
_DROPPED = regex.compile("[\u0361\u035c\u0329\u032f.‿]")


def unknown_phonemes(phonemes: str) -> list[str]:
    """Return the characters that the model does not know, each once and in order."""
    return [char for char in dict.fromkeys(phonemes) if char not in ALPHABET]


def from_ipa(ipa: str, language: str) -> str:
    """Return phonemes in Kokoro's alphabet.

    Args:
        ipa: Phonemes in the International Phonetic Alphabet, as in a dictionary.
        language: The language of the word, one of the values of
            `kokoro_voice.languages.LANGUAGES`.

    Returns:
        The phonemes. Signs that neither alphabet's difference explains are unchanged.
    """
    signs = _COMMON | _BY_LANGUAGE.get(language, {})
    longest_first = "|".join(map(regex.escape, sorted(signs, key=len, reverse=True)))
    phonemes = regex.sub(longest_first, lambda sign: signs[sign[0]], _DROPPED.sub("", ipa))
    return "".join(
        char if char in ALPHABET else unicodedata.normalize("NFD", char) for char in phonemes
    )
