"""Amounts of money."""

from functools import lru_cache

import regex
from babel.numbers import get_currency_name

from kokoro_text.english.frame import AFTER, BEFORE, DASH, NUMBER, Rule, is_attributive, minus
from kokoro_text.english.numerals import Numerals, letters, plural

_SYMBOLS = {
    "$": "USD", "£": "GBP", "€": "EUR", "¥": "JPY", "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY",
    "₪": "ILS", "₫": "VND", "฿": "THB", "₦": "NGN", "₱": "PHP", "₴": "UAH", "₸": "KZT", "₡": "CRC",
    "₲": "PYG", "₵": "GHS", "₾": "GEL", "₿": "XBT",
}  # fmt: skip
_PREFIXED = {
    "US$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "HK$": "HKD",
    "S$": "SGD", "NT$": "TWD", "R$": "BRL", "MX$": "MXN", "CN¥": "CNY", "JP¥": "JPY", "Rs.": "INR",
    "Rs": "INR",
}  # fmt: skip
_CODES = (
    "USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|RMB|INR|KRW|RUB|TRY|ILS|THB|NGN|PHP|UAH|SEK|NOK|DKK|PLN|"
    "CZK|HUF|RON|BRL|MXN|ARS|CLP|COP|ZAR|SGD|HKD|TWD|IDR|MYR|VND|AED|SAR|EGP|KES|BTC|ETH"
)
_UNNAMED = {"RMB": ("yuan", "yuan"), "BTC": ("bitcoin", "bitcoins"), "ETH": ("ether", "ether"),
            "XBT": ("bitcoin", "bitcoins")}  # fmt: skip
_SUBUNITS = {"USD": "cent", "EUR": "cent", "AUD": "cent", "CAD": "cent", "NZD": "cent",
             "SGD": "cent", "HKD": "cent", "GBP": "penny", "INR": "paisa"}  # fmt: skip
_PLURALS = {"penny": "pence", "paisa": "paise"}
_SCALES = {"k": "thousand", "m": "million", "mm": "million", "mn": "million", "mio": "million",
           "b": "billion", "bn": "billion", "t": "trillion", "tn": "trillion",
           "trn": "trillion"}  # fmt: skip
_SYMBOL = "(?:" + "|".join(regex.escape(sign) for sign in [*_PREFIXED, *_SYMBOLS]) + ")"
_SCALE = (
    r"(?: ?-?(?P<scale>(?i:thousand|million|billion|trillion|hundred)(?!\p{L})|"
    r"(?:[kKmMbBtT]|mm|MM|[mMbBtT]n|BN|MN|TN|trn|mio)(?![\p{L}\p{N}])))?"
)
_CONTINENTAL = r"(?>(?:\d{1,3}(?:\.\d{3}){1,3}|\d{1,9}),\d\d)(?!\d)"
_MONEY = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}_])(?P<sign>[-–+](?! ))?(?P<symbol>{_SYMBOL}) ?"
    rf"(?P<inner>[-–])?(?P<low>(?<=€ ?){_CONTINENTAL}|{NUMBER})"
    rf"(?:(?P<lowscale>[kKmMbB])?{DASH}(?:{_SYMBOL})?(?P<high>{NUMBER})(?![-–/]\d))?{_SCALE}"
    r"(?:(?P<noun>-)(?=\p{L})|(?P<per> ?/ ?)(?=\p{L})|(?P<plus>\+)?(?![\p{L}\p{N}_]|[.,]\d))"
)
_SYMBOL_AFTER = regex.compile(
    rf"{BEFORE}(?P<sign>[-–+](?! ))?(?:(?P<low>{NUMBER}){DASH})?"
    rf"(?P<high>{_CONTINENTAL}(?= ?€)|{NUMBER}){_SCALE} ?(?P<symbol>[£€¥₹₩₽₺₪₫฿₦₱₴]"
    rf"|\$(?!\d))(?![\p{{L}}\p{{N}}_])"
)
_CODE_BEFORE = regex.compile(
    rf"{BEFORE}(?P<symbol>{_CODES}) ?(?P<sign>[-–])?(?P<low>{NUMBER})(?:{DASH}(?P<high>{NUMBER}))?"
    rf"{_SCALE}{AFTER}"
)
_CODE_AFTER = regex.compile(
    rf"{BEFORE}(?P<sign>[-–+](?! ))?(?:(?P<low>{NUMBER}){DASH})?"
    rf"(?P<high>{NUMBER}){_SCALE} ?(?P<symbol>{_CODES}){AFTER}"
)
_NOTES = regex.compile(r"(?<![\p{L}\p{N}])[$£€](?P<value>\d{1,4})'?s(?![\p{L}\p{N}])")
_CENTS = regex.compile(rf"{BEFORE}(?:(?P<low>{NUMBER}){DASH})?(?P<high>{NUMBER}) ?¢")
_PENCE = regex.compile(
    rf"{BEFORE}(?:(?P<low>{NUMBER}){DASH})?(?P<high>{NUMBER})p(?![\p{{L}}\p{{N}}])"
)


