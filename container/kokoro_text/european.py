"""The rules that Spanish, French, Italian and Portuguese share, and their order."""

from functools import cache
from unicodedata import normalize

import regex

from kokoro_text.european_codes import (
    acronyms,
    addresses,
    mixed_codes,
    ordinals,
    phones_and_codes,
    roman,
    versions,
)
from kokoro_text.european_language import Language
from kokoro_text.european_numbers import (
    NUMBER,
    NUMBER_START,
    Number,
    cardinal,
    decimal,
    noun_after,
    parse,
    word_before,
)
from kokoro_text.european_quantities import (
    degrees,
    fractions,
    money,
    percentages,
    scales,
    unit_noun,
    units,
)
from kokoro_text.european_times import dates, times
from kokoro_text.reading import Rewriter

_MINUS = regex.compile(r"(?<![^\s(“\"'])(?<said>[-–])(?=(?:[A-Z]{0,2}[$€£] ?)?\d)")
_RANGE = regex.compile(r"(?<=[\d%€hCº°]) ?(?<said>[-–]) ?(?=[$€£]?\d)")
_EQUATION = regex.compile(r"(?<!\d)\d[\d.,]{0,20}(?: [-+×*:÷/x] \d[\d.,]{0,20}){1,6} = [-\d?x]")
_OPERATOR = regex.compile(r" (?<sign>[-:/x*]) ")
_SIGN = regex.compile(r"(?<=[\p{L}\d)%²]|^|\s)(?<sign>[×=<>≤≥÷±≈&+√→²³^§])")
_DEGREES = regex.compile(rf"{NUMBER_START}(?<number>{NUMBER}) ?[°º](?![\p{{L}}\d])")
_CARDINAL = regex.compile(rf"{NUMBER_START}{NUMBER}")
_OVER = regex.compile(r"(?<=[\dhj])/(?=\d)")
_RATIO = regex.compile(r"(?<=\d):(?=\d)")
_SUBSCRIPT = regex.compile(r"[₀-₉]")
_EITHER = regex.compile(r"(?<=\p{Ll})/(?=\p{Ll})")
_BY = regex.compile(r"(?<=\d|[cm]m|\d m) ?(?<said>[x×*]) ?(?=\d)")
_TIMES = regex.compile(r"(?<=\d)[xX](?![\p{L}\d])")
_APOSTROPHE_YEAR = regex.compile(r"(?<![^\s(])'(?=\d{2,3}(?!\d))")
_SILENT = regex.compile(
    r"(?:[*•|`~_]|[\p{Extended_Pictographic}--[\d#*©®™]]|\p{Emoji_Modifier}|[:;]-?[)(D](?!\w)|[©®™])+",
    regex.VERSION1,
)
_NUMBER_SIGN = regex.compile(r"#(?=\d)")
_HASHTAG = regex.compile(r"(?<![\p{L}\d])[#@](?=\p{L})")


def apply(rewriter: Rewriter, language: Language) -> None:
    """Apply all rules to the text of `rewriter`, the most specific first.

    A number is read as the first of these that it can be: a part of an address, a date, a time of
    day, money, a telephone number or code, a version, a measurement, a percentage, an ordinal
    number, a fraction, or a plain number.
    """
    addresses(rewriter, language)
    _abbreviations(rewriter, language)
    dates(rewriter, language)
    times(rewriter, language)
    _calculations(rewriter, language)
    rewriter.rule(_MINUS, lambda match: language.minus)
    money(rewriter, language)
    mixed_codes(rewriter, language)
    phones_and_codes(rewriter, language)
    versions(rewriter, language)
    fractions(rewriter, language)
    units(rewriter, language)
    percentages(rewriter, language)
    ordinals(rewriter, language)
    rewriter.rule(_DEGREES, lambda match: _degrees(language, match))
    roman(rewriter, language)
    scales(rewriter, language)
    _numbers(rewriter, language)
    acronyms(rewriter, language)
    _signs(rewriter, language)


def _abbreviations(rewriter: Rewriter, language: Language) -> None:
    for pattern, words in _abbreviation_patterns(language):

        def say(match: "regex.Match[str]", words: str = words) -> str:
            ends_text = match[0].endswith(".") and match.end() == len(match.string)
            return f"{words}." if ends_text else words

        rewriter.rule(pattern, say)


