"""Hindi numbers in words."""

_WORDS = (
    "शून्य एक दो तीन चार पाँच छह सात आठ नौ "
    "दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस "
    "बीस इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस "
    "तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस "
    "चालीस इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास "
    "पचास इक्यावन बावन तिरेपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ "
    "साठ इकसठ बासठ तिरेसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर "
    "सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उन्यासी "
    "अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी "
    "नब्बे इक्यानवे बानवे तिरानवे चौरानवे पचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे"
)
_BELOW_HUNDRED = _WORDS.split()
_SCALES = (
    (10**11, "खरब"),
    (10**9, "अरब"),
    (10**7, "करोड़"),
    (10**5, "लाख"),
    (1000, "हज़ार"),
    (100, "सौ"),
)
_LONGEST = 13
"""Longer numbers are read digit by digit."""
_ORDINAL_STEMS = {1: "पहल", 2: "दूसर", 3: "तीसर", 4: "चौथ", 6: "छठ"}
_DECLENSIONS = {"ी": "ी", "ीं": "ी", "े": "े", "ें": "े"}


def cardinal(number: int) -> str:
    """Return a number below 10 ** 13 in words."""
    if number < 100:
        return _BELOW_HUNDRED[number]
    unit, name = next(scale for scale in _SCALES if number >= scale[0])
    words = f"{cardinal(number // unit)} {name}"
    return f"{words} {cardinal(number % unit)}" if number % unit else words


def digits(text: str) -> str:
    """Return the digits of `text` as words, one by one. Other characters are ignored."""
    return " ".join(_BELOW_HUNDRED[int(char)] for char in text if "0" <= char <= "9")


def number(text: str) -> str:
    """Return a number in words.

    Args:
        text: Digits with optional commas, and an optional decimal fraction: `1,25,000.5`.
    """
    whole, point, decimals = text.replace(",", "").partition(".")
    by_digit = len(whole) > _LONGEST or (len(whole) > 1 and whole.startswith("0"))
    words = digits(whole) if by_digit else cardinal(int(whole or "0"))
    return f"{words} दशमलव {digits(decimals)}" if point else words


def year(text: str) -> str:
    """Return a year in words: 1947 is read as nineteen hundred and forty-seven."""
    if len(text) == 4 and 11 <= int(text[:2]) <= 19:
        hundreds = f"{cardinal(int(text[:2]))} सौ"
        return f"{hundreds} {cardinal(int(text[2:]))}" if text[2:] != "00" else hundreds
    return number(text)


def ordinal(value: int, ending: str) -> str:
    """Return an ordinal in words.

    Args:
        value: The number.
        ending: The written ending, such as `वीं` or `रा`, which gives gender and case.
    """
    stem = _ORDINAL_STEMS.get(value)
    if stem is not None:
        return stem + _DECLENSIONS.get(ending[1:], "ा")
    return cardinal(value) + ("वाँ" if ending == "वां" else ending)


def with_half(whole: int) -> str:
    """Return a number and a half in words: डेढ़ for 1½, ढाई for 2½."""
    return {0: "आधा", 1: "डेढ़", 2: "ढाई"}.get(whole) or f"साढ़े {cardinal(whole)}"


def with_quarter(whole: int) -> str:
    """Return a number and a quarter in words."""
    return {0: "एक चौथाई", 1: "सवा"}.get(whole) or f"सवा {cardinal(whole)}"


def with_three_quarters(whole: int) -> str:
    """Return a number and three quarters in words, as the quarter before the next number."""
    return f"पौने {cardinal(whole + 1)}" if whole else "तीन चौथाई"
