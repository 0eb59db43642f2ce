"""How Hindi is read aloud.

Numbers are written with ASCII digits here: `characters.canonical` replaces Devanagari digits.
"""

import unicodedata
from collections.abc import Callable, Mapping
from fractions import Fraction

import regex
from babel import Locale

from kokoro_text import hindi_words as words
from kokoro_text.characters import canonical
from kokoro_text.hindi_numbers import (
    cardinal,
    digits,
    number,
    ordinal,
    with_half,
    with_quarter,
    with_three_quarters,
    year,
)
from kokoro_text.reading import Rewriter

_START = r"(?<![\p{L}\p{M}\p{N}])"
_END = r"(?![\p{L}\p{M}\p{N}])"
# 1,25,000.50 or 125000.5, not followed by more digits.
_NUMBER = r"(?:\d{1,3}(?:,\d{2,3}){1,8}|\d{1,40})(?:\.\d{1,20})?(?![\d]|[.,]\d)"
_NUMBER_START = r"(?<![\p{L}\p{M}\d]|\d[.,:/-])"


def _one_of(words: Mapping[str, object]) -> str:
    """Return a pattern of the keys, the longest first. A dot may also be `॰` or a zero."""
    keys = sorted(words, key=len, reverse=True)
    return "(?:" + "|".join(regex.escape(key).replace(r"\.", "[.॰0]") for key in keys) + ")"


def _in(table: Mapping[str, str], key: str) -> str:
    return table[key if key in table else key.replace("॰", ".").replace("0", ".")]


_MONTHS: Mapping[int, str] = {
    number: canonical(name) for number, name in Locale("hi").months["format"]["wide"].items()
}
_MONTH = "(?:" + "|".join([*_MONTHS.values(), "जनवरी", "फ़रवरी", "फरवरी", "सितम्बर", "दिसम्बर"]) + ")"

_INITIAL = "(?:" + "|".join({*words.LETTERS.values(), "एफ", "जेड", "ज़ेड"}) + ")"

_SCALE = f"{_one_of(words.SCALES)}{_END}"
_MONEY_SCALES = {**words.SCALES, "L": "लाख"}
_MONEY_SCALE = f"{_one_of(_MONEY_SCALES)}{_END}"
_MIXED = {
    "½": with_half,
    "1/2": with_half,
    "¼": with_quarter,
    "1/4": with_quarter,
    "¾": with_three_quarters,
    "3/4": with_three_quarters,
}

