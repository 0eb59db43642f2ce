"""Ranges, ordinals, numbers and signs that no other rule has read."""

import unicodedata

import regex

from kokoro_text.english.frame import BEFORE, DASH, NUMBER, Rule, after, before, minus
from kokoro_text.english.numerals import Numerals, digits, letters, plural

_SIGN = r"(?P<sign>(?<![\p{L}\p{N}_)\]%°.]|[\p{L}\p{N}\)] )[-–+](?=[\d.]))?"
_SIGN_AFTER_WORD = r"(?P<sign>(?<![\p{L}\p{N}_)\]%°.])[-–+](?=[\d.]))?"
_ORDINAL = regex.compile(
    rf"{BEFORE}(?P<number>\d{{1,3}}(?:,\d{{3}}){{1,5}}|\d{{1,15}})(?:st|nd|rd|th)(?!\p{{L}})"
)
_SPACED = regex.compile(
    r"(?<![\p{L}\p{N}_.,-]|\d )(?P<said>\d{1,3}(?: \d{3}){2,5}(?! ?\d)|\d{1,3}(?: \d{3})"
    r"(?= (?:people|euros|dollars|pounds|\p{Ll}{2,}s)\b))"
)
_FRIENDS = regex.compile(r"(?<![\p{L}\p{N}])\p{L}{2,30}\((?:s|es)\)(?!\p{L})")
_RANGE = regex.compile(
    rf"{_SIGN}{BEFORE}(?<!/)(?P<low>{NUMBER})(?P<scale>[kKmM](?=[-–]))?(?:[–-]"
    rf"| – )(?P<high>{NUMBER})(?![-–/]\d|[\p{{N}}_])"
)
_RECORD = regex.compile(
    r"\b[Tt]he \p{Lu}\p{Ll}+s (?:are|were|went|finished) (?:now |at )?$|\b(?:a|the) record of $"
)
_THOUSANDS = regex.compile(
    rf"{_SIGN_AFTER_WORD}{BEFORE}(?:(?P<low>{NUMBER}){DASH})?(?P<number>{NUMBER})(?P<scale>k"
    rf"|K(?= (?:\p{{Ll}}{{2,}}s|people|of)\b)|M(?= (?:\p{{Ll}}{{2,}}s|people|of)\b)|bn|mn"
    rf"|B(?= (?:people|\p{{Ll}}{{2,}}s)))(?![\p{{L}}\p{{N}}_])(?P<plus>\+)?"
)
_SCALES = {
    "k": "thousand",
    "K": "thousand",
    "M": "million",
    "m": "million",
    "bn": "billion",
    "mn": "million",
    "B": "billion",
}
_HYPHENED = regex.compile(rf"{BEFORE}(?P<number>{NUMBER})-(?=\p{{L}})")
_SIGNED = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}_)\]%°.+-])(?P<sign>[-–+])(?P<number>{NUMBER})(?![\p{{L}}\p{{N}}_]"
    rf"|[.,]\d|-\p{{L}})"
)
_PLURAL = regex.compile(
    rf"{BEFORE}(?P<number>\d{{1,3}}(?:,\d{{3}}){{1,2}}|\d{{1,6}})'?s(?![\p{{L}}\p{{N}}_])"
)
_NUMBER = regex.compile(rf"(?<![\p{{N}}])(?P<number>{NUMBER})")
_DIGITS = regex.compile(r"\p{Nd}+")
_NUMERIC = regex.compile(r"[\p{No}\p{Nl}]")
_LETTER_SIGNS = {
    "§": "section ", "§§": "sections ", "¶": "paragraph ", "©": " copyright ",
    "℗": " copyright ", "№": "number ",
    "®": " ", "™": " ", "℠": " ", "°": " degrees ", "@": " at ", "&": " and ",
    "%": " percent ", "‰": " per mille ",
    "$": " dollar ", "£": " pound ", "€": " euro ", "¥": " yen ", "₹": " rupee ", "¢": " cent ",
    "♯": " sharp ", "♭": " flat ", "℃": " degrees Celsius ", "℉": " degrees Fahrenheit ",
    "ª": "", "º": "",
}  # fmt: skip
_SIGNS = regex.compile("§§ ?|[" + "".join(sign for sign in _LETTER_SIGNS if len(sign) == 1) + "] ?")
_HASHTAG = regex.compile(r"(?<![\p{L}\p{N}&])#(?P<tag>(?=[\p{L}])[\p{L}\p{N}_]{1,80})")
_CAMEL = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\d+|\p{L}")
_HASH = regex.compile(r"#")
_UNDERSCORE = regex.compile(r"(?<=[\"“'(] ?)_(?=[\"”')])|(?<!\S)_(?!\S)")
_MENTION = regex.compile(r"(?<![\p{L}\p{N}._])@(?=[\p{L}_])")
_AND_OR = regex.compile(r"(?<=\p{L})/(?=or\b)")
_SLASH = regex.compile(
    r"(?<=[\p{L}\p{N}.)])(?P<said> ?/ ?)(?=[\p{L}\p{N}(])|(?<!\S)(?P<said>/)(?!\S)"
)
_PER = regex.compile(
    r"(?<=\d\p{L}{0,20} ?|\bper \p{L}{1,20}|\b(?:dollars|pounds|euros|cents|miles"
    r"|percent) ?)/(?=(?:hour|hr|day|week|month|year|yr|person|user|night|minute|second|unit"
    r"|seat|item|each)\b)"
)
_HE_SHE = regex.compile(
    r"\b(?i:(?:s?he|him|her|his|yes|he|she))(?P<said>/)(?=(?i:she|he|her|him|hers|no)\b)"
)
_BACKSLASH = regex.compile(r"(?<=\p{L})\\(?=\p{L})|(?<!\S)\\(?!\S)")
_GLUED = regex.compile(
    r"(?<=\p{Ll}{2}[)\"”']?|\d)(?P<said>[.!?…]{1,3})(?=[\"“]?\p{Lu}\p{Ll})|(?<=\p{L}{2}"
    r"|\d)(?P<said>[,;])(?=\p{L})"
    r"|(?<=\p{L}{2})(?P<said>[!?]{1,3})(?=\p{L})"
)
_GLUED_QUOTE = regex.compile(r"(?<=\p{Ll}[.!?])[\"”](?=\p{Lu}\p{Ll})")
_LETTERS_RANGE = regex.compile(r"(?<=(?<![\p{L}\p{N}'])[Aa])(?P<said>[-–])(?=[Zz](?![\p{L}\p{N}]))")
_TWO_DASHES = regex.compile(r"(?<=\S)(?P<said> ?[-–—]{2,3} ?)(?=\S)| (?P<said>[-–—]{2,3}) ?")
_LONG_DASH = regex.compile(r"(?<=\p{L})(?P<said>—)(?=\p{L})")
_PLACES = regex.compile(r"(?<=\p{Lu}\p{Ll}{2,20})(?P<said>–)(?=\p{Lu}\p{Ll})")
_SPACED_DASH = regex.compile(r"(?<= )[-–](?= )")
_STEP = regex.compile(r"(?:^|(?<=[.!?:;,]['\"”)]? ))(?P<said>(?P<number>\d{1,2})[.)])(?= \p{Lu})")


