"""Dates and times of day."""

from functools import cache

import regex
from babel import Locale

from kokoro_text.european_language import Language
from kokoro_text.european_numbers import cardinal, counted, integer, parse, word_before
from kokoro_text.reading import Rewriter

_DAY = r"(?<day>0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?<month>0?[1-9]|1[0-2])"
_DATE = regex.compile(
    rf"(?<![\d.,/-]){_DAY}(?<mark>[/.-]){_MONTH}(?P=mark)(?<year>[12]\d{{3}}|(?<=/)\d\d)(?![\d/-]|\.\d)"
)
_ISO_DATE = regex.compile(
    r"(?<![\d.,/-])(?<year>[12]\d{3})-(?<month>0[1-9]|1[0-2])-(?<day>0[1-9]|[12]\d|3[01])"
    r"(?![\d-])(?:T(?=\d\d:))?"
)
_DAY_AND_MONTH = regex.compile(rf"(?<![\d.,/-]){_DAY}/{_MONTH}(?![\d/%-]|[.,]\d)")
_HALVES = r"(?<half>[aApP])\.? ?[mM]\b\.?"
_TIME = regex.compile(
    r"(?<![\d:.,/])(?<hour>[01]?\d|2[0-4])(?: ?[hH] ?|:)(?<minute>[0-5]\d)"
    r"(?::(?<second>[0-5]\d))?(?![\d:]|[.,]\d| ?min)"
    rf"(?: ?(?:h|hs|hrs|H|horas|heures)(?![\p{{L}}\d])\.?)?(?: ?{_HALVES})?"
)
_HOUR = regex.compile(rf"(?<![\d:.,/-])(?<hour>1[0-2]|0?[1-9]) ?{_HALVES}")


def dates(rewriter: Rewriter, language: Language) -> None:
    """Read dates, in digits and with the name of a month."""

    def say(match: "regex.Match[str]") -> str:
        year = match["year"]
        return _date(language, match["day"], int(match["month"]), _century(year) + year)

    def short(match: "regex.Match[str]") -> str | None:
        if _context(language).fullmatch(word_before(match)) is None:
            return None
        return _date(language, match["day"], int(match["month"]), None)

    def named(match: "regex.Match[str]") -> str:
        month = months(language)[match["month"].lower().rstrip(".")]
        is_elided = match.string[match.start() - 1 : match.start()] == "'"
        return _date(language, match["day"], month, match["year"], is_elided)

    def weekday(match: "regex.Match[str]") -> str:
        return _weekdays(language)[match["said"].lower().rstrip(".")]

    dash, name = _abbreviated_weekdays(language)
    rewriter.rule(dash, lambda match: f" {language.range} ")
    rewriter.rule(name, weekday)
    rewriter.rule(_ISO_DATE, say)
    rewriter.rule(_DATE, say)
    rewriter.rule(_DAY_AND_MONTH, short)
    rewriter.rule(_named_date(language), named)


def times(rewriter: Rewriter, language: Language) -> None:
    """Read times of day, as in `14:30`, `14h30` and `2 p. m.`."""

    def say(match: "regex.Match[str]") -> str:
        groups = match.groupdict()
        said = _time(language, int(match["hour"]), int(groups.get("minute") or 0))
        if groups.get("second"):
            said += f" {cardinal(language, int(match['second']))}"
        said += _part_of_day(language, int(match["hour"]), groups.get("half"))
        ends_text = match[0].endswith(".") and match.end() == len(match.string)
        return f"{said}." if ends_text else said

    rewriter.rule(_TIME, say)
    rewriter.rule(_HOUR, say)
    if language.time_context:
        rewriter.rule(_with_point(language), say)


def _date(
    language: Language, day: str, month: int, year: str | None, is_elided: bool = False
) -> str:
    before_month, before_year = language.date_joins
    # Italians say `il primo aprile` but `l'uno aprile`.
    first = language.first if int(day) == 1 and not is_elided else None
    said = f"{first or cardinal(language, int(day))}{before_month}{_month_name(language, month)}"
    return f"{said}{before_year}{integer(language, year)}" if year else said


def _century(year: str) -> str:
    return "" if len(year) == 4 else "20" if int(year) < 50 else "19"


def _time(language: Language, hour: int, minute: int) -> str:
    words = counted(language, parse(str(hour)), (language.hours, language.hours))
    return language.clock(words.rpartition(" ")[0], cardinal(language, minute), minute)


def _part_of_day(language: Language, hour: int, half: str | None) -> str:
    if half is None:
        return ""
    morning, afternoon, evening = language.day_parts
    if half in "aA":
        return f" {evening if hour == 12 else morning}"
    return f" {afternoon if hour == 12 or hour < 8 else evening}"


@cache
def _context(language: Language) -> "regex.Pattern[str]":
    return regex.compile(language.date_context)


@cache
def _with_point(language: Language) -> "regex.Pattern[str]":
    return regex.compile(
        rf"(?<!\p{{L}})(?:{language.time_context})(?<said>(?<hour>[01]?\d|2[0-4])\."
        r"(?<minute>[0-5]\d))(?![\d%€]|[.,]\d)"
    )


@cache
def months(language: Language) -> dict[str, int]:
    """Return the numbers of months by name and abbreviation, in lower case without points."""
    formats = Locale.parse(language.locale).months["format"]
    names = {
        name.rstrip(".").lower(): number
        for width in ("wide", "abbreviated")
        for number, name in formats[width].items()
    }
    return names | dict(language.months)


def _month_name(language: Language, month: int) -> str:
    name: str = Locale.parse(language.locale).months["format"]["wide"][month]
    return name.lower()


@cache
def _weekdays(language: Language) -> dict[str, str]:
    """Return the names of weekdays by their abbreviation."""
    days = Locale.parse(language.locale).days["format"]
    return {days["abbreviated"][day].rstrip(".").lower(): days["wide"][day] for day in range(7)}


@cache
def _abbreviated_weekdays(language: Language) -> "tuple[regex.Pattern[str], regex.Pattern[str]]":
    """Return patterns of the dash in `lun-vie`, and of a weekday there and in `lun. 3`."""
    name = rf"(?i:{'|'.join(map(regex.escape, _weekdays(language)))})(?!\p{{L}})"
    join = rf"(?: ?[-–] ?| (?:{language.range}|au) )"
    return (
        regex.compile(rf"(?<=(?<!\p{{L}}){name}\.?) ?(?<said>[-–]) ?(?={name})"),
        regex.compile(
            rf"(?<!\p{{L}})(?:(?<said>{name}\.?)(?={join}{name})"
            rf"|(?<=(?<!\p{{L}}){name}\.?{join})(?<said>{name}\.?)|(?<said>{name}\.)(?=,? \d))"
        ),
    )


@cache
def _named_date(language: Language) -> "regex.Pattern[str]":
    names = "|".join(sorted(map(regex.escape, months(language)), key=len, reverse=True))
    join = language.date_joins[0].strip()
    de = f"(?:{join} )?" if join else ""
    return regex.compile(
        rf"(?<![\d.,/:-])(?<day>0?[1-9]|[12]\d|3[01])[º°]?(?:er)? {de}"
        rf"(?<month>(?i:{names}))(?!\p{{L}})(?:\.(?= [\p{{Ll}}\d]))?"
        rf"(?:,? (?:{'del? ' if join else ''})(?<year>[12]\d{{3}})(?!\d|[.,]\d))?"
    )
