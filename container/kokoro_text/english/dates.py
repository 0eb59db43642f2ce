"""Dates, years, decades, and the names of months and weekdays."""

import regex
from babel.dates import get_day_names, get_month_names

from kokoro_text.english.frame import AFTER, BEFORE, DASH, Rule, after, before, full_stop
from kokoro_text.english.numerals import Numerals

_MONTHS = dict(get_month_names("wide", locale="en"))
_DAYS = dict(get_day_names("wide", locale="en"))
_MONTH_OF: dict[str, str] = {name[:3].lower(): name for name in _MONTHS.values()}
_DAY_OF = {name[:3].lower(): name for name in _DAYS.values()}

_MONTH = (
    r"(?P<month>January|February|March|April|May|June|July|August|September|October|November|"
    r"December|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)"
)
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[12]\d{3}|[’']\d\d)"
_ISO = regex.compile(
    rf"{BEFORE}(?P<year>\d{{4}})-(?P<month>[01]\d)-(?P<day>[0-3]\d)(?![\p{{N}}_-])(?=T|(?!\p{{L}}))"
)
_NUMERIC = regex.compile(
    rf"{BEFORE}(?<![/-])(?P<first>[0-3]?\d)(?P<sep>[/.-])(?P<second>[0-3]?\d)(?P=sep)"
    r"(?P<year>[12]\d{3}|\d\d)(?![/-]|[.]?[\p{N}\p{L}])"
)
_YEAR_FIRST = regex.compile(
    rf"{BEFORE}(?<![/-])(?P<year>[12]\d{{3}})(?P<sep>[/.])(?P<month>[01]?\d)"
    rf"(?P=sep)(?P<day>[0-3]?\d)"
    r"(?![/-]|[.]?[\p{N}\p{L}])"
)
_MONTH_OF_YEAR = regex.compile(
    rf"{BEFORE}(?<![/-])(?P<said>(?P<month>0[1-9]|1[0-2])/(?P<year>20\d\d))(?![\p{{L}}\p{{N}}/-])"
    r"|(?i:\b(?:exp(?:iry|ires|iration)?(?: date)?|valid (?:thru|through|until))\.?:? )"
    r"(?P<said>(?P<month>0?[1-9]|1[0-2])/(?P<year>\d\d))(?![\p{L}\p{N}/-])"
)
_SHORT = regex.compile(
    r"(?i:\b(?:on|due|until|till|by|before|after|since|from|dated|starting|through|mon(?:day)?,?|"
    r"tue(?:sday)?,?|wed(?:nesday)?,?|thu(?:rsday)?,?|fri(?:day)?,?|sat(?:urday)?,?"
    r"|sun(?:day)?,?) )"
    r"(?P<said>(?P<first>[0-3]?\d)/(?P<second>[0-3]?\d))(?!/|\.?\p{N}|\p{L}| (?:of|cup|full|inch"
    r"|mile|tea|"
    r"table|in\b|pound|hour))"
)
_MONTH_DAY = regex.compile(
    rf"{BEFORE}{_MONTH} {_DAY}(?:{DASH}(?P<last>[0-3]?\d)(?:st|nd|rd"
    rf"|th)?)?(?![\p{{L}}\p{{N}}:%/_]|[.,]\d)"
    r"(?:(?P<comma>,)? (?P<year>[12]\d{3})(?![\p{L}\p{N}:_]|[.,]\d))?"
)
_DAY_MONTH = regex.compile(
    rf"{BEFORE}(?:(?P<first>[0-3]?\d)(?:st|nd|rd|th)?{DASH})?{_DAY}(?P<of> of)? {_MONTH}(?!\p{{L}})"
    r"(?:(?P<comma>,)? (?P<year>[12]\d{3})(?![\p{L}\p{N}:_]|[.,]\d))?"
)
_MONTH_YEAR = regex.compile(rf"{BEFORE}{_MONTH},? (?:of )?{_YEAR}{AFTER}")
_MONTH_ALONE = regex.compile(
    rf"{BEFORE}(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\."
    r"|(?<=\b(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?[-–/])(?:Jan|Feb|Mar|Apr|Jun|Jul|"
    r"Aug|Sept?|Oct|Nov|Dec)\b|\b(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov"
    r"|Dec)(?=\.?[-–/]\p{Lu}\p{Ll}\p{Ll})"
)
_WEEKDAY = regex.compile(
    rf"{BEFORE}(?P<day>Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\b(?P<stop>\.?)(?!\p{{L}})"
)
_DAY_NAME = (
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\p{L}{0,6}"
)
_DAY_RANGE = regex.compile(rf"(?<=\b{_DAY_NAME}\.?) ?[-–] ?(?={_DAY_NAME}\b)")
_MONDAY_TO_FRIDAY = regex.compile(r"(?<![\p{L}\p{N}_-])M ?[-–] ?F(?![\p{L}\p{N}_-])")
_DECADE = regex.compile(
    rf"{BEFORE}(?P<century>1[0-9]|20)(?P<decade>\d)0'?s{AFTER}"
    rf"|(?<![\p{{L}}\p{{N}}$£€])['‘’]?(?P<decade>[2-9])0'?s{AFTER}"
)
_SHORT_YEAR = regex.compile(rf"(?<![\p{{L}}\p{{N}}])'(?P<year>\d\d){AFTER}(?!')")
_ERA = r"(?:BC|AD|BCE|CE|B\.C\.(?:E\.)?|A\.D\.|C\.E\.)(?!\p{L})"
_ERA_YEAR = regex.compile(
    rf"{BEFORE}(?P<said>(?P<year>\d{{1,4}})(?:{DASH}(?P<last>\d{{1,4}}))?)(?= {_ERA})"
    rf"|(?<=\bAD )(?P<said>(?P<year>\d{{1,4}})){AFTER}"
)
_YEARS = regex.compile(
    rf"{BEFORE}(?<![-–/$£€])(?P<year>(?:1[0-9]|20)\d\d){DASH}(?P<last>(?:1[0-9]|20)\d\d|\d\d)"
    r"(?![\p{L}\p{N}_%-]|[.,:]\d)"
)
_FISCAL = regex.compile(
    r"(?<![\p{L}\p{N}])(?:FY|CY|Q[1-4] ?|H[12] ?)(?P<said>(?P<year>20\d\d"
    r"|'?\d\d))(?![\p{L}\p{N}]|[.,]\d)"
)
_CUED = regex.compile(
    rf"\b(?i:in|since|until|till|by|before|after|during|from|to|of|year|circa|ca?\.|between"
    rf"|through|"
    r"early|late|mid|summer|winter|spring|fall|autumn|back|for|©|copyright|class|election|vintage|"
    r"anno|model|born|died|est\.|established|founded|around)"
    rf"[ -](?P<said>(?:1[0-9]|20)\d\d){AFTER}"
)
_QUANTITY = regex.compile(
    r" (?:(?:more|other|different|new|such|square|cubic|extra|additional|separate|small|large|old|"
    r"million|billion|thousand|unique|active|registered|individual|online|free) )?"
    r"(?:people|men|women|children|percent|feet|mice|sheep|cattle|staff|fish|euros?|kcal|"
    r"(?!(?:was|is|has|its|this|as|his|us|always|does|yes|versus|thus|perhaps|across|unless|less|"
    r"plus|besides|afterwards|series|class|business|census|olympics|[\p{L}]*(?:ss|us"
    r"|is))\b)\p{Ll}{2,}s)\b"
    r"| ?(?:km|m|cm|mm|mi|ft|in\.|kg|g|lbs?|oz|mL|ml|W|kW|V|Hz|MB|GB|TB|px|rpm|mph|kcal|cal"
    r"|sq)\b| ?[%°x×+*/=<>-]"
)
_CUED_QUANTITY = regex.compile(
    r"(?i)\b(?:about|of|to|for|from|around|between|over|nearly|by|and) $"
)
_BARE_YEAR = regex.compile(rf"{BEFORE}(?<![-–/$£€#+])(?P<year>(?:1[1-9]|20)\d\d){AFTER}")


def _year(written: str, numerals: Numerals) -> str:
    """Return a year of two or four digits in words."""
    written = written.lstrip("'’")
    if len(written) == 2:
        return numerals.year(("19" if written > "50" else "20") + written)
    return numerals.year(written)


def _date(
    day: str, month: int, year: str | None, numerals: Numerals, *, article: bool = True
) -> str | None:
    """Return a date in the order of the accent, or None if there is no such date."""
    number = int(day)
    if not (1 <= number <= 31 and 1 <= month <= 12):
        return None
    return _in_order(numerals.ordinal(number), _MONTHS[month], year, numerals, article)


def _in_order(
    day: str, month: str, year: str | None, numerals: Numerals, article: bool = True
) -> str:
    ending = f", {_year(year, numerals)}" if year else ""
    if numerals.british:
        return f"{'the ' if article else ''}{day} of {month}{ending}"
    return f"{month} {day}{ending}"


def _no_article(match: "regex.Match[str]") -> bool:
    return bool(regex.search(r"(?i)\bthe $", before(match)))


def _iso(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    return _date(match["day"], int(match["month"]), match["year"], numerals,
                 article=not _no_article(match))  # fmt: skip


def _numeric(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    """Return a date of numbers: the month is first in the US, unless that cannot be."""
    first, second = match["first"], match["second"]
    if match["sep"] == "." and len(match["year"]) == 2:
        return None
    day_first = numerals.british or match["sep"] == "."
    if int(first) > 12 or (day_first and int(second) <= 12):
        first, second = second, first
    return _date(second, int(first), match.groupdict().get("year"), numerals,
                 article=not _no_article(match))  # fmt: skip


def _short(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    first, second = int(match["first"]), int(match["second"])
    if (first, second) == (24, 7) or (first == 1 and second in (2, 3, 4)):
        return None
    if numerals.british or first > 12:
        first, second = second, first
    return _date(str(second), first, None, numerals)


def _month(written: str) -> str:
    return _MONTH_OF[written[:3].lower()]


def _days(first: str, last: str | None, numerals: Numerals) -> str | None:
    numbers = [int(day) for day in (first, last) if day]
    if not all(1 <= number <= 31 for number in numbers):
        return None
    return " to ".join(numerals.ordinal(number) for number in numbers)


def _month_of_year(match: "regex.Match[str]", numerals: Numerals) -> str:
    year = match["year"]
    return (
        f"{_MONTHS[int(match['month'])]} {numerals.year(year if len(year) == 4 else '20' + year)}"
    )


def _month_day(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    day = _days(match["day"], match["last"], numerals)
    if day is None:
        return None
    article = "the " if numerals.british else ""
    year = f", {_year(match['year'], numerals)}" if match["year"] else ""
    return f"{_month(match['month'])} {article}{day}{year}"


def _day_month(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    day = _days(match["first"] or match["day"], match["day"] if match["first"] else None, numerals)
    if day is None or (match["month"] in ("May", "March") and not _is_month(match)):
        return None
    article = "" if _no_article(match) else "the "
    year = f", {_year(match['year'], numerals)}" if match["year"] else ""
    stop = full_stop(match) if not year else ""
    return f"{article}{day} of {_month(match['month'])}{year}{stop}"


def _is_month(match: "regex.Match[str]") -> bool:
    """Whether `5 May` is a date and not the end of a sentence before the word."""
    return not regex.match(r" (?:I|we|you|they|he|she|it)\b", after(match))


def _month_year(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{_month(match['month'])} {_year(match['year'], numerals)}"


def _month_alone(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    stop = full_stop(match)
    if stop and not regex.search(
        r"(?i)\b(?:in|since|until|till|by|last|next|of|this|early|late|from|to|through|for|and"
        r"|or) $",
        before(match),
    ):
        return None
    return _month(match[0]) + stop


def _weekday(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    name = f"{_DAY_OF[match['day'][:3].lower()]}"
    stop = full_stop(match)
    following, previous = after(match), before(match)
    in_range = regex.match(rf" ?[-–/&] ?{_DAY_NAME}", following) or regex.search(
        rf"{_DAY_NAME}\.? ?[-–/&,] ?$|\b{_DAY_NAME} (?:to|through|and) $", previous
    )
    dated = regex.match(r",? (?:[A-Z]\p{L}{2,8}\.? )?\d", following)
    certain = match["day"] in ("Tues", "Thu", "Thur", "Thurs") or (
        match["day"] in ("Mon", "Tue", "Wed", "Fri") and match["stop"]
    )
    cued = regex.search(
        r"(?i)\b(?:on|every|next|last|this|by|until|till|since|from|closed|open|and|to|through) $",
        previous,
    )
    if in_range or dated or certain or (cued and (match["stop"] or following[:1] in (",", ";"))):
        return name + stop
    if match["stop"] and regex.match(",", following):
        return name
    return None


def _tens(decade: str, numerals: Numerals) -> str:
    if decade == "1":
        return "tens"
    return numerals.cardinal(int(decade) * 10).removesuffix("y") + "ies"


def _decade(match: "regex.Match[str]", numerals: Numerals) -> str:
    century, decade = match["century"], match["decade"]
    if century is None:
        return _tens(decade, numerals)
    if decade == "0":
        return "two thousands" if century == "20" else f"{numerals.cardinal(int(century))} hundreds"
    return f"{numerals.cardinal(int(century))} {_tens(decade, numerals)}"


def _short_year(match: "regex.Match[str]", numerals: Numerals) -> str:
    return (
        numerals.pairs(match["year"])
        if match["year"][0] != "0"
        else (
            f"oh {numerals.cardinal(int(match['year']))}"
            if match["year"] != "00"
            else "two thousand"
        )
    )


def _era_year(match: "regex.Match[str]", numerals: Numerals) -> str:
    last = match.groupdict().get("last")
    return " to ".join(numerals.year(year) for year in (match["year"], last) if year)


def _years(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if len(match["last"]) == 4 and _QUANTITY.match(after(match)):
        return None
    last = match["last"]
    short = numerals.pairs(last) if last[0] != "0" else f"oh {numerals.cardinal(int(last))}"
    return f"{numerals.year(match['year'])} to {numerals.year(last) if len(last) == 4 else short}"


def _fiscal(match: "regex.Match[str]", numerals: Numerals) -> str:
    year = match["year"]
    return numerals.year(year) if len(year) == 4 else numerals.cardinal(int(year.lstrip("'")))


def _cued(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    near = match.string[max(0, match.start("said") - 12) : match.start("said")]
    if _QUANTITY.match(after(match)) and _CUED_QUANTITY.search(near):
        return None
    if _QUANTITY.match(after(match)) and not regex.match(r" \p{Ll}", after(match)):
        return None
    return numerals.year(match["said"])


def _bare_year(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if _QUANTITY.match(after(match)):
        return None
    return numerals.year(match["year"])


RULES: tuple[Rule, ...] = (
    (_ISO, _iso),
    (_YEAR_FIRST, _iso),
    (_NUMERIC, _numeric),
    (_MONTH_OF_YEAR, _month_of_year),
    (_SHORT, _short),
    (_MONTH_DAY, _month_day),
    (_DAY_MONTH, _day_month),
    (_MONTH_YEAR, _month_year),
    (_MONTH_ALONE, _month_alone),
    (_WEEKDAY, _weekday),
    (_MONDAY_TO_FRIDAY, lambda match, numerals: "Monday to Friday"),
    (_DAY_RANGE, lambda match, numerals: " to "),
    (_DECADE, _decade),
    (regex.compile(r"(?<=\d0'?s)[-–](?=['’]?\d)"), lambda match, numerals: " to "),
    (_SHORT_YEAR, _short_year),
    (_ERA_YEAR, _era_year),
    (_YEARS, _years),
    (_FISCAL, _fiscal),
)
YEARS: tuple[Rule, ...] = ((_CUED, _cued), (_BARE_YEAR, _bare_year))
"""Years on their own. They must come after codes and quantities."""