@cache
def _abbreviation_patterns(language: Language) -> "tuple[tuple[regex.Pattern[str], str], ...]":
    return tuple(
        (regex.compile(rf"(?<![\p{{L}}\d.])(?:{pattern})"), words)
        for pattern, words in language.abbreviations.items()
    )


def _calculations(rewriter: Rewriter, language: Language) -> None:
    """Read the signs of calculations that mean something else elsewhere, as in `12 : 4 = 3`."""
    spans = [match.span() for match in _EQUATION.finditer(rewriter.text)]

    def say(match: "regex.Match[str]") -> str | None:
        if not any(start <= match.start() < end for start, end in spans):
            return None
        return f" {language.signs[f'{match["sign"]}=']} "

    rewriter.rule(_OPERATOR, say)


def _numbers(rewriter: Rewriter, language: Language) -> None:
    def between(match: "regex.Match[str]") -> str:
        return f" {language.range} "

    def say(match: "regex.Match[str]") -> str:
        number = parse(match[0])
        noun = unit_noun(language, noun_after(language, match))
        noun = _counted(language, match, number, noun)
        start = _range_start(language, match, int(number.whole[:20]))
        return start + decimal(language, number, "" if start else noun)

    rewriter.rule(_RANGE, between)
    rewriter.rule(_OVER, lambda match: f" {language.over} ")
    rewriter.rule(_RATIO, lambda match: " ")
    rewriter.rule(_SUBSCRIPT, lambda match: cardinal(language, int(normalize("NFKC", match[0]))))
    rewriter.rule(_BY, lambda match: f" {language.signs['×']} ")
    rewriter.rule(_TIMES, lambda match: f" {language.signs['x']} ")
    rewriter.rule(
        _compiled(rf"{NUMBER_START}1(?= (?:{language.partitive}))"), lambda m: _one(language, m)
    )
    rewriter.rule(_APOSTROPHE_YEAR, lambda match: "")
    rewriter.rule(_NUMBER_SIGN, lambda match: f"{language.number_sign} ")
    rewriter.rule(_CARDINAL, say)


def _one(language: Language, match: "regex.Match[str]") -> str | None:
    """Return the one in `1 de cada 3 mujeres`, in the gender of the noun."""
    after = regex.compile(rf" (?:{language.partitive}) (?:\d{{1,9}} )?(\p{{Ll}}+)").match(
        match.string, match.end(), match.end() + 80
    )
    if after is None:
        return None
    return language.agree(cardinal(language, 1), after[1])


def _counted(language: Language, match: "regex.Match[str]", number: Number, noun: str) -> str:
    """Return `noun`, or nothing if the number does not count it."""
    label = word_before(match)
    is_year = len(number.whole) == 4 and not number.grouped and label in language.before_years
    if not noun or is_year or label.rstrip(".") in language.labels:
        return ""
    if number.whole != "1" and noun[-1] not in language.plural_ends:
        return ""
    return noun


def _range_start(language: Language, match: "regex.Match[str]", low: int) -> str:
    """Return the word before the number if it begins a range, as in `da 3 a 5 giorni`."""
    if not language.range_start:
        return ""
    high = regex.compile(r" ?[-–] ?(\d{1,9})(?!\d)").match(match.string, match.end())
    is_range = high is not None and low < int(high[1])
    has_preposition = word_before(match) in language.not_nouns
    return f"{language.range_start} " if is_range and not has_preposition else ""


def _degrees(language: Language, match: "regex.Match[str]") -> str:
    number = parse(match["number"])
    noun = noun_after(language, match)
    if not number.fraction and (noun or int(number.whole[:9]) < 10):
        gender = language.gender(noun) if noun and "°" in match[0] else "m"
        return language.ordinal(int(number.whole[:4]), gender, noun)
    return degrees(language, number)


def _signs(rewriter: Rewriter, language: Language) -> None:
    def sign(match: "regex.Match[str]") -> str | None:
        words = language.signs.get(match["sign"])
        return None if words is None else f" {words} "

    rewriter.rule(_HASHTAG, lambda match: f"{language.address_signs[match[0]]} ")
    rewriter.rule(_EITHER, lambda match: ", ")
    rewriter.rule(_SIGN, sign)
    rewriter.rule(_SILENT, lambda match: " ")


@cache
def _compiled(pattern: str) -> "regex.Pattern[str]":
    return regex.compile(pattern)
