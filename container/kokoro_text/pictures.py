"""Emoji: signs without a sound, which are dropped, or read by their names on request."""

from functools import cache

import regex

# Hearts stay, because a language may have a word for them: "I ❤ New York".
# The signs © ® ™ ‼ ⁉ Ⓜ and keycap digits count as pictographs in Unicode but are read as text.
_PICTURES = regex.compile(
    r"[\p{Extended_Pictographic}--[©®™‼⁉Ⓜ❤♥]]|[\p{Emoji_Modifier}\p{Regional_Indicator}]"
    r"|[\uFE0E\uFE0F\u200D\u20E3\U000E0020-\U000E007F]",
    regex.VERSION1,
)
# The languages of the emoji package, by the voices' languages. Hindi is not among them.
_NAMED_IN = {
    "en-us": "en",
    "en-gb": "en",
    "es": "es",
    "fr-fr": "fr",
    "it": "it",
    "pt-br": "pt",
    "ja": "ja",
    "cmn": "zh",
}


def without_pictures(text: str) -> str:
    """Return `text` without emoji and their modifiers, except for hearts."""
    return str(_PICTURES.sub("", text))


def is_heart(word: str) -> bool:
    """Whether `word` is nothing but one of the hearts for which a language may have a word."""
    return without_pictures(word) in ("❤", "♥")


def names_of_pictures(text: str, language: str) -> str:
    """Return the names of the emoji in `text`, such as `red heart`, separated by commas.

    The names are Unicode's short names (CLDR). In a language that has none here, they are English
    and marked as such.

    Args:
        text: Any text.
        language: The language of the names.
    """
    if text.isascii():
        return ""
    named_in = _NAMED_IN.get(language, "en")
    names = ", ".join(_name(found["emoji"], named_in) for found in _emoji().emoji_list(text))
    return names if language in _NAMED_IN or not names else f"[{names}](en-us)"


def _name(picture: str, language: str) -> str:
    name = _emoji().demojize(picture, language=language, delimiters=("", ""))
    return str(regex.sub(r"[_\W]+", " ", name)).strip()


@cache
def _emoji():  # type: ignore[no-untyped-def]
    import emoji  # Its tables take time to load and are seldom needed.

    return emoji
