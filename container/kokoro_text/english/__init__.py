"""How English is read aloud.

Each module has rules for a topic. The more specific form comes first: an e-mail address before a
file name, a time before a ratio, and plain numbers last.
"""

from functools import partial

import regex

from kokoro_text.english import (
    acronyms,
    codes,
    dates,
    markup,
    maths,
    money,
    names,
    rest,
    times,
    units,
    web,
)
from kokoro_text.english.frame import Rule, Say
from kokoro_text.english.numerals import Numerals
from kokoro_text.reading import Rewriter

_RULES: tuple[Rule, ...] = (
    *markup.STRUCTURE,
    *codes.PHONES,
    *web.RULES,
    *dates.RULES,
    *times.RULES,
    *money.RULES,
    *acronyms.PAIRS,
    *names.RULES,
    *codes.RULES,
    *units.RULES,
    *names.ABBREVIATIONS,
    *rest.RULES,
    *maths.RULES,
    *dates.YEARS,
    *codes.MIXED,
    *acronyms.RULES,
    *acronyms.ITEMS,
    *rest.NUMBERS,
    *rest.SIGNS,
    *markup.QUOTES,
    *markup.LEFT,
)

_OPENING = "([“$£€"


def rules(rewriter: Rewriter, language: str) -> None:
    """Apply the rules to the text of `rewriter`.

    Args:
        rewriter: The text.
        language: `en-us` or `en-gb`.
    """
    numerals = Numerals(british=language == "en-gb")
    for pattern, say in _RULES:
        rewriter.rule(pattern, partial(_say, say=say, numerals=numerals))


def _say(match: "regex.Match[str]", say: Say, numerals: Numerals) -> str | None:
    """Return what a rule says, with blanks only where words would otherwise run together."""
    spoken = say(match, numerals)
    if spoken is None:
        return None
    start, end = match.span("said" if "said" in match.re.groupindex else 0)
    previous, following = match.string[start - 1 : start], match.string[end : end + 1]
    if not spoken.strip():
        return " " if previous.isalnum() and following.isalnum() and spoken else ""
    if not (following.isalnum() or following in _OPENING):
        spoken = spoken.rstrip()
    elif following and spoken.endswith(")"):
        spoken += " "
    return f" {spoken}" if previous.isalnum() and spoken[0] == "[" else spoken
