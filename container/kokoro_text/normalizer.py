"""Text normalization: each written word, and the words that a voice says for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import regex

from kokoro_text import (
    english,
    french,
    hindi,
    italian,
    japanese,
    mandarin,
    portuguese,
    spanish,
)
from kokoro_text.characters import canonical
from kokoro_text.lexicon import Lexicon
from kokoro_text.pictures import is_heart, names_of_pictures
from kokoro_text.reading import LINK, Reading, Rewriter, characters_of, spoken_text, words_of
from kokoro_text.scripts import is_japanese, readable

Rules = Callable[[Rewriter, str], None]
"""Applies the rules of a language. The second argument is the language, for example `en-gb`."""

_RULES: Mapping[str, Rules] = {
    "en-us": english.rules,
    "en-gb": english.rules,
    "es": spanish.rules,
    "fr-fr": french.rules,
    "hi": hindi.rules,
    "it": italian.rules,
    "pt-br": portuguese.rules,
    "ja": japanese.rules,
    "cmn": mandarin.rules,
}

UNSPACED = frozenset({"ja", "cmn"})
"""The languages that are written without blanks between words."""


_SHORT = regex.compile(r"[\d\p{S}%&@#/]")
"""Signs that are said as a word of about `_WORD_CHARS` letters."""
_WORD_CHARS = 5


def spoken_chars(text: str) -> int:
    """Estimate the number of characters of the words that are said for `text`, in linear time.

    The duration of speech, and so its cost, depends on this number: "25%" is as long as "twenty".
    """
    return len(text) + (_WORD_CHARS - 1) * len(_SHORT.findall(text))


def read(
    text: str, language: str, lexicons: Sequence[Lexicon] = (), *, name_pictures: bool = False
) -> list[Reading]:
    """Return how the words of `text` are read in `language`.

    Respellings in the text come first, then the lexicons in their order, then the language's rules.

    Args:
        text: One sentence.
        language: The voice's language, one of the values of `kokoro_voice.languages.LANGUAGES`.
        lexicons: Pronunciations of words.
        name_pictures: Whether the names of emoji are said. By default, emoji are silent.

    Returns:
        The readings in order. Their `written` words, each with its `after`, are the words of
        `text`. In Japanese and Mandarin, a character is a word.
    """
    is_unspaced = language in UNSPACED
    words, after = characters_of(text, language) if is_unspaced else (words_of(text), None)
    # A full-width comma separates clauses, never the digits of a number.
    kept = {"，"} if is_unspaced else set[str]()
    forms = [word if word in kept or LINK.search(word) else canonical(word) for word in words]
    rewriter = Rewriter(words, forms, after)
    rewriter.respell(lambda respelling: _said(respelling, language))
    for lexicon in lexicons:
        lexicon.apply(rewriter, language, lambda respelling: _said(respelling, language))
    if (rules := _RULES.get(language)) is not None:
        rules(rewriter, language)
    japanese = is_japanese(text)
    readings = [
        replace(reading, spoken=readable(reading.spoken, language, japanese=japanese))
        for reading in rewriter.readings()
    ]
    return [_with_names(reading, language) for reading in readings] if name_pictures else readings


def _with_names(reading: Reading, language: str) -> Reading:
    """Return a reading that ends with the names of the emoji in the written words.

    A heart that the rules of the language read, as in "I ❤ it", is not named.
    """
    names = names_of_pictures(reading.written, language)
    if not names or (reading.spoken and is_heart(reading.written)):
        return reading
    # Before the punctuation at the end.
    end = len(reading.spoken.rstrip(".,;:!?…"))
    spoken = f"{reading.spoken[:end]} {names}{reading.spoken[end:]}"
    return replace(reading, spoken=spoken.strip())


def _said(respelling: str, language: str) -> str:
    return spoken_text(read(respelling, language))
