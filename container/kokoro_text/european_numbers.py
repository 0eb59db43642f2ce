"""Numbers in words: cardinal, ordinal, decimal and digit by digit."""

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import regex
from babel import Locale
from num2words import num2words

from kokoro_text.european_language import Language

NUMBER = (
    r"(?:\d{1,3}(?:\.\d{3}){1,9}+|\d{1,3}(?: \d{3}){1,9}+|\d{1,3}(?:,\d{3}){1,9}+(?=\.\d)"
    r"|\d{1,3}(?:,\d{3}){2,9}+|\d++)(?:[.,]\d++)?+(?!\d)"
)
"""A pattern of numbers with groups of three digits or without, and with decimals or without."""

NUMBER_START = r"(?<!\d)(?<!\d[.,])"
"""A pattern of the place where a number may begin."""

_LONGEST = 15
"""Integers with more digits are read digit by digit."""

_NEXT_WORD = regex.compile(
    r"(?: ?(?:[-–/]|\p{Ll}{1,2}(?= )) ?\d{1,3}(?:[ .]\d{3})?(?![\d.,]))?"
    r"(?<mil> ?mil(?= \p{Ll}))? ?(?<noun>\p{Ll}[\p{Ll}²³]*)"
)


@dataclass(frozen=True)
class Number:
    """A number as it was written.

    Attributes:
        whole: The digits of its integer part, without separators.
        fraction: The digits after the decimal mark; may be empty.
        mark: The decimal mark, `,` or `.`; empty if there is none.
        grouped: Whether the integer part was written in groups.
    """

    whole: str
    fraction: str = ""
    mark: str = ""
    grouped: bool = False

    @property
    def value(self) -> Decimal:
        """The number's value."""
        return Decimal(f"{self.whole}.{self.fraction}" if self.fraction else self.whole)


def parse(text: str, comma_groups: bool = False) -> Number:
    """Return the number that `text` is, which must match `NUMBER`.

    Args:
        text: A number. A point followed by three digits separates groups; a comma does so if
            there are several, or a point after it.
        comma_groups: Whether a comma followed by three digits also separates groups.
    """
    compact = text.replace(" ", "")
    marks = [char for char in compact if char in ",."]
    digits = compact.replace(",", "").replace(".", "")
    if not marks:
        return Number(digits, grouped=" " in text)
    whole, mark, fraction = compact.rpartition(marks[-1])
    groups = len(fraction) == 3 and len(whole) <= 3 and whole.lstrip("0") != ""
    if marks.count(marks[-1]) > 1 or (
        len(marks) == 1 and groups and (mark == "." or comma_groups) and " " not in text
    ):
        return Number(digits, grouped=True)
    return Number(
        whole.replace(",", "").replace(".", ""), fraction, mark, len(marks) > 1 or " " in text
    )


@lru_cache(4096)
def cardinal(language: Language, value: int) -> str:
    """Return the words for an integer from 0 to 10 ** 15 - 1."""
    words: str = num2words(value, lang=language.locale)
    return language.tidy(words)


def digits(language: Language, text: str) -> str:
    """Return the words for the digits in `text`, one by one."""
    return " ".join(cardinal(language, int(char)) for char in text if char.isdecimal())


def integer(language: Language, text: str, noun: str = "") -> str:
    """Return the words for the digits of an integer, in the form before `noun`, if any.

    Integers that begin with 0, and very long ones, are read digit by digit.
    """
    if len(text) > _LONGEST or (len(text) > 1 and text[0] == "0"):
        return digits(language, text)
    words = cardinal(language, int(text))
    return language.agree(words, noun) if noun else words


def decimal(language: Language, number: Number, noun: str = "") -> str:
    """Return the words for `number`, in the form before `noun`, if any."""
    if not number.fraction:
        return integer(language, number.whole, noun)
    mark = language.comma if number.mark == "," else language.point
    return f"{integer(language, number.whole)} {mark} {_decimals(language, number.fraction)}"


def _decimals(language: Language, text: str) -> str:
    value = text.lstrip("0")
    if len(value) > 2:
        return digits(language, text)
    zeros = digits(language, text[: len(text) - len(value)])
    return f"{zeros} {integer(language, value)}".strip() if value else zeros


def is_plural(language: Language, number: Number) -> bool:
    """Whether a noun that `number` counts is in the plural."""
    if len(number.whole) > _LONGEST:
        return True
    return bool(_locale(language).plural_form(number.value) != "one")


def counted(language: Language, number: Number, nouns: tuple[str, str]) -> str:
    """Return the words for `number` and the noun that it counts.

    Args:
        language: The language.
        number: The number.
        nouns: Singular and plural of the noun.
    """
    noun = nouns[is_plural(language, number)]
    words = decimal(language, number, noun.split()[0])
    if not number.fraction and number.whole.endswith("000000") and number.whole[0] != "0":
        noun = language.of(noun)
    return f"{words} {noun}"


def noun_after(language: Language, match: "regex.Match[str]") -> str:
    """Return the noun that the number of `match` may count, or an empty string.

    In a range, as in `2-3 horas`, it is the noun after the range, and in `2 mil horas` that after
    the thousand.
    """
    after = _NEXT_WORD.match(match.string, match.end(), match.end() + 80)
    if after is None:
        return ""
    if after["noun"] in language.not_nouns:
        return "mil" if after["mil"] else ""
    noun: str = after["noun"]
    return noun


def word_before(match: "regex.Match[str]") -> str:
    """Return the word before `match`, in lower case and without punctuation before it."""
    before = match.string[max(0, match.start() - 40) : match.start()].split()
    return before[-1].lower().strip("([\"“'") if before else ""


@lru_cache
def _locale(language: Language) -> Locale:
    return Locale.parse(language.locale)
