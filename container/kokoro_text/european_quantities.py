"""Money, measurements, percentages and fractions."""

from collections.abc import Iterable
from functools import cache

import regex
from babel.numbers import get_currency_name
from babel.units import format_unit

from kokoro_text.european_language import Language
from kokoro_text.european_numbers import (
    NUMBER,
    NUMBER_START,
    Number,
    cardinal,
    counted,
    decimal,
    integer,
    noun_after,
    parse,
)
from kokoro_text.reading import Rewriter

_CODES = (
    "EUR|USD|GBP|JPY|BRL|MXN|ARS|CLP|COP|PEN|UYU|CHF|CAD|AUD|CNY|INR|RUB|SEK|NOK|DKK|PLN|CZK|MAD"
)
_SIGNS = {
    "R$": "BRL",
    "US$": "USD",
    "U$S": "USD",
    "MX$": "MXN",
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "₽": "RUB",
}
_PERCENTAGE = regex.compile(rf"{NUMBER_START}(?<number>{NUMBER}) ?(?<sign>[%‰])")
_NAMED = regex.compile(r" (?:pesos|d[oó]lares|euros?|reais|soles|dollars|dollari)(?!\p{L})")
_UNITS = {
    "km/h": "speed-kilometer-per-hour",
    "mph": "speed-mile-per-hour",
    "m/s": "speed-meter-per-second",
    "mg/dl": "concentr-milligram-ofglucose-per-deciliter",
    "mg/dL": "concentr-milligram-ofglucose-per-deciliter",
    "mmol/l": "concentr-millimole-per-liter",
    "mmol/L": "concentr-millimole-per-liter",
    "mmHg": "pressure-millimeter-ofhg",
    "km²": "area-square-kilometer",
    "km2": "area-square-kilometer",
    "m²": "area-square-meter",
    "m2": "area-square-meter",
    "cm²": "area-square-centimeter",
    "cm2": "area-square-centimeter",
    "m³": "volume-cubic-meter",
    "m3": "volume-cubic-meter",
    "cm³": "volume-cubic-centimeter",
    "ha": "area-hectare",
    "km": "length-kilometer",
    "cm": "length-centimeter",
    "mm": "length-millimeter",
    "m": "length-meter",
    "kg": "mass-kilogram",
    "Kg": "mass-kilogram",
    "mg": "mass-milligram",
    "µg": "mass-microgram",
    "μg": "mass-microgram",
    "g": "mass-gram",
    "t": "mass-tonne",
    "lb": "mass-pound",
    "oz": "mass-ounce",
    "ml": "volume-milliliter",
    "mL": "volume-milliliter",
    "cl": "volume-centiliter",
    "dl": "volume-deciliter",
    "l": "volume-liter",
    "L": "volume-liter",
    "°C": "temperature-celsius",
    "ºC": "temperature-celsius",
    "°F": "temperature-fahrenheit",
    "ºF": "temperature-fahrenheit",
    "kWh": "energy-kilowatt-hour",
    "kcal": "energy-kilocalorie",
    "kJ": "energy-kilojoule",
    "kW": "power-kilowatt",
    "MW": "power-megawatt",
    "W": "power-watt",
    "V": "electric-volt",
    "mAh": "electric-milliampere",
    "Hz": "frequency-hertz",
    "kHz": "frequency-kilohertz",
    "MHz": "frequency-megahertz",
    "GHz": "frequency-gigahertz",
    "mA": "electric-milliampere",
    "J": "energy-joule",
    "cal": "energy-calorie",
    "bar": "pressure-bar",
    "kPa": "pressure-kilopascal",
    "ppm": "concentr-permillion",
    "CV": "power-horsepower",
    "Mb": "digital-megabit",
    "Gb": "digital-gigabit",
    "Mbps": "Mbps",
    "Gbps": "Gbps",
    "dB": "dB",
    "bpm": "bpm",
    "rpm": "rpm",
    "hPa": "pressure-hectopascal",
    "kB": "digital-kilobyte",
    "KB": "digital-kilobyte",
    "MB": "digital-megabyte",
    "GB": "digital-gigabyte",
    "TB": "digital-terabyte",
    "px": "graphics-pixel",
    "h": "duration-hour",
    "hs": "duration-hour",
    "hrs": "duration-hour",
    "min": "duration-minute",
    "seg": "duration-second",
    "s": "duration-second",
    "ms": "duration-millisecond",
}


