"""One form for each sign: Unicode has many apostrophes, dashes, blanks and digits."""

import unicodedata

import regex

from kokoro_text.pictures import without_pictures

_SIGNS = str.maketrans(
    dict.fromkeys("’‘ʼʻ‛＇`´ʹ′‵ꞌ՚", "'")
    | dict.fromkeys("‐‑﹣－⁃", "-")
    | dict.fromkeys("−➖", "-")
    | dict.fromkeys("‒", "–")
    | dict.fromkeys("―⸺⸻﹘", "—")
    | dict.fromkeys("«„‟", "“")
    | dict.fromkeys("»", "”")
    | dict.fromkeys("″＂", '"')
    | {"⁄": "/", "∕": "/", "…": "…"}
)
# Without a meaning for the ear: control and format characters (among them soft hyphens, joiners
# and byte order marks), unassigned and private characters, and variation selectors.
_SILENT = regex.compile(r"[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\uFE00-\uFE0F\U000E0100-\U000E01EF]+")
# Compatibility characters that NFKC would turn into another number or word.
_KEPT = regex.compile(r"[\p{No}ªº…™℠]")


def canonical(word: str) -> str:
    """Return `word` with one form for each sign, and without signs that are not for the ear.

    Args:
        word: A word without white space.

    Returns:
        Letters are composed (NFC), full-width and other compatibility forms are replaced (NFKC),
        decimal digits are `0` to `9`, apostrophes are `'`, double quotation marks keep their
        direction or are `"`, hyphens and minus signs are `-`. Emoji except for
        hearts are dropped. May be empty.
    """
    word = unicodedata.normalize("NFC", without_pictures(word)).translate(_SIGNS)
    word = "".join(map(_plain, word))
    audible: str = _SILENT.sub("", unicodedata.normalize("NFC", word.translate(_SIGNS)))
    return audible


def _plain(char: str) -> str:
    if char.isascii() or _KEPT.match(char):
        return char
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    return "".join(unicodedata.normalize("NFKC", char).split())
