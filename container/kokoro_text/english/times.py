"""Times of day, durations and ratios."""

import regex

from kokoro_text.english.frame import AFTER, BEFORE, Rule, after, before
from kokoro_text.english.numerals import Numerals, and_list, letters

_HALF = r"(?: ?(?P<half{0}>[aApP])(?:\. ?[mM]\b\.?|[mM]\b))"
_HOUR = r"(?P<hour{0}>[01]?\d|2[0-4])"
_TIME = rf"{_HOUR}(?:[:.](?P<minute{{0}}>[0-5]\d)(?::(?P<second{{0}}>[0-5]\d))?)?"
_HALVED = regex.compile(
    rf"{BEFORE}(?:{_TIME.format(1)}{_HALF.format(1)}? ?[-–—] ?)?{_TIME.format(2)}{_HALF.format(2)}"
    r"(?!\p{L})"
)
_DURATION = regex.compile(
    rf"{BEFORE}(?P<hour>\d{{1,3}}):(?P<minute>[0-5]\d):"
    rf"(?P<second>[0-5]\d)(?P<part>\.\d{{1,3}})?{AFTER}(?!:)"
)
_CLOCK = regex.compile(
    rf"{BEFORE}(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?P<h>h)?(?![\p{{L}}\p{{N}}_:]|[.,]\d)"
)
_CLOCK_RANGE = regex.compile(
    r"(?<=\d:\d\d)(?: ?[-–—] ?)(?=\d{1,2}:\d\d|(?:1[0-2]|\d)(?![\p{N}\p{L}.:/-]))"
    r"|(?<=(?<![\p{N}\p{L}.,:/$-])(?:1[0-2]|\d))(?: ?[-–—] ?)(?=\d{1,2}:\d\d(?!\d))"
)
_MOMENT = regex.compile(r"(?i)\b(?:at|by|until|till|since|before|after|around|past) $")
_RATIO = regex.compile(rf"{BEFORE}(?<!:)(?P<first>\d{{1,6}}):(?P<second>\d{{1,6}}){AFTER}(?!:)")
_RATIO_CUE = regex.compile(r"(?i)\b(?:ratio|odds|scale|proportion|aspect)\b(?:\W+\w+){0,3}\W*$")
_TIMESTAMP = regex.compile(
    r"(?<=\d{4}-\d\d-\d\d)[T ](?P<hour>[0-2]\d):(?P<minute>[0-5]\d)(?::[0-6]\d(?:[.,]\d{1,9})?)?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?(?![\p{L}\p{N}])"
)
_DOTTED = regex.compile(
    r"(?i:\b(?:at|by|until|till|before|after) )(?P<said>(?P<hour>[01]?\d"
    r"|2[0-3])\.(?P<minute>[0-5]\d))"
    r"(?![\p{L}\p{N}_]|[.,]\d| ?[ap]\.?m)"
)
_MILITARY = regex.compile(
    rf"{BEFORE}(?P<said>(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d))(?= (?:hours|hrs)\b)"
)
_BOOK = regex.compile(
    r"(?<![\p{L}\p{N}.,])[123](?= (?:Corinthians|Samuel|Kings|Chronicles|Thessalonians|Timothy"
    r"|Peter|"
    r"John|Maccabees)\b)"
)
_VERSE = regex.compile(
    r"(?<=(?:Genesis|Exodus|Leviticus|Numbers|Deuteronomy|Joshua|Psalms?|Proverbs|Ecclesiastes"
    r"|Isaiah|"
    r"Jeremiah|Ezekiel|Daniel|Matthew|Mark|Luke|John|Acts|Romans|Corinthians|Galatians|Ephesians|"
    r"Philippians|Colossians|Timothy|Hebrews|James|Peter|Jude|Revelation|Samuel|Kings|Chronicles|"
    r"Surah?|Quran|Qur'an) )(?P<chapter>\d{1,3}):(?P<verse>\d{1,3})(?:[-–](?P<last>\d{1,3}))?"
    r"(?![\p{L}\p{N}:])"
)
_HOURS_MINUTES = regex.compile(
    rf"{BEFORE}(?P<hour>\d{{1,3}}) ?h(?:rs?|ours?)? ?(?P<minute>[0-5]?\d) ?m(?:ins?)?{AFTER}"
)
_OF_THE_CLOCK = " o'clock"
_ZONE = regex.compile(r" ?(?:[ECMP][SD]?T|GMT|UTC|BST|CET|CEST|IST|JST|AEST|AKST|HST|Z)\b")


def _clock(hour: str, minute: str | None, numerals: Numerals) -> str:
    said = numerals.cardinal(int(hour))
    if minute is None or minute == "00":
        return said
    return f"{said} {'oh ' if minute[0] == '0' else ''}{numerals.cardinal(int(minute))}"