# In the order of the rules.
_WEB = regex.compile(
    rf"{_START}(?:https?://)?(?P<address>[A-Za-z0-9_+-]{{1,64}}(?:[.@][A-Za-z0-9_-]{{1,64}}){{0,8}}"
    r"[.@][A-Za-z0-9-]{1,64}\.?[A-Za-z]{2,24}(?:/[\w./-]{0,200}\w)?)" + _END
)
_DOMAIN = regex.compile(r"@|://|(?:^|\.)(?:com|org|net|in|gov|edu|io|ai|app|co|uk|info|dev)(?:/|$)")
_TITLE = regex.compile(rf"{_START}(?P<said>{_one_of(words.TITLES)})(?=\s[\p{{L}}]){_END}")
_ABBREVIATION = regex.compile(rf"{_START}{_one_of(words.ABBREVIATIONS)}{_END}")
_ERA = regex.compile(rf"(?<=\d )ई[.॰](?! ?पू){_END}")
_INITIALS = regex.compile(rf"{_START}(?:{_INITIAL}[.॰] ?){{1,6}}(?<=[.॰])(?: ?{_INITIAL}(?=\s))?")
_DOTTED_ACRONYM = regex.compile(rf"{_START}(?:[A-Z]\.){{1,6}}[A-Z]?{_END}")
_ISO_DATE = regex.compile(
    r"(?<![\d/.-])(?P<year>[12]\d{3})-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-3]\d)(?![\d/-])"
)
_DATE = regex.compile(
    r"(?<![\d/.-])(?P<day>0?[1-9]|[12]\d|3[01])(?P<sign>[/.-])(?P<month>0?[1-9]|1[0-2])"
    r"(?P=sign)(?P<year>[12]\d{3}|\d\d)(?![\d/-]|\.\d)"
)
_MONTH_YEAR = regex.compile(rf"{_MONTH},? (?P<said>1[1-9]\d\d){_END}")
_CLOCK = regex.compile(
    r"(?<![\d:.])(?P<hour>[01]?\d|2[0-4])[:](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:])"
    r"(?:\s?(?P<half>[AaPp]\.?[Mm]\.?)(?![\p{L}]))?(?P<oclock> बजे)?(?(half)(?: पर)?)"
)
_CLOCKS = regex.compile(
    r"(?<![\d:.])(?P<said>(?:[01]?\d|2[0-4]):[0-5]\d ?[-–] ?"
    r"(?:[01]?\d|2[0-4]):[0-5]\d(?: बजे)?)(?![\d:])"
)
_CLOCK_WITH_DOT = regex.compile(
    rf"{_NUMBER_START}(?P<hour>1[0-2]|[1-9])\.(?P<minute>[0-5]\d)"
    r"(?P<second>)(?P<half>)(?P<oclock> बजे)"
)
_HOUR = regex.compile(
    rf"{_NUMBER_START}(?P<hour>1[0-2]|[1-9])\s?(?P<half>[AaPp]\.?[Mm]\.?)(?![\p{{L}}])(?: बजे)?"
)
_DAYPART_BEFORE = regex.compile(r"(?:सुबह|शाम|रात|दोपहर|तड़के)(?: \p{L}{1,6})?\s*$")
_RATIO = regex.compile(
    r"(?<![\d:.])(?P<first>\d{1,4}) ?: ?(?P<second>\d{1,4})(?![\d:.])(?P<named> क[ाे] अनुपात)?"
)
_PHONE = regex.compile(
    r"(?<![\p{L}\p{M}\d]|[.,:/-])\+?\(?\d{1,5}\)?(?:[ -]\d{2,8}){1,5}(?![\d]|[.,:/-]\d)"
)
_MOBILE = regex.compile(r"(?<![\d.,])(?:\+\d{1,3}|0)?[6-9]\d{9}(?![\d]|[.,]\d)")
_CODE = regex.compile(
    r"(?:पिन|पिनकोड|PIN|कोड|OTP|ओटीपी|ओ टी पी|पासवर्ड|खाता संख्या|खाता नंबर|मोबाइल|फ़ोन|फोन|हेल्पलाइन|PNR)"
    r"(?: (?:नंबर|संख्या|कोड))?(?: है)?[ :-]{1,3}(?P<said>\d{3,20})(?![\d]|[.,]\d)"
)
_DIALLED = regex.compile(rf"{_NUMBER_START}(?P<said>\d{{3,8}})(?= (?:नंबर )?(?:डायल|पर कॉल|पर फ़ोन))")
_MONEY_BEFORE = regex.compile(
    rf"(?<![\p{{L}}\p{{M}}\p{{N}}]|\d (?=रु|रू|Rs))(?P<minus>-)?"
    rf"(?P<currency>{_one_of(words.CURRENCIES)})\s?"
    rf"(?:(?P<first>{_NUMBER})\s?[-–]\s?(?P=currency)?)?(?P<number>{_NUMBER})(?P<mark>/-)?"
    rf"(?:\s?(?P<scale>{_MONEY_SCALE}))?(?P<named> रुपये| रुपए)?"
)
_MONEY_AFTER = regex.compile(
    rf"{_NUMBER_START}(?P<minus>-)?(?P<number>{_NUMBER})"
    rf"(?:\s?(?P<scale>{_MONEY_SCALE}))?\s?(?P<currency>{_one_of(words.CURRENCIES)}){_END}(?P<mark>/-)?"
)
_ORDINAL = regex.compile(
    rf"(?<![\p{{L}}\p{{M}}\d]|\d[.,:/])(?P<number>\d{{1,6}})-?(?P<ending>वीं|वाँ|वां|वें|वी|वा|वे|ला|ली|ले|रा|री|रे|था|थी|थे|ठा|ठी|ठे){_END}"
)
_ENGLISH_ORDINAL = regex.compile(rf"{_NUMBER_START}(?P<number>\d{{1,6}})(?:st|nd|rd|th){_END}")
_ALWAYS = regex.compile(rf"{_NUMBER_START}24[/x×]7{_END}")
_MIXED_FRACTION = regex.compile(
    rf"{_NUMBER_START}(?P<whole>\d{{1,6}})(?: (?=\d/)|(?=[½¼¾]))"
    rf"(?P<part>{_one_of(_MIXED)})(?![\d/])"
)
_FRACTION = regex.compile(
    r"(?<![\p{L}\p{M}\d]|[/.,])(?:(?P<first>\d{1,4})/(?P<second>\d{1,4})(?![\d/]|[.,]\d)|[½¼¾⅓⅔])"
)
_SCORE = regex.compile(
    rf"{_NUMBER_START}(?P<said>(?P<first>\d{{1,3}})[-–](?P<second>\d{{1,3}}))(?![\d]|[-–.,]\d)"
    r"(?P<verb> से (?:जीत|हार|मात|हरा|पीछे|आगे|बराबर|ड्रॉ|बढ़त|अपने))?(?! बजे)"
)
_YEARS = regex.compile(
    rf"{_NUMBER_START}(?P<first>1[1-9]\d\d|20\d\d)\s?[-–]\s?(?P<second>\d{{4}}|\d\d){_END}(?![-–]\d)"
)
_UNIT = rf"(?:\s?(?P<unit>{_one_of(words.UNITS)})(?![\p{{L}}\p{{M}}\p{{N}}]))"
_RANGE = regex.compile(
    rf"{_NUMBER_START}(?P<first>{_NUMBER})(?:°C?|%)?(?:\s?[–]\s?|-)(?P<second>{_NUMBER}){_UNIT}?(?!-\d)"
)
_VERSION = regex.compile(r"(?<![\d.,])\d{1,8}(?:\.\d{1,8}){2,6}(?![\d]|[.,]\d)")
_MEASURE = regex.compile(
    rf"{_NUMBER_START}(?P<sign>[-+])?(?P<number>{_NUMBER})(?: ?(?P<scale>{_SCALE}))?{_UNIT}"
)
_NETWORK = regex.compile(rf"{_START}[2-6]G{_END}")
_YEAR = regex.compile(
    rf"(?<![\d.,/-]|[\p{{L}}\p{{M}}])(?P<said>1[1-9]\d\d)"
    rf"(?=\s?[)।,.]?\s?(?:(?:में|से|तक|के|की|का|को|ईस्वी|ई[.॰]|वाल[ाीे]|और|व){_END}|\)))"
)
_YEAR_AFTER = regex.compile(rf"(?:सन्?|साल|वर्ष|संवत) (?P<said>1[1-9]\d\d){_END}")
_TIMES = regex.compile(r"(?<=\d ?)x(?= ?\d)")
_FEET = regex.compile(rf"{_NUMBER_START}(?P<feet>\d{{1,2}})' ?(?P<inches>\d{{1,2}})(?:\"|'')")
_UNIT_ALONE = regex.compile(
    rf"{_START}{_one_of({unit: 0 for unit in words.UNITS if unit.count('.') == 2})}{_END}"
)
_SCALED = regex.compile(
    rf"{_NUMBER_START}(?!(?:2|4|8)K)(?P<number>{_NUMBER})(?P<scale>[KMB]| ?Cr){_END}"
)
_DIVISION = regex.compile(r"(?<=\d )/(?= \d)")
_HASHTAG = regex.compile(r"#(?=\p{L})")
_OTHER_NUMBER = regex.compile(r"\p{No}")
_SUBTRACTION = regex.compile(r"(?<=\d )(?P<said>[-–])(?= \d)")
_POWER = regex.compile(r"(?<=[\p{L}\d)])[²³]")
_HASH = regex.compile(r"#(?=\d)")
_ABOUT = regex.compile(r"~(?=\s?\d)")
_PER = regex.compile(
    r"(?<=[\d\p{L}\p{M}.])(?P<said>/)(?=(?:किलो|किग्रा|kg|लीटर|दिन|माह|महीन|साल|वर्ष|घंट|व्यक्ति|पीस|मिनट|सेकंड))"
)
_SIGNED = regex.compile(
    rf"(?<![\p{{L}}\p{{M}}\p{{N}}.,)]|\d[ ])(?P<sign>[-+])(?P<number>{_NUMBER})"
)
_PLAIN = regex.compile(rf"{_NUMBER}|\d+")
_ROMAN_AFTER_NOUN = regex.compile(
    r"(?<=(?:भाग|अध्याय|खंड|खण्ड|चरण|कक्षा|क्लास|सत्र|टाइप|श्रेणी|स्तर|अनुच्छेद|सूची|फ़ेज़|पार्ट|टियर)[ -])"
    rf"(?P<said>[IVX]{{1,5}}){_END}"
)
_ROMAN_AFTER_NAME = regex.compile(
    rf"(?<=[\p{{L}}\p{{M}}][ -])(?P<said>I{{2,3}}|IV|V|VI{{1,3}}|IX|X[IVX]{{1,4}}){_END}"
    rf"(?P<oblique> (?:ने|को|का|की|के|से|में){_END})?"
)
_ACRONYM = regex.compile(r"(?<![A-Za-z])[A-Z]{1,6}(?:&[A-Z]{1,3})?(?![A-Za-z'])")
_SIGN = regex.compile("[" + regex.escape("".join(words.SIGNS)) + "]")
_SLASH = regex.compile(r"(?<=[\p{L}\p{M}])/(?=[\p{L}])")
_DANDA = regex.compile("[।॥]+")