def _ordinal(match: "regex.Match[str]", numerals: Numerals) -> str:
    return numerals.ordinal(int(match["number"].replace(",", "")))


def _spaced(match: "regex.Match[str]", numerals: Numerals) -> str:
    return numerals.number(match["said"].replace(" ", ""))


def _range(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if regex.match(r" ?=", after(match)):
        return None
    if _RECORD.search(before(match)):
        return f"{numerals.number(match['low'])} and {numerals.number(match['high'])}"
    if numerals.british and match["high"] == "0":
        return f"{numerals.number(match['low'])} nil".replace("zero", "nil")
    low = f"{numerals.number(match['low'])} {_SCALES.get(match['scale'] or '', '')}"
    return f"{minus(match['sign'])}{low} to {numerals.number(match['high'])} "


def _thousands(match: "regex.Match[str]", numerals: Numerals) -> str:
    low = f"{numerals.number(match['low'])} to " if match["low"] else ""
    ending = " plus" if match["plus"] else ""
    said = f"{numerals.number(match['number'])} {_SCALES[match['scale']]}{ending}"
    return f"{minus(match['sign'])}{low}{said}"


def _hyphened(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{numerals.number(match['number'])}-"


def _number(match: "regex.Match[str]", numerals: Numerals) -> str:
    sign = match.groupdict().get("sign")
    return f"{minus(sign)}{numerals.number(match['number'])}"


def _plural(match: "regex.Match[str]", numerals: Numerals) -> str:
    number = match["number"]
    return plural(numerals.pairs(number) if 2 < len(number) < 5 else numerals.number(number))


def _digits(match: "regex.Match[str]", numerals: Numerals) -> str:
    return digits(match[0])


def _numeric(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    value = unicodedata.numeric(match[0], -1)
    if value < 0 or value != int(value):
        return None
    return f" {numerals.cardinal(int(value))} "


def _sign(match: "regex.Match[str]", numerals: Numerals) -> str:
    return _LETTER_SIGNS[match[0].strip()]


def _hashtag(match: "regex.Match[str]", numerals: Numerals) -> str:
    words = [
        numerals.pairs(part)
        if part.isdecimal()
        else letters(part)
        if part.isupper() and len(part) < 4
        else part
        for part in _CAMEL.findall(match["tag"])
    ]
    return f"hashtag {' '.join(words)}"


def _hash(match: "regex.Match[str]", numerals: Numerals) -> str:
    return " hash " if numerals.british else " pound "


def _step(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{numerals.cardinal(int(match['number'])).capitalize()}."


RULES: tuple[Rule, ...] = (
    (_FRIENDS, lambda match, numerals: regex.sub("[()]", "", match[0])),
    (_ORDINAL, _ordinal),
    (_SPACED, _spaced),
    (_STEP, _step),
    (_THOUSANDS, _thousands),
    (_RANGE, _range),
    (_SIGNED, _number),
)
NUMBERS: tuple[Rule, ...] = (
    (_PLURAL, _plural),
    (_HYPHENED, _hyphened),
    (_NUMBER, _number),
    (_DIGITS, _digits),
    (_NUMERIC, _numeric),
)
SIGNS: tuple[Rule, ...] = (
    (_HASHTAG, _hashtag),
    (_MENTION, lambda match, numerals: "at "),
    (_UNDERSCORE, lambda match, numerals: "underscore"),
    (_SIGNS, _sign),
    (_HASH, _hash),
    (_AND_OR, lambda match, numerals: " "),
    (_HE_SHE, lambda match, numerals: " or "),
    (_PER, lambda match, numerals: " per "),
    (_SLASH, lambda match, numerals: " slash "),
    (_BACKSLASH, lambda match, numerals: " backslash "),
    (_TWO_DASHES, lambda match, numerals: "—"),
    (_LONG_DASH, lambda match, numerals: "—"),
    (_PLACES, lambda match, numerals: " to "),
    (_SPACED_DASH, lambda match, numerals: "—"),
    (_GLUED_QUOTE, lambda match, numerals: f"{match[0]} "),
    (_LETTERS_RANGE, lambda match, numerals: " to "),
    (_GLUED, lambda match, numerals: match["said"] + " "),
)