def _halved(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if int(match["hour2"]) > 12 and not match["minute2"]:
        return None
    said = ""
    if match["hour1"]:
        said = _clock(match["hour1"], match["minute1"], numerals)
        said += f" {letters(match['half1'] + 'm')} to " if match["half1"] else " to "
    said += _clock(match["hour2"], match["minute2"], numerals)
    if match["second2"]:
        said += f" and {numerals.cardinal(int(match['second2']))} seconds"
    said += f" {letters(match['half2'] + 'm')}"
    ends = regex.match(
        r"$|[\"”')]{0,2} [\"“']?(?!(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul"
        r"|Aug|Sep|"
        r"Oct|Nov|Dec|[ECMP][SD]?T\b|GMT|UTC|Eastern|Pacific|Central))\p{Lu}",
        after(match),
    )
    return said + ("." if match[0].endswith(".") and ends else "")


def _duration(match: "regex.Match[str]", numerals: Numerals) -> str:
    if _MOMENT.search(before(match)) and int(match["hour"]) < 24:
        seconds = numerals.cardinal(int(match["second"]))
        return f"{_clock(match['hour'], match['minute'], numerals)} and {seconds} seconds"
    counts = [int(match["hour"]), int(match["minute"]), int(match["second"])]
    second = numerals.cardinal(counts[2])
    if match["part"]:
        second = numerals.number(match["second"].lstrip("0") + match["part"])
    said = [numerals.cardinal(counts[0]), numerals.cardinal(counts[1]), second]
    units = ["hour", "minute", "second"]
    parts = [
        f"{words} {unit if count == 1 else f'{unit}s'}"
        for words, unit, count in zip(said, units, counts, strict=True)
        if count
    ]
    return and_list(parts) or "zero seconds"


def _clock_alone(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if _RATIO_CUE.search(before(match)) or regex.match(r" (?:ratio|odds|scale|mix)", after(match)):
        return None
    hour, minute = int(match["hour"]), match["minute"]
    zoned = _ZONE.match(after(match))
    if minute != "00":
        return _clock(match["hour"], minute, numerals)
    if hour in (0, 24):
        return "midnight"
    if hour > 12:
        return f"{numerals.cardinal(hour)} hundred"
    return f"{numerals.cardinal(hour)}{'' if zoned else _OF_THE_CLOCK}"


def _ratio(match: "regex.Match[str]", numerals: Numerals) -> str:
    first, second = match["first"], match["second"]
    return f"{numerals.number(first)} to {numerals.number(second)}"


def _hours_minutes(match: "regex.Match[str]", numerals: Numerals) -> str:
    hour, minute = int(match["hour"]), int(match["minute"])
    return (
        f"{numerals.cardinal(hour)} {'hour' if hour == 1 else 'hours'} "
        f"{numerals.cardinal(minute)} {'minute' if minute == 1 else 'minutes'}"
    )


def _timestamp(match: "regex.Match[str]", numerals: Numerals) -> str:
    zone = f" {letters('UTC')}" if match["zone"] == "Z" else ""
    return f" at {_clock(match['hour'], match['minute'], numerals)}{zone}"


def _military(match: "regex.Match[str]", numerals: Numerals) -> str:
    hour, minute = match["hour"], match["minute"]
    said = f"{'oh ' if hour[0] == '0' else ''}{numerals.cardinal(int(hour))}"
    return f"{said} hundred" if minute == "00" else f"{said} {_clock(minute, None, numerals)}"


def _verse(match: "regex.Match[str]", numerals: Numerals) -> str:
    last = f" to {numerals.cardinal(int(match['last']))}" if match["last"] else ""
    chapter, verse = (numerals.cardinal(int(match[name])) for name in ("chapter", "verse"))
    return f"{chapter} {verse}{last}"


def _book(match: "regex.Match[str]", numerals: Numerals) -> str:
    return numerals.ordinal(int(match[0])).capitalize()


def _dotted(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    """Return a time with a full stop, as in Britain."""
    if not numerals.british or regex.match(
        r" ?(?:%|°|million|billion|per|degrees|km|m\b|kg|times|points?|x\b)", after(match)
    ):
        return None
    return _clock(match["hour"], match["minute"], numerals)


RULES: tuple[Rule, ...] = (
    (_DOTTED, _dotted),
    (_MILITARY, _military),
    (_TIMESTAMP, _timestamp),
    (_VERSE, _verse),
    (_BOOK, _book),
    (_HALVED, _halved),
    (_DURATION, _duration),
    (_CLOCK_RANGE, lambda match, numerals: " to "),
    (_CLOCK, _clock_alone),
    (_RATIO, _ratio),
    (_HOURS_MINUTES, _hours_minutes),
)