def money(rewriter: Rewriter, language: Language) -> None:
    """Read amounts of money, with the sign before or after the number."""

    def say(match: "regex.Match[str]") -> str:
        number = parse(match["number"], comma_groups="$" in match["sign"])
        if _NAMED.match(match.string, match.end()):
            return decimal(language, number)
        sign = match.groupdict().get("code") or match["sign"]
        currency = _SIGNS.get(sign, sign)
        nouns = _currency(language, currency, bare=sign in _SIGNS)
        said = _amount(language, number, match["scale"], nouns, currency)
        return said + _per(language, match["per"])

    for pattern in _amounts_of_money(language):
        rewriter.rule(pattern, say)


@cache
def _amounts_of_money(language: Language) -> "tuple[regex.Pattern[str], regex.Pattern[str]]":
    sign = rf"(?<sign>{_alternatives(_SIGNS)}|(?:{_CODES})(?!\p{{L}}))"
    scale = rf"(?: ?(?<scale>{_alternatives(language.scales)})(?![\p{{L}}\d])\.?)?"
    per = rf"(?: ?/ ?(?<per>{_symbols(language)}|\p{{Ll}}{{2,12}})(?![\p{{L}}\d]))?"
    number = rf"{NUMBER_START}(?<number>{NUMBER}){scale}"
    return (
        regex.compile(rf"(?<!\p{{L}}){sign} ?{number}(?: (?<code>{_CODES})(?!\p{{L}}))?{per}"),
        regex.compile(rf"{number} ?(?:de |di |d')?{sign}{per}"),
    )


def _amount(
    language: Language, number: Number, scale: str | None, nouns: tuple[str, str], currency: str
) -> str:
    if scale:
        words = counted(language, number, language.scales[scale])
        thousand = language.scales[scale][0] in ("mil", "mille", "mila")
        return f"{words} {nouns[1] if thousand else language.of(nouns[1])}"
    if len(number.fraction) > 2:
        return counted(language, number, nouns)
    whole = counted(language, Number(number.whole), nouns)
    minor = int(number.fraction.ljust(2, "0"))
    if minor == 0:
        return whole
    cents = language.cents.get(currency, language.cents[""])
    if not number.whole.strip("0"):
        return counted(language, Number(str(minor)), cents)
    noun = cents[minor != 1]
    return language.amount(whole, integer(language, str(minor), noun), noun)


@cache
def _currency(language: Language, code: str, bare: bool) -> tuple[str, str]:
    """Return singular and plural of a currency. If `bare`, without the country."""
    if bare and code in language.bare_currencies:
        return language.bare_currencies[code]
    one, other = (
        get_currency_name(code, count, language.locale).lower().split() for count in (1, 2)
    )
    return (one[0], other[0]) if bare else (" ".join(one), " ".join(other))


def units(rewriter: Rewriter, language: Language) -> None:
    """Read numbers with the symbol of a unit, and the sign between dimensions before one."""

    def measure(match: "regex.Match[str]") -> str:
        nouns = _unit(language, match["unit"])
        return counted(language, parse(match["number"]), nouns) + _per(language, match["per"])

    measurement, between_dimensions = _measurements(language)
    rewriter.rule(measurement, measure)
    rewriter.rule(between_dimensions, lambda match: f" {language.signs['×']} ")


@cache
def _measurements(language: Language) -> "tuple[regex.Pattern[str], regex.Pattern[str]]":
    symbol = rf"(?:{_symbols(language)})(?![\p{{L}}\d²³'])"
    more = r"(?: ?[x×] ?[\d.,]{1,9})?"
    return (
        regex.compile(
            rf"{NUMBER_START}(?<number>{NUMBER}) ?(?<unit>{_symbols(language)})(?![\p{{L}}\d²³'])"
            rf"(?: ?/ ?(?<per>{symbol}|\p{{Ll}}{{2,12}}(?!\p{{L}})))?"
        ),
        regex.compile(rf"(?<=\d) ?(?<said>[x×]) ?(?=[\d.,]{{1,9}}{more} ?{symbol})"),
    )


def percentages(rewriter: Rewriter, language: Language) -> None:
    """Read numbers with a per cent or per mille sign."""

    def say(match: "regex.Match[str]") -> str:
        words = decimal(language, parse(match["number"]))
        return f"{words} {language.percent if match['sign'] == '%' else language.per_mille}"

    rewriter.rule(_PERCENTAGE, say)


_VULGAR = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅛": (1, 8)}


