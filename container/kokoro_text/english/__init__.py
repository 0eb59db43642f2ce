"""How English is read aloud.

Each module has rules for a topic. The more specific form comes first: an e-mail address before a
file name, a time before a ratio, and plain numbers last.
"""

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
from kokoro_text.english.frame import Rule
from kokoro_text.english.numerals import Numerals
from kokoro_text.reading import Rewriter

_RULES: tuple[Rule, ...] = (
    *markup.STRUCTURE,
    *web.RULES,
    *codes.PHONES,
    *dates.RULES,
    *times.RULES,
    *money.RULES,
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


def rules(rewriter: Rewriter, language: str) -> None:
    """Apply the rules to the text of `rewriter`.

    Args:
        rewriter: The text.
        language: `en-us` or `en-gb`.
    """
    numerals = Numerals(british=language == "en-gb")
    for pattern, say in _RULES:
        rewriter.rule(pattern, lambda match, say=say: say(match, numerals))  # type: ignore[misc]