def rules(rewriter: Rewriter, language: str) -> None:
    """Apply the rules to the text of `rewriter`."""
    rewriter.rule(_WEB, _web)
    rewriter.rule(_TITLE, lambda match: _in(words.TITLES, match["said"]))
    rewriter.rule(_ABBREVIATION, lambda match: _in(words.ABBREVIATIONS, match[0]))
    rewriter.rule(_ERA, lambda match: "ईस्वी")
    rewriter.rule(_INITIALS, lambda match: match[0].replace(".", " ").replace("॰", " ").strip())
    rewriter.rule(_DOTTED_ACRONYM, lambda match: _spelled(match[0]))

    rewriter.rule(_ISO_DATE, _date)
    rewriter.rule(_DATE, _date)
    rewriter.rule(_MONTH_YEAR, lambda match: year(match["said"]))
    rewriter.rule(_CLOCKS, _clocks)
    rewriter.rule(_CLOCK, _clock)
    rewriter.rule(_CLOCK_WITH_DOT, _clock)
    rewriter.rule(_HOUR, lambda match: f"{_daypart(match)}{cardinal(int(match['hour']))} बजे")
    rewriter.rule(_RATIO, _ratio)

    rewriter.rule(_MONEY_BEFORE, _money)
    rewriter.rule(_MONEY_AFTER, _money)
    rewriter.rule(_YEARS, _years)
    rewriter.rule(_PHONE, _phone)
    rewriter.rule(_MOBILE, lambda match: _plus(match[0]) + digits(match[0]))
    rewriter.rule(_CODE, lambda match: digits(match["said"]))
    rewriter.rule(_DIALLED, lambda match: digits(match["said"]))

    rewriter.rule(_ORDINAL, lambda match: ordinal(int(match["number"]), match["ending"]))
    rewriter.rule(_ENGLISH_ORDINAL, lambda match: ordinal(int(match["number"]), "वाँ"))
    rewriter.rule(_ALWAYS, lambda match: "चौबीस घंटे सातों दिन")
    rewriter.rule(_MIXED_FRACTION, lambda match: _MIXED[match["part"]](int(match["whole"])))
    rewriter.rule(_FRACTION, _fraction)
    rewriter.rule(_SCORE, _score)
    rewriter.rule(_RANGE, _range)
    rewriter.rule(_FEET, _feet)
    rewriter.rule(_VERSION, _version)
    rewriter.rule(_NETWORK, lambda match: words.NETWORKS[match[0]])
    rewriter.rule(_MEASURE, _measure)
    rewriter.rule(
        _SCALED, lambda match: f"{number(match['number'])} {words.SCALES[match['scale'].strip()]}"
    )
    rewriter.rule(_YEAR_AFTER, lambda match: year(match["said"]))
    rewriter.rule(_YEAR, lambda match: year(match["said"]))
    rewriter.rule(_UNIT_ALONE, lambda match: _in(words.UNITS, match[0]))
    rewriter.rule(_TIMES, lambda match: " गुणा ")
    rewriter.rule(_SUBTRACTION, lambda match: "माइनस")
    rewriter.rule(_DIVISION, lambda match: "भाग")
    rewriter.rule(_HASHTAG, lambda match: "हैशटैग ")
    rewriter.rule(_POWER, lambda match: " का वर्ग" if match[0] == "²" else " का घन")
    rewriter.rule(_HASH, lambda match: "नंबर ")
    rewriter.rule(_ABOUT, lambda match: "लगभग ")
    rewriter.rule(_PER, lambda match: " प्रति ")
    rewriter.rule(_SIGNED, lambda match: f"{_sign(match['sign'])}{number(match['number'])}")
    rewriter.rule(_OTHER_NUMBER, _other_number)
    rewriter.rule(_PLAIN, lambda match: number(match[0]))

    rewriter.rule(_ROMAN_AFTER_NOUN, _roman)
    rewriter.rule(_ROMAN_AFTER_NAME, _regnal)
    rewriter.rule(_ACRONYM, _acronym)
    rewriter.rule(_SIGN, lambda match: f" {words.SIGNS[match[0]]} ")
    rewriter.rule(_SLASH, lambda match: " ")
    rewriter.rule(_DANDA, lambda match: ".")


