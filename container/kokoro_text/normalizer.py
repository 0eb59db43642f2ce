"""Reads text aloud on paper: each written word, and the words that a voice says for it."""

from collections.abc import Callable, Mapping

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
from kokoro_text.reading import LINK, Reading, Rewriter, characters_of, words_of

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


def read(text: str, language: str) -> list[Reading]:
    """Return how the words of `text` are read in `language`.

    Args:
        text: One sentence.
        language: The voice's language, one of the values of `kokoro_voice.languages.LANGUAGES`.

    Returns:
        The readings in order. Their `written` words, each with its `after`, are the words of
        `text`. In Japanese and Mandarin, a character is a word.
    """
    words, after = characters_of(text) if language in UNSPACED else (words_of(text), None)
    forms = [word if LINK.search(word) or word == "，" else canonical(word) for word in words]
    rewriter = Rewriter(words, forms, after)
    if (rules := _RULES.get(language)) is not None:
        rules(rewriter, language)
    return rewriter.readings()
