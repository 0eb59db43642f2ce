"""Quantities with units, temperatures, percentages and dimensions."""

import unicodedata
from functools import lru_cache

import regex
from babel.units import format_unit

from kokoro_text.english.frame import (
    BEFORE,
    DASH,
    NUMBER,
    Rule,
    after,
    around,
    before,
    full_stop,
    is_attributive,
    minus,
)
from kokoro_text.english.numerals import Numerals

_CLDR = {
    "length-kilometer": "km", "length-meter": "m", "length-centimeter": "cm",
    "length-millimeter": "mm", "length-micrometer": "μm um", "length-nanometer": "nm",
    "length-inch": "in", "length-foot": "ft", "length-yard": "yd yds", "length-mile": "mi",
    "area-square-kilometer": "km² km2 sqkm", "area-square-meter": "m² m2 sqm",
    "area-square-centimeter": "cm² cm2", "area-square-foot": "ft² ft2 sqft",
    "area-square-inch": "in²", "area-square-mile": "mi²", "area-hectare": "ha",
    "volume-cubic-meter": "m³ m3", "volume-cubic-centimeter": "cm³ cm3 cc",
    "volume-cubic-foot": "ft³", "volume-liter": "l L", "volume-milliliter": "ml mL",
    "volume-centiliter": "cl cL", "volume-deciliter": "dl dL", "volume-gallon": "gal",
    "volume-quart": "qt qts", "volume-pint": "pt", "volume-tablespoon": "tbsp tbsps Tbsp",
    "volume-teaspoon": "tsp tsps", "mass-kilogram": "kg kgs", "mass-gram": "g",
    "mass-milligram": "mg", "mass-microgram": "μg mcg ug", "mass-pound": "lb lbs",
    "mass-ounce": "oz",
    "mass-stone": "st", "duration-second": "s sec secs", "duration-minute": "min mins",
    "duration-hour": "h hr hrs", "duration-day": "d", "duration-week": "wk wks",
    "duration-month": "mo mos", "duration-year": "yr yrs", "duration-millisecond": "ms msec",
    "duration-microsecond": "μs", "duration-nanosecond": "ns", "digital-bit": "bit bits",
    "digital-kilobyte": "KB kB", "digital-megabyte": "MB", "digital-gigabyte": "GB",
    "digital-terabyte": "TB", "digital-petabyte": "PB", "digital-kilobit": "kb Kb kbit",
    "digital-megabit": "Mb Mbit", "digital-gigabit": "Gb Gbit", "frequency-hertz": "Hz",
    "frequency-kilohertz": "kHz KHz", "frequency-megahertz": "MHz", "frequency-gigahertz": "GHz",
    "power-watt": "W", "power-kilowatt": "kW KW", "power-megawatt": "MW", "power-gigawatt": "GW",
    "power-milliwatt": "mW", "power-horsepower": "hp HP", "energy-kilowatt-hour": "kWh KWh",
    "energy-kilocalorie": "kcal", "energy-calorie": "cal cals", "energy-joule": "J",
    "energy-kilojoule": "kJ", "electric-volt": "V", "electric-milliampere": "mA",
    "electric-ohm": "Ω", "speed-kilometer-per-hour": "km/h kmh kph kmph",
    "speed-mile-per-hour": "mph MPH", "speed-meter-per-second": "m/s", "speed-knot": "kn kt kts",
    "acceleration-meter-per-square-second": "m/s²",
    "consumption-mile-per-gallon": "mpg MPG", "pressure-hectopascal": "hPa",
    "pressure-millibar": "mbar", "pressure-bar": "bar", "graphics-pixel": "px",
    "graphics-megapixel": "MP", "concentr-karat": "kt.", "light-lumen": "lm", "light-lux": "lx",
}  # fmt: skip
_OWN = {
    "pts": ("point", "points"),
    "dB": ("decibel", "decibels"), "mV": ("millivolt", "millivolts"),
    "Wh": ("watt hour", "watt hours"),
    "kV": ("kilovolt", "kilovolts"), "kΩ": ("kiloohm", "kiloohms"),
    "MWh": ("megawatt hour", "megawatt hours"),
    "Kbps": ("kilobit per second", "kilobits per second"),
    "kbps": ("kilobit per second", "kilobits per second"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Mb/s": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"),
    "mAh": ("milliamp hour", "milliamp hours"),
    "MB/s": ("megabyte per second", "megabytes per second"),
    "GB/s": ("gigabyte per second", "gigabytes per second"),
    "mbps": ("megabit per second", "megabits per second"), "kPa": ("kilopascal", "kilopascals"),
    "MPa": ("megapascal", "megapascals"), "Pa": ("pascal", "pascals"), "N": ("newton", "newtons"),
    "mol": ("mole", "moles"), "Nm": ("newton meter", "newton meters"),
    "nmi": ("nautical mile", "nautical miles"),
    "sq ft": ("square foot", "square feet"), "sq. ft": ("square foot", "square feet"),
    "sq m": ("square meter", "square meters"),
    "sq km": ("square kilometer", "square kilometers"),
    "sq mi": ("square mile", "square miles"), "sq in": ("square inch", "square inches"),
    "cu ft": ("cubic foot", "cubic feet"), "fl oz": ("fluid ounce", "fluid ounces"),
    "fl. oz": ("fluid ounce", "fluid ounces"),
    "ft/s": ("foot per second", "feet per second"), "mi/h": ("mile per hour", "miles per hour"),
    "mg/dL": ("milligram per deciliter", "milligrams per deciliter"),
    "mmHg": ("millimeter of mercury", "millimeters of mercury"),
    "g/L": ("gram per liter", "grams per liter"),
    "mg/kg": ("milligram per kilogram", "milligrams per kilogram"),
    "g/kg": ("gram per kilogram", "grams per kilogram"), "doz": ("dozen", "dozen"),
    "kHz.": ("", ""),
    "IU": ("I U", "I Us"), "ct": ("carat", "carats"),
}  # fmt: skip
_UNITS = {symbol: name for name, symbols in _CLDR.items() for symbol in symbols.split()}
_PREPOSITION = "in"
_GLUED_ONLY = {"d", "N", "h", "J", "s", "bar", "MP", "kt.", "kHz.", "ct", "m2", "V", "L", "W"}
_SYMBOLS = "|".join(
    regex.escape(symbol)
    for symbol in sorted([*_UNITS, *_OWN], key=len, reverse=True)
    if not symbol.endswith(".")
)
_FRACTION = (
    r"\d{1,3}(?: \d{3}){1,4}(?!\d)|(?:\d{1,3} )?\d{1,2}/\d{1,2}(?![\d/])|\d{0,4}[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]"
)
_SIGN = r"(?P<sign>(?<![\p{L}\p{N}_)\]%°.])[-–+](?=[\d.]))?"
_RANGE = (
    rf"{_SIGN}(?:{BEFORE}|(?<=\d ?[x×]))"
    rf"(?:(?P<low>{NUMBER})(?:{DASH}|(?P<to> to ))(?P<lowsign>[-–](?=\d))?)?"
    rf"(?P<high>{_FRACTION}|{NUMBER})"
)
_QUANTITY = regex.compile(
    rf"{_RANGE}(?P<gap>[ -]?)(?P<unit>{_SYMBOLS})(?P<stop>\.?)"
    r"(?![\p{L}\p{N}_²³]|[-–]\p{N}|'|\.\p{L})(?P<each>/(?=\p{L}))?"
)
_DEGREES = regex.compile(rf"{_RANGE} ?(?:°|º|˚|℃|℉) ?(?P<scale>[CFK](?!\p{{L}}))?")
_BARE_DEGREES = regex.compile(
    rf"{_SIGN}{BEFORE}(?:(?P<low>{NUMBER}){DASH})?(?P<high>\d{{1,4}}(?:\.\d{{1,2}})?) ?"
    rf"(?P<scale>[CF])"
    r"(?![\p{L}\p{N}_#+'-]|\.\p{L})"
)
_WARMTH = regex.compile(
    r"(?i)\b(?:at|to|of|below|above|around|about|is|was|hit|hits|reach|reached|reaches|between|and|"
    r"under|over|be|near|from|temperature|it's|until|by|high|low|oven|than|a|feels like)[:,]? ?$"
)
_PERCENT = regex.compile(rf"{_RANGE} ?(?:%|٪)(?![\p{{L}}])(?P<points> ?pts?\b)?")
_PER_MILLE = regex.compile(rf"{_RANGE} ?‰")
_FORMAT = regex.compile(r"%(?=\p{L}\b)")
_FOOT_INCH = regex.compile(
    rf"{BEFORE}(?P<feet>\d{{1,3}})(?:'|’) ?(?P<inches>\d{{1,2}}(?:\.\d)?)(?:\"|”"
    rf"|'')?(?![\p{{L}}\p{{N}}])"
)
_FEET = regex.compile(
    rf"{BEFORE}(?P<feet>{NUMBER})'(?=(?: ?[x×]| (?:tall|long|wide|high|deep|of|by|ladder|ceiling"
    rf"|board|"
    rf"fence)|-)\b)|(?<=[x×] ?)(?P<feet>{NUMBER})'(?![\p{{L}}\p{{N}}])"
)
_INCHES = regex.compile(rf"{BEFORE}(?P<inches>{_FRACTION}|{NUMBER})(?P<mark>\"|”)")
_BY = regex.compile(
    r"(?<=\d['\"”]?(?: ?(?:cm|mm|m|in|ft|km)\.?)?)(?P<said> ?(?:[x×✕*]) ?)(?=[\d.])"
)
_MULTIPLE = regex.compile(
    rf"{BEFORE}(?P<number>{NUMBER})(?:[x×])(?= (?:faster|slower|more|less|fewer|better|bigger"
    rf"|larger|"
    r"smaller|cheaper|higher|lower|longer|shorter|quicker|stronger|heavier|lighter|as|the|speed"
    r"|zoom|"
    r"growth|returns?|improvement|increase|optical|daily|weekly|a\b|per\b|magnification|revenue|"
    r"leverage|that|your|our|this)|[.,;!?)]|$)"
)
_PER_NAMED_UNIT = regex.compile(
    r"(?<=\bper )(?P<said>GB|MB|TB|kg|km|lb|oz|gal|kWh|hr|mi|sq ft|min|sec|mL|ml|g)(?![\p{L}\p{N}])"
)
_BLOOD_PRESSURE = regex.compile(r"(?<=\d{2,3}/\d{2,3}) ?mmHg(?![\p{L}\p{N}])")
_COMPASS_POINT = regex.compile(r"(?<=°[\d.,'″\" ]{0,12})[NSEW](?![\p{L}\p{N}])")
_COMPASS = {"N": " north", "S": " south", "E": " east", "W": " west"}
_PER_UNIT = regex.compile(
    r"(?<=\d[\p{L}$€£°]{0,3}(?: \p{L}{1,10})? ?/ ?|\d (?:dollars|euros|pounds|cents|miles) per )"
    r"(?P<said>gal|hr|hrs|h|mo|yr|lb|lbs|kg|oz|sq ft|sqft|wk|min|sec|s|mi|km|GB|MB|g|L|l|m²|m|mL"
    r"|ml|kWh)"
    r"(?![\p{L}\p{N}])"
)