def _web(match: "regex.Match[str]") -> str | None:
    """Return an address with its dots and signs in words. Other dotted words are not read."""
    address = match["address"]
    if not _DOMAIN.search(address):
        return None
    signs = {".": "डॉट", "@": "ऐट", "/": "स्लैश", "-": "डैश", "_": "अंडरस्कोर"}
    said = [
        signs.get(piece) or (digits(piece) if piece.isdigit() else piece)
        for piece in regex.findall(r"[A-Za-z]+|\d+|[.@/_-]", address)
    ]
    return " ".join(said)


def _spelled(letters: str) -> str:
    return " ".join(words.LETTERS[letter] for letter in letters if letter in words.LETTERS)


def _acronym(match: "regex.Match[str]") -> str | None:
    """Return the names of an acronym's letters, unless it is said as a word."""
    letters = match[0]
    vowels = sum(letter in "AEIOU" for letter in letters)
    is_word = letters in words.SPOKEN_ACRONYMS or (len(letters) > 3 and vowels > 1)
    if "&" not in letters and is_word and letters not in words.SPELLED_ACRONYMS:
        return None
    return " ऐंड ".join(map(_spelled, letters.split("&")))


def _date(match: "regex.Match[str]") -> str | None:
    day = int(match["day"])
    return f"{cardinal(day)} {_MONTHS[int(match['month'])]} {year(match['year'])}" if day else None