@lru_cache(maxsize=256)
def _name(code: str, plural: bool) -> str:
    """Return a currency's full name in words, for example `U S dollars`."""
    if code in _UNNAMED:
        return _UNNAMED[code][plural]
    name = get_currency_name(code, count=2 if plural else 1, locale="en")
    return " ".join(letters(word) if word == "US" else word for word in name.split())


def _unit(symbol: str, plural: bool) -> str:
    """Return the currency for a symbol. `$` is a dollar, and `US$` is a U S dollar."""
    if symbol in _SYMBOLS:
        return _name(_SYMBOLS[symbol], plural).split()[-1].lower()
    return _name(_PREFIXED.get(symbol, symbol), plural)


def _subunits(count: int, code: str, singular: bool) -> tuple[int, str]:
    name = _SUBUNITS[code]
    return count, name if count == 1 or singular else _PLURALS.get(name, f"{name}s")


def _amount(match: "regex.Match[str]", numerals: Numerals) -> str:
    groups = match.groupdict()
    low, high, symbol = groups.get("low"), groups.get("high"), match["symbol"]
    scale = groups.get("scale")
    attributive = bool(groups.get("noun")) or is_attributive(match)
    sign = minus(groups.get("sign") or groups.get("inner"))
    said = ""
    if low and high:
        said = f"{_plain(low, numerals)} {_scale(groups.get('lowscale'))} to "
    last = high or low or ""
    said += _full(last, scale, symbol, attributive, numerals)
    ending = " plus" if groups.get("plus") else ""
    return f"{sign}{said}{ending}{' per ' if groups.get('per') else ' '}"


def _scale(written: str | None) -> str:
    return _SCALES.get(written.lower(), written.lower()) if written else ""


def _plain(number: str, numerals: Numerals) -> str:
    return numerals.number(number.removesuffix(".00"))


def _full(
    number: str, scale: str | None, symbol: str, attributive: bool, numerals: Numerals
) -> str:
    code = _SYMBOLS.get(symbol) or _PREFIXED.get(symbol, symbol)
    if symbol == "€" and regex.fullmatch(r"[\d.]+,\d\d", number):
        number = number.replace(".", "").replace(",", ".")
    whole, _, cents = number.replace(",", "").partition(".")
    if scale or len(cents) > 2 or (cents.strip("0") and code not in _SUBUNITS):
        plural = not attributive
        return f"{numerals.number(number)} {_scale(scale)} {_unit(symbol, plural)}"
    units = int(whole or 0)
    unit = _unit(symbol, plural=units != 1 and not attributive)
    parts: list[str] = []
    if units or not cents.strip("0"):
        parts.append(f"{_plain(whole, numerals)} {unit}")
    if cents.strip("0"):
        count, name = _subunits(int(cents.ljust(2, "0")), code, attributive)
        short = code == "GBP" and parts and count > 9
        parts.append(numerals.cardinal(count) + ("" if short else f" {name}"))
        if short:
            return " ".join(parts)
    return " and ".join(parts)


def _cents(match: "regex.Match[str]", numerals: Numerals) -> str:
    low = f"{numerals.number(match['low'])} to " if match["low"] else ""
    singular = match["high"] == "1" or is_attributive(match)
    return f"{low}{numerals.number(match['high'])} {'cent' if singular else 'cents'}"


def _pence(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if not numerals.british:
        return None
    low = f"{numerals.number(match['low'])} to " if match["low"] else ""
    return f"{low}{numerals.number(match['high'])} {'penny' if match['high'] == '1' else 'pence'}"


def _notes(match: "regex.Match[str]", numerals: Numerals) -> str:
    """Return banknotes by their value, as in `two $20s`."""
    return plural(numerals.number(match["value"]))


RULES: tuple[Rule, ...] = (
    (_NOTES, _notes),
    (_MONEY, _amount),
    (_SYMBOL_AFTER, _amount),
    (_CODE_BEFORE, _amount),
    (_CODE_AFTER, _amount),
    (_CENTS, _cents),
    (_PENCE, _pence),
)
