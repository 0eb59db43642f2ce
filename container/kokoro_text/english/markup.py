"""Marks that are for the eye only: reasoning and HTML tags, Markdown, emoji, quotation marks."""

import regex

from kokoro_text.english.frame import Rule, before
from kokoro_text.english.numerals import Numerals

_THOUGHT = regex.compile(r"<(think|thinking|reasoning)>(?:[^<]|<(?!/?(?:think|reasoning)))*+</\1>")
_TAG = regex.compile(
    r"</?(?:a|b|i|u|s|em|strong|small|mark|p|br|hr|div|span|code|pre|kbd|ul|ol|li|h[1-6]|table"
    r"|thead|"
    r"tbody|tr|td|th|sub|sup|img|del|ins|q|blockquote|font|speak|break)"
    r"(?: [\w:-]{1,20}=[^<>]{0,200})? ?/?>"
)
_TAG_END = regex.compile(r"(?<=</?\p{L}[\w-]{0,30})>|<(?=/?\p{L}[\w-]{0,30}>)")
_HEADING = regex.compile(r"(?:(?<=^)|(?<=[.!?:] ))#{1,6}(?= \p{Lu})")
_BULLET = regex.compile(r"(?:^|(?<= ))(?:[•‣◦▪●■*–-]|>)(?= )")
_EMPHASIS = regex.compile(
    r"(?<![\p{L}\p{N}*])(?>\*{1,3})(?=[^\s*\d])|(?<=[^\s*])(?>\*{1,3})(?![\p{L}\p{N}*])|`+"
    r"|~~|(?<![\p{L}\p{N}_])(?>_{1,3})(?=[\p{L}\p{N}][^_]{0,200}_)"
    r"|(?<=[\p{L}\p{N}.,!?])(?>_{1,3})(?![\p{L}\p{N}_(])"
)
_LOVE = regex.compile(r"(?<=\p{L} )(?:[❤♥💕💖]\uFE0F?|<3)(?= \p{L})")
_SMILEY = regex.compile(
    r"(?<!\S)(?:[:;][-'^o]?[)(DPpOo3/|*\]\[]{1,5}|=[)(D]|<3+|</3|XD|:'\(|\^_*\^)"
    r"(?![\p{L}\p{N}])"
)
_EMOJI = regex.compile(
    r"(?:(?![©®™#*0-9‼⁉↔↕←→↑↓])[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]"
    r"|(?!\p{No})[\u20E3\u2600-\u27BF\u2B00-\u2BFF])+"
)
_UNREADABLE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー々〆]+")
_DEVANAGARI = regex.compile(r"\p{Devanagari}[\p{Devanagari}\p{M}]*")
_OPENING = regex.compile(
    r"(?i)(?<![\p{L}\p{N}])'(?=[\p{L}(“\"])(?!(?:twas|tis|twere|twill|em|cause|n|til|till|bout|"
    r"round|cept|fraid|nuff|kay|sup|nother|d)\b)"
)
_CLOSING = regex.compile(r"(?<=[.,!?;:)”\"])'(?![\p{L}\p{N}])")
_CLOSING_WORD = regex.compile(r"(?<=[\p{L}\p{N}])'(?![\p{L}\p{N}])")
_UNCLOSED = regex.compile(r"(?<![\p{L}\p{N}])'(?=\p{L})(?:[^']|(?<=\p{L})'(?=\p{L}))*$")
_ENTITY = regex.compile(r"&(?P<name>amp|lt|gt|quot|apos|nbsp|ndash|mdash|hellip|#\d{1,5});")
_ENTITIES = {
    "amp": " and ",
    "lt": " less than ",
    "gt": " greater than ",
    "mdash": "—",
    "ndash": "—",
}
_DOUBLED = regex.compile(r"''")
_SILENT = regex.compile(r"[|¦†‡¬^~\\<>{}\[\]_*=¨]+(?=\s|$|[\p{P}\p{S}])")
_BRACKET = regex.compile(r"[\[\]{}]")
_RULER = regex.compile(r"(?<!\S)[-_*=~#.]{3,}(?!\S)")


def _nothing(match: "regex.Match[str]", numerals: Numerals) -> str:
    return " "


def _pause(match: "regex.Match[str]", numerals: Numerals) -> str:
    return "" if not before(match).strip() or before(match)[-2:-1] in ".:!?" else "—"


def _bullet(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    """Say nothing at the beginning. A mark between numbers is left to later rules."""
    around = match.string[max(0, match.start() - 4) : match.end() + 2]
    if regex.search(r"[\p{N}\p{L})%] ?[-*–>] ?[\p{N}(\p{L}]", around) and (
        regex.search(r"\d [-–*>]|[-–*>] \d", around) or regex.search(r"(?<!\p{L})\p{L} .", around)
    ):
        return None
    if match[0] == ">" and before(match):
        return None
    return _pause(match, numerals)


def _love(match: "regex.Match[str]", numerals: Numerals) -> str:
    return "love"


def _hindi(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"[{match[0]}](hi)"


def _entity(match: "regex.Match[str]", numerals: Numerals) -> str:
    return _ENTITIES.get(match["name"], " ")


def _closing(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    """Say nothing for an apostrophe that closes a quotation, and leave those of words."""
    return "" if _UNCLOSED.search(before(match)) else None


STRUCTURE: tuple[Rule, ...] = (
    (_ENTITY, _entity),
    (_THOUGHT, _nothing),
    (_TAG, _nothing),
    (_TAG_END, _nothing),
    (_HEADING, _nothing),
    (_LOVE, _love),
    (_SMILEY, _nothing),
    (_EMOJI, _nothing),
    (_RULER, lambda match, numerals: None if match[0][0] == "." else "—"),
    (_EMPHASIS, lambda match, numerals: ""),
    (_BULLET, _bullet),
    (_UNREADABLE, _nothing),
    (_DEVANAGARI, _hindi),
)
"""Rules to apply before all others."""

QUOTES: tuple[Rule, ...] = (
    (_DOUBLED, lambda match, numerals: '"'),
    (_OPENING, lambda match, numerals: ""),
    (_CLOSING, lambda match, numerals: ""),
    (_CLOSING_WORD, _closing),
)
"""Apostrophes that are quotation marks. They must come after decades such as `'90s`."""

LEFT: tuple[Rule, ...] = (
    (_BRACKET, lambda match, numerals: ""),
    (_SILENT, lambda match, numerals: ""),
)
"""Rules to apply after all others."""