def _clock(match: "regex.Match[str]") -> str:
    """Return a time of day. Half past and the quarters have their own words up to 12 o'clock."""
    hour, minute, second = int(match["hour"]), int(match["minute"]), match["second"] or None
    part = _daypart(match)
    if second is not None:
        return (
            f"{part}{cardinal(hour)} बजकर {cardinal(minute)} मिनट {cardinal(int(second))} सेकंड"
            + (" पर" if match["oclock"] else "")
        )
    quarters: dict[int, Callable[[int], str]] = {0: cardinal}
    if 1 <= hour <= 12:
        quarters |= {15: with_quarter, 30: with_half, 45: with_three_quarters}
    if minute in quarters:
        # A quarter to one, not to thirteen.
        hour = 0 if (hour, minute) == (12, 45) else hour
        said = "पौने एक" if (hour, minute) == (0, 45) else quarters[minute](hour)
        return f"{part}{said} बजे"
    if match["oclock"] and minute >= 10:
        return f"{part}{cardinal(hour)} {cardinal(minute)} बजे"
    said = f"{part}{cardinal(hour)} बजकर {cardinal(minute)} मिनट"
    return f"{said} पर" if match["oclock"] else said


def _clocks(match: "regex.Match[str]") -> str:
    """Return a time from and to. Only the second is followed by `बजे`."""
    first, second = (_CLOCK.match(time.strip()) for time in regex.split("[-–]", match["said"]))
    assert first is not None
    assert second is not None
    return f"{_clock(first).removesuffix(' बजे')} से {_clock(second)}"


def _daypart(match: "regex.Match[str]") -> str:
    """Return the part of the day that AM or PM stands for, unless it is written already."""
    if not match["half"] or _DAYPART_BEFORE.search(match.string, 0, match.start()):
        return ""
    hour = int(match["hour"]) % 12
    if match["half"][0] in "Aa":
        return "रात " if hour < 4 else "सुबह "
    return "दोपहर " if hour < 4 else "शाम " if hour < 8 else "रात "