@lru_cache(maxsize=1024)
def _unit(symbol: str, plural: bool, locale: str) -> str:
    """Return the name of a unit."""
    if symbol in _OWN:
        name = _OWN[symbol][plural]
        return (
            name.replace("meter", "metre").replace("liter", "litre") if locale == "en_GB" else name
        )
    said: str = format_unit(2 if plural else 1, _UNITS[symbol], "long", locale=locale)
    return said.replace("2 ", "", 1) if plural else said.replace("1 ", "", 1)


def fraction_or_number(written: str, numerals: Numerals) -> tuple[str, bool, bool]:
    """Return a number in words, whether it is a fraction below one, and whether it is plural."""
    if not regex.search("[/½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]", written):
        return numerals.number(written), False, written not in ("1", "1.0")
    parts = regex.match(r"(?:(\d{1,4}) ?(?=\d/|[½-⅞¼¾]|\d\d/)|)(.+)", written)
    whole, part = (parts[1], parts[2]) if parts else (None, written)
    if whole is None and regex.fullmatch(r"\d+ \d+/\d+", written):
        whole, part = written.split(" ")
    said = fraction(part, numerals)
    if whole:
        article = {"one half": "a half", "one quarter": "a quarter", "one third": "a third"}
        return f"{numerals.number(whole)} and {article.get(said, said)}", False, True
    return said, True, False