def fractions(rewriter: Rewriter, language: Language) -> None:
    """Read fractions such as 3/4, and scores such as 15/20."""

    def say(match: "regex.Match[str]") -> str | None:
        if match["vulgar"]:
            above, below = _VULGAR[match["vulgar"]]
        else:
            above, below = int(match["above"]), int(match["below"])
        whole, unit = match["whole"], match["unit"]
        nouns = _unit(language, unit) if unit else None
        noun = nouns[0] if nouns else match["noun"] or noun_after(language, match)
        if match[0].endswith("24/7"):
            return f"{cardinal(language, 24)} {cardinal(language, 7)}"
        if not 0 < above < below <= 10 or (below > 4 and not noun and above > 1 and not whole):
            if unit:
                return None
            said = f"{cardinal(language, above)} {language.over} {cardinal(language, below)}"
            return f"{cardinal(language, int(whole))} {said}" if whole else said
        gender = language.gender(noun) if noun else "m"
        said = language.half[gender] if below == 2 else _parts(language, above, below)
        if whole and below == 2 and noun and (nouns or whole != "1"):
            nouns = nouns or (noun, noun)
            return f"{counted(language, Number(whole), nouns)} {language.and_half[gender]}"
        if whole:
            more = language.and_half[gender] if below == 2 else f"{language.and_a} {said}"
            said = f"{integer(language, whole, noun)} {more}"
            nouns = nouns or ((match["noun"],) * 2 if match["noun"] else None)
            return f"{said} {nouns[0]}" if nouns else said
        if nouns:
            return f"{said} {nouns[0] if below == 2 else language.of(nouns[0])}"
        return said

    rewriter.rule(_fraction(language), say)


@cache
def _fraction(language: Language) -> "regex.Pattern[str]":
    return regex.compile(
        r"(?<![\d/.,])(?:(?<whole>\d{1,3}) ?(?=\d{1,2}/|[½⅓⅔¼¾⅛])(?<=[ \d]))?"
        r"(?:(?<above>(?<!\d)\d{1,2})/(?<below>\d{1,2})|(?<vulgar>[½⅓⅔¼¾⅛]))(?![\d/])"
        rf"(?: ?(?<unit>{_symbols(language)})(?![\p{{L}}\d²³'])"
        r"|(?(whole)(?<=½|1/2)|(?!)) (?<noun>\p{Ll}{2,30}))?"
    )


def _parts(language: Language, above: int, below: int) -> str:
    one, more = language.fractions.get(below) or (
        language.ordinal(below, "m", ""),
        language.plural(language.ordinal(below, "m", "")),
    )
    return f"{integer(language, str(above), one)} {one if above == 1 else more}"


def scales(rewriter: Rewriter, language: Language) -> None:
    """Read numbers with the abbreviation of a large number, as in `3 mln`."""

    def say(match: "regex.Match[str]") -> str:
        return counted(language, parse(match["number"]), language.scales[match["scale"]])

    rewriter.rule(_scaled(language), say)


@cache
def _scaled(language: Language) -> "regex.Pattern[str]":
    names = [name for name, nouns in language.scales.items() if len(name) > 1 and name not in nouns]
    return regex.compile(
        rf"{NUMBER_START}(?<number>{NUMBER}) ?(?<scale>{_alternatives(names)})(?!\p{{L}})\.?"
    )


def _per(language: Language, unit: str | None) -> str:
    if not unit:
        return ""
    noun = _unit(language, unit)[0] if unit in _unit_names(language) else unit
    return f" {language.per(noun)}"


@cache
def _unit_names(language: Language) -> dict[str, str]:
    return _UNITS | dict(language.units)


def _unit(language: Language, symbol: str) -> tuple[str, str]:
    """Return singular and plural of the unit with `symbol`."""
    return _named_unit(language, _unit_names(language)[symbol])


@cache
def _named_unit(language: Language, name: str) -> tuple[str, str]:
    """Return singular and plural of a unit, which is named as in CLDR."""
    if name in language.unit_names:
        return language.unit_names[name]
    one, other = (
        format_unit(count, name, "long", locale=language.locale).replace("\u2019", "'")
        for count in (1, 2)
    )
    return one.lstrip("1 \xa0\u202f"), other.lstrip("2 \xa0\u202f")


def degrees(language: Language, number: Number) -> str:
    """Return the words for a number of degrees, without a scale."""
    return counted(language, number, _named_unit(language, "angle-degree"))


def unit_noun(language: Language, symbol: str) -> str:
    """Return the plural of a unit, or `symbol` if it is none."""
    return _unit(language, symbol)[1] if symbol in _unit_names(language) else symbol


@cache
def _symbols(language: Language) -> str:
    return _alternatives(_unit_names(language))


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(map(regex.escape, sorted(words, key=len, reverse=True)))