def _ratio(match: "regex.Match[str]") -> str:
    between = " " if match["named"] else " अनुपात "
    return number(match["first"]) + between + number(match["second"]) + (match["named"] or "")


def _phone(match: "regex.Match[str]") -> str | None:
    groups = regex.findall(r"\d+", match[0])
    if not 10 <= sum(map(len, groups)) <= 15:
        return None
    return _plus(match[0]) + ", ".join(digits(group) for group in groups)


def _plus(text: str) -> str:
    return "प्लस " if text.startswith("+") else ""


def _money(match: "regex.Match[str]") -> str:
    """Return an amount, with hundredths such as paise if it has two decimals and no scale."""
    currency = _in(words.CURRENCIES, match["currency"])
    scale = match["scale"]
    groups = match.groupdict()
    said = _sign("-") if match["minus"] else ""
    if groups.get("first"):
        said += f"{number(match['first'])} से "
    whole, _, decimals = match["number"].replace(",", "").partition(".")
    if scale is None and len(decimals) == 2 and currency in words.HUNDREDTHS:
        hundredths = (
            f"{cardinal(int(decimals))} {words.HUNDREDTHS[currency]}" if int(decimals) else ""
        )
        main = f"{number(whole)} {_units(whole, currency)}" if int(whole) or not hundredths else ""
        return said + f"{main} {hundredths}".strip()
    said += number(match["number"])
    return (
        f"{said} {_MONEY_SCALES[scale]} {currency}"
        if scale
        else f"{said} {_units(match['number'], currency)}"
    )


def _units(amount: str, currency: str) -> str:
    return "रुपया" if amount == "1" and currency == "रुपये" else currency


def _fraction(match: "regex.Match[str]") -> str:
    if match[0] in words.FRACTIONS:
        return words.FRACTIONS[match[0]]
    return f"{number(match['first'])} बटा {number(match['second'])}"


def _other_number(match: "regex.Match[str]") -> str:
    """Return a number in one character, such as ⅖ or ⁵."""
    if match[0] in words.FRACTIONS:
        return words.FRACTIONS[match[0]]
    value = Fraction(unicodedata.numeric(match[0])).limit_denominator(100)
    below = "" if value.denominator == 1 else f" बटा {cardinal(value.denominator)}"
    return number(str(value.numerator)) + below if value >= 0 else ""


def _score(match: "regex.Match[str]") -> str | None:
    """Return a score: two numbers that descend or are won by. Other pairs are ranges."""
    first, second = match["first"], match["second"]
    if int(first) <= int(second) and match["verb"] is None:
        return None
    return f"{number(first)} {number(second)}"


def _years(match: "regex.Match[str]") -> str | None:
    """Return years from and to. The second may be short, as in the fiscal year 2019-20."""
    first, second = match["first"], match["second"]
    if len(second) == 4:
        return f"{year(first)} से {year(second)}"
    is_next = int(second) == (int(first) + 1) % 100
    return f"{year(first)} {'' if is_next else 'से '}{number(second.lstrip('0') or '0')}"


def _range(match: "regex.Match[str]") -> str:
    unit = f" {_in(words.UNITS, match['unit'])}" if match["unit"] else ""
    return f"{number(match['first'])} से {number(match['second'])}{unit}"


def _feet(match: "regex.Match[str]") -> str:
    return f"{number(match['feet'])} फ़ुट {number(match['inches'])} इंच"


def _version(match: "regex.Match[str]") -> str:
    return " पॉइंट ".join(number(group) for group in match[0].split("."))


def _measure(match: "regex.Match[str]") -> str:
    scale = f" {words.SCALES[match['scale']]}" if match["scale"] else ""
    return (
        f"{_sign(match['sign'])}{number(match['number'])}{scale} {_in(words.UNITS, match['unit'])}"
    )


def _sign(sign: str | None) -> str:
    return {"-": "माइनस ", "+": "प्लस "}.get(sign or "", "")


def _roman(match: "regex.Match[str]") -> str | None:
    value = words.ROMAN.get(match["said"])
    return None if value is None else cardinal(value)


def _regnal(match: "regex.Match[str]") -> str | None:
    value = words.ROMAN.get(match["said"])
    if value is None:
        return None
    if value > len(words.REGNAL):
        return ordinal(value, "वें" if match["oblique"] else "वाँ")
    return cardinal(value) if match.string[match.start() - 2].isascii() else words.REGNAL[value - 1]