def fraction(written: str, numerals: Numerals) -> str:
    """Return a fraction such as `2/3` or `⅔` in words."""
    plain = unicodedata.normalize("NFKC", written).replace("⁄", "/")
    above, _, below = plain.partition("/")
    count, parts = int(above), int(below)
    if parts == 1 or parts == 0 or len(above) > 3 or len(below) > 4:
        return f"{numerals.number(above)} over {numerals.number(below)}"
    name = {2: "half", 4: "quarter"}.get(parts) or numerals.ordinal(parts)
    if count != 1:
        name = "halves" if parts == 2 else f"{name}s"
    return f"{numerals.cardinal(count)} {name}"


def _low(match: "regex.Match[str]", numerals: Numerals) -> str:
    if not match["low"]:
        return minus(match["sign"])
    return f"{minus(match['sign'])}{numerals.number(match['low'])} to {minus(match['lowsign'])}"


def _quantity(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    symbol, gap, stop = match["unit"], match["gap"], match["stop"]
    if symbol == _PREPOSITION and not (stop or gap == "-" or match["high"].endswith('"')):
        return (
            None if gap or not regex.match(r"$|[ ,;)]", after(match)) else _inches(match, numerals)
        )
    if symbol in _GLUED_ONLY and gap == " " and symbol not in ("L", "W", "V", "s", "h"):
        return None
    if symbol in ("V", "W", "L", "J", "N") and (gap == "-" or (gap and stop)):
        return None
    if symbol == "st" and not regex.match(r" \d{1,2} ?lb", after(match)):
        return None
    if symbol == "s" and not gap and regex.fullmatch(r"[\d,]+0", match["high"]):
        return None
    return _with_unit(match, symbol, numerals)


def _inches(match: "regex.Match[str]", numerals: Numerals) -> str:
    return _with_unit(match, "in", numerals)


def _with_unit(match: "regex.Match[str]", symbol: str, numerals: Numerals) -> str:
    said, below_one, plural = fraction_or_number(match["high"], numerals)
    attributive = match["gap"] == "-" or is_attributive(match)
    unit = _unit(symbol, plural and not attributive, numerals.locale)
    if below_one:
        article = "an" if unit[0] in "aeio" or unit.startswith("hour") else "a"
        unit = _unit(symbol, False, numerals.locale)
        before_noun = regex.match(
            r" (?!of|from|to|in|on|at|and|or|is|was|away|per|a|the)\p{Ll}", after(match)
        )
        if said == "one half":
            said = said.removeprefix("one ") if attributive else f"half {article}"
        elif attributive or before_noun or said.startswith("one "):
            said = "three quarter" if said == "three quarters" else said
        else:
            said = f"{said} of {article}"
    stop = full_stop(match)
    return f"{_low(match, numerals)}{said} {unit}{stop}{' per ' if match['each'] else ''}"


def _degrees(match: "regex.Match[str]", numerals: Numerals) -> str:
    said, _, plural = fraction_or_number(match["high"], numerals)
    degrees = "degrees" if plural and not is_attributive(match) else "degree"
    scale = {"C": " Celsius", "F": " Fahrenheit", "K": " Kelvin"}.get(match["scale"] or "", "")
    return f"{_low(match, numerals)}{said} {degrees}{scale} "


def _bare_degrees(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if not _WARMTH.search(before(match)) or regex.match(
        r" (?:grades?|students?|cup|\p{Lu})", after(match)
    ):
        return None
    if regex.search(r"(?i)\ba $", before(match)) and match["scale"] == "C":
        return None
    low = f"{minus(match['sign'])}{numerals.number(match['low'])} to " if match["low"] else ""
    sign = "" if low else minus(match["sign"])
    degrees = "degree" if match["high"] == "1" else "degrees"
    scale = "Celsius" if match["scale"] == "C" else "Fahrenheit"
    return f"{low}{sign}{numerals.number(match['high'])} {degrees} {scale}"


def _percent(match: "regex.Match[str]", numerals: Numerals) -> str:
    said, _, _ = fraction_or_number(match["high"], numerals)
    points = " points" if match.groupdict().get("points") else ""
    return f"{_low(match, numerals)}{said} percent{points} "


def _per_mille(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{_low(match, numerals)}{fraction_or_number(match['high'], numerals)[0]} per mille "


def _foot_inch(match: "regex.Match[str]", numerals: Numerals) -> str:
    return f"{numerals.number(match['feet'])} foot {numerals.number(match['inches'])}"


def _feet(match: "regex.Match[str]", numerals: Numerals) -> str:
    unit = "foot" if match["feet"] == "1" or is_attributive(match) else "feet"
    return f"{numerals.number(match['feet'])} {unit}"


def _inch_mark(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    """Return inches, unless the mark closes a quotation."""
    previous = match.string[max(0, match.start() - 400) : match.start()]
    opened = (
        len(regex.findall(r'(?<!\d)"', previous)) % 2
        if match["mark"] == '"'
        else previous.count("“") > previous.count("”")
    )
    if opened:
        return None
    said, below_one, plural = fraction_or_number(match["inches"], numerals)
    unit = "inch" if below_one or not plural or is_attributive(match) else "inches"
    return f"{'three quarter' if said == 'three quarters' else said} {unit}"


def _by(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    """Say `by` between dimensions, and leave products to later rules."""
    following = match.string[match.end("said") : match.end("said") + 30]
    chain = regex.match(r"[\d.]+['\"]? ?[x×] ?\d", following) or regex.search(
        r"[x×] ?[\d.]+['\"]?$", match.string[max(0, match.start() - 20) : match.start()]
    )
    measured = regex.match(rf"[\d.]+['\"]? ?(?:{_SYMBOLS})?\b", following)
    sign = match["said"].strip()
    if regex.match(r"[\d.,]+ ?(?:=|\^)", following) or sign == "*":
        return None
    if sign == "x" or chain:
        return " by "
    unit = regex.match(rf"[\d.]+(?:['\"]| ?(?:{_SYMBOLS})(?!\p{{L}}))", following)
    return " by " if measured and unit else None


def _multiple(match: "regex.Match[str]", numerals: Numerals) -> str | None:
    if regex.search(r"[=+<>≤≥]", around(match)) and regex.match("[.,;!?)]|$", after(match)):
        return None
    return f"{numerals.number(match['number'])} times"


def _per_unit(match: "regex.Match[str]", numerals: Numerals) -> str:
    return _unit(match["said"], False, numerals.locale)


RULES: tuple[Rule, ...] = (
    (_PERCENT, _percent),
    (_PER_MILLE, _per_mille),
    (_FORMAT, lambda match, numerals: "percent "),
    (_DEGREES, _degrees),
    (_FOOT_INCH, _foot_inch),
    (_FEET, _feet),
    (_INCHES, _inch_mark),
    (_BY, _by),
    (_MULTIPLE, _multiple),
    (_BLOOD_PRESSURE, lambda match, numerals: f" {_unit('mmHg', True, numerals.locale)}"),
    (_QUANTITY, _quantity),
    (_PER_UNIT, _per_unit),
    (_PER_NAMED_UNIT, _per_unit),
    (_COMPASS_POINT, lambda match, numerals: _COMPASS[match[0]]),
    (_BARE_DEGREES, _bare_degrees),
)
