"""What the rules of English share: their form, numbers in patterns, and the words around."""

from collections.abc import Callable

import regex

from kokoro_text.english.numerals import Numerals

Say = Callable[["regex.Match[str]", Numerals], str | None]
Rule = tuple["regex.Pattern[str]", Say]
"""A pattern, and what is said for a match. None leaves the match to later rules."""

NUMBER = (
    r"(?>(?:\d{1,3}(?:,\d{3}){1,8}(?!\d)|\d{1,30}(?!\d))(?:\.\d{1,30}(?!\d))?|\.\d{1,30}(?!\d))"
)
"""An unsigned number, for example `12`, `1,234.5` or `.5`."""

BEFORE = r"(?<![\p{L}\p{N}_]|\p{N}[.,])"
"""Holds where a word or number can begin."""

AFTER = r"(?![\p{L}\p{N}_]|[.,]\p{N})"
"""Holds where a word or number can end."""

SIGN = r"(?P<sign>(?<![\p{L}\p{N}_)\]%°.]|[\p{L}\p{N}] )[-–+](?=[\p{Sc}\d.]))?"
"""An optional sign of a number. A dash after a word or number is not one."""

DASH = r"(?: ?[–-] ?)"
"""The dash of a range, as in `10-20`."""

_NEAR = 60
_DETERMINER = regex.compile(
    r"(?i)(?:^|[\s(“\"'])(?:an?|another) (?:[\d.]+(?: ?\p{L}{1,2})? ?[x×] ?){0,2}$"
)
_POSSESSIVE = regex.compile(
    r"(?i)(?:^|[\s(“\"'])(?:the|my|your|his|her|its|our|their|any|no|one|first|new|extra|each"
    r"|every|this|that|per) $"
)
_NOUN = regex.compile(
    r"[ -](?!(?:is|was|are|were|has|had|have|will|would|can|could|may|to|in|on|for|at|from|of"
    r"|you|i|"
    r"we|they|he|she|it|and|or|but|if|that|which|who|when|due|a|an|the|per|by|with|off|back|more|"
    r"less|went|goes|came|as|than|so|not|into|until|before|after|each|now|today|long|high|wide|"
    r"tall|deep|away|ago|only|once)\b)\p{Ll}\p{L}"
)
_SENTENCE_END = regex.compile(
    r"[\"”')\]]{0,3}(?: (?!(?:Suite|Ste|Apt|Unit|Floor|Room|Rm|Box|NW|NE|SW"
    r"|SE)\b)[\"“'(\[]{0,2}\p{Lu}|$)"
)


def before(match: "regex.Match[str]") -> str:
    """Return the end of the text before `match`."""
    text: str = match.string
    return text[max(0, match.start() - _NEAR) : match.start()]


def after(match: "regex.Match[str]") -> str:
    """Return the beginning of the text after `match`."""
    text: str = match.string
    return text[match.end() : match.end() + _NEAR]


def around(match: "regex.Match[str]") -> str:
    """Return `match` with the text near it."""
    return f"{before(match)}{match[0]}{after(match)}"


def is_attributive(match: "regex.Match[str]") -> bool:
    """Whether a quantity belongs to a noun, as in `a $5 bill`, and its unit is singular."""
    if _DETERMINER.search(before(match)):
        return not regex.match(r" of\b", after(match))
    return bool(_POSSESSIVE.search(before(match)) and _NOUN.match(after(match)))


def full_stop(match: "regex.Match[str]") -> str:
    """Return `.` if `match` ends with one and is the end of a sentence, otherwise nothing."""
    return "." if match[0].endswith(".") and _SENTENCE_END.match(after(match)) else ""


def minus(sign: str | None) -> str:
    """Return the word for a sign, followed by a blank; empty without one."""
    return "" if not sign else "plus " if sign == "+" else "minus "
