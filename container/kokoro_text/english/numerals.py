"""Numbers, years, digits and letters in English words."""

from dataclasses import dataclass
from functools import lru_cache

import regex
from num2words import num2words

_LONGEST = 15
"""Whole numbers with more digits are said digit by digit."""


def word_set(words: str) -> frozenset[str]:
    """Return the words of a string, as a set."""
    return frozenset(words.split())


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_RUN = regex.compile(r"\d+|\p{L}+")
_UNSAYABLE = regex.compile(r"(?i)[^aeiouy]*|.{0,2}|.*[^aeiouy]{5,}.*|[^aeiouy]{3}.{0,2}")
_SHORT_WORDS = word_set("my to of in on at by go is it we me no up do or so an as be he if am ok")
_NAMES_OF_LETTERS = word_set(
    "abc xyz utf sha usb api url faq ide aws ssl ios cpu gpu iso isbn img ide otp uid usr etl gui"
)


@lru_cache(maxsize=4096)
def _in_words(number: int, kind: str) -> str:
    words: str = num2words(number, to=kind)
    return words.replace(",", "")


@dataclass(frozen=True)
class Numerals:
    """Numbers as they are said in an accent.

    Attributes:
        british: Whether to say "one hundred and five" instead of "one hundred five", and to put
            the day before the month.
    """

    british: bool

    @property
    def locale(self) -> str:
        """The name of the locale in CLDR."""
        return "en_GB" if self.british else "en_US"

    def _said(self, number: int, kind: str) -> str:
        words = _in_words(number, kind)
        return words if self.british else words.replace(" and ", " ")

    def cardinal(self, number: int) -> str:
        """Return for example `one hundred and five`."""
        return self._said(number, "cardinal")

    def ordinal(self, number: int) -> str:
        """Return for example `twenty-first`."""
        return self._said(number, "ordinal")

    def number(self, written: str) -> str:
        """Return a number such as `1,234.5`, `.5` or `007` in words."""
        whole, point, decimals = written.replace(",", "").replace(" ", "").partition(".")
        said = ""
        if whole:
            plain = len(whole) <= _LONGEST and (whole == "0" or whole[0] != "0")
            plain = plain or (whole.strip("0") == "" and len(whole) == 1)
            said = self.cardinal(int(whole)) if plain else digits(whole)
        return f"{said} point {digits(decimals)}".strip() if point and decimals else said

    def pairs(self, written: str) -> str:
        """Return the digits of a house number or room: `fourteen twenty-eight`, `two oh one`."""
        if len(written) > 4 or written[0] == "0":
            return digits(written, "oh")
        if len(written) < 3 or written.endswith("000"):
            return self.cardinal(int(written))
        first, last = int(written[:-2]), int(written[-2:])
        if last == 0:
            return f"{self.cardinal(first)} hundred"
        return f"{self.cardinal(first)} {'oh ' if last < 10 else ''}{self.cardinal(last)}"

    def year(self, written: str) -> str:
        """Return a year in words, for example `nineteen oh five`."""
        if len(written) == 4 and written.startswith("200"):
            return self.cardinal(int(written))
        return self.pairs(written)

    def code(self, written: str) -> str:
        """Return a code such as `A17` in words: letters, numbers up to 99, and other digits."""
        return " ".join(
            self._digits_of_code(run) if run.isdecimal() else letters_or_word(run)
            for run in _RUN.findall(written)
        )

    def _digits_of_code(self, run: str) -> str:
        if len(run) <= 2 and run[0] != "0":
            return self.cardinal(int(run))
        return digits(run)


def plural(words: str) -> str:
    """Return number words with a plural ending, as in `twenties` or `sixes`."""
    if words.endswith("y"):
        return f"{words[:-1]}ies"
    return f"{words}es" if words.endswith(("x", "ss")) else f"{words}s"


def digits(written: str, zero: str = "zero") -> str:
    """Return the digits in `written` one by one, and nothing for other characters."""
    values = [int(char) for char in written if char.isdecimal()]
    return " ".join(_DIGITS[value] if value else zero for value in values)


def letters(word: str) -> str:
    """Return the letters of `word`, said one by one.

    A letter on its own is said as its name, except `A`, which is taken for the article.
    """
    return " ".join(
        "[A](/ˈA/)" if letter == "A" else letter for letter in word.upper() if letter.isalpha()
    )


def letters_or_word(word: str) -> str:
    """Return a part of a code or name: a word if it can be one, otherwise its letters."""
    if not word.isascii():
        return word
    if word in _SHORT_WORDS:
        return word
    if (word.isupper() and len(word) < 6) or word.lower() in _NAMES_OF_LETTERS:
        return letters(word)
    return letters(word) if _UNSAYABLE.fullmatch(word) else word


def plural_letters(word: str) -> str:
    """Return letters with a plural ending, as in `APIs`."""
    *first, last = letters(word).split()
    return " ".join([*first, "A's" if last.startswith("[") else f"{last}'s"])


def and_list(items: list[str]) -> str:
    """Return `items` with commas, and `and` before the last."""
    return " and ".join(([", ".join(items[:-1])] if items[:-1] else []) + items[-1:])
