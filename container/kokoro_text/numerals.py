"""Numbers in the numerals that Japanese and Mandarin share."""

DIGITS = "〇一二三四五六七八九"
_PLACES = ("", "十", "百", "千")
_MYRIADS = ("", "万", "億", "兆", "京")
_MYRIADS_SIMPLIFIED = ("", "万", "亿", "万亿", "亿亿")
ROMAN = {
    "I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "X": 10,
    "XI": 11, "XII": 12,
}  # fmt: skip
MAX_DIGITS = 4 * len(_MYRIADS)
"""Longer numbers are read digit by digit."""


def digit_by_digit(digits: str, zero: str, one: str = "一") -> str:
    """Return the numerals of `digits`, of any script, one by one; other characters as they are."""
    numerals = (zero, one, *DIGITS[2:])
    return "".join(numerals[int(char)] if char.isdecimal() else char for char in digits)


def japanese_number(digits: str) -> str:
    """Return a whole number in Japanese, for example 千九百八十四 for `1984`.

    Long numbers, and those that begin with a zero, are read digit by digit.
    """
    if len(digits) > MAX_DIGITS or (digits[0] == "0" and len(digits) > 1):
        return digit_by_digit(digits, "ゼロ")
    number = ""
    for myriad, group in _groups(digits):
        numeral = ""
        for place, digit in _digits(group):
            # 1,000 is 千, and 10,000,000 is 一千万.
            is_plain = digit > 1 or place == 0 or (place == 3 and myriad > 0)
            numeral += (DIGITS[digit] if is_plain else "") + _PLACES[place] if digit else ""
        number += numeral and numeral + _MYRIADS[myriad]
    return number or "ゼロ"


def mandarin_number(digits: str) -> str:
    """Return a whole number in Mandarin, for example 一千零五 for `1005`.

    Two is 二, or 两 before 千, 万 and 亿. Long numbers, and those that begin with a zero, are read
    digit by digit.
    """
    if len(digits) > MAX_DIGITS or (digits[0] == "0" and len(digits) > 1):
        return digit_by_digit(digits, "零")
    number = ""
    skipped = False
    for myriad, group in _groups(digits):
        numeral = ""
        for place, digit in _digits(group):
            if digit == 0:
                skipped = True
                continue
            if skipped and (number or numeral):
                numeral += "零"
            skipped = False
            numeral += ("两" if digit == 2 and place == 3 else DIGITS[digit]) + _PLACES[place]
        if not numeral:
            continue
        if not number and numeral == "二" and myriad > 0:
            numeral = "两"
        if not number and numeral.startswith("一十"):
            numeral = numeral[1:]
        number += numeral + _MYRIADS_SIMPLIFIED[myriad]
    return number or "零"


def _groups(digits: str) -> list[tuple[int, str]]:
    """Return groups of four digits, the highest first, with the power of 10,000 of each."""
    count = -(-len(digits) // 4)
    padded = digits.zfill(4 * count)
    return [(count - 1 - i, padded[4 * i : 4 * i + 4]) for i in range(count)]


def _digits(group: str) -> list[tuple[int, int]]:
    """Return the place and value of each digit of a group, the highest first."""
    return [(3 - i, int(digit)) for i, digit in enumerate(group)]
