"""Addresses of the internet, telephone numbers, codes, versions, acronyms and Roman numbers."""

from functools import cache

import regex

from kokoro_text.european_language import Language
from kokoro_text.european_numbers import cardinal, digits, integer, noun_after
from kokoro_text.european_times import months
from kokoro_text.reading import Rewriter

_NAME = r"[\p{L}\d][\p{L}\d_+-]{0,62}"
_HOST = rf"{_NAME}(?:\.{_NAME}){{1,6}}"
_EMAIL = regex.compile(rf"(?<![\p{{L}}\d])(?:{_NAME}\.){{0,4}}{_NAME}@{_HOST}")
_WEB = regex.compile(r"(?:https?://|www\.)[^\s“”\"<>()]{1,300}[\p{L}\d/]")
_ENDINGS = (
    "com|net|org|edu|gov|info|app|dev|io|ai|eu|es|mx|ar|cl|fr|be|ch|ca|it|br|pt|tv|me"
    "|pdf|docx?|xlsx?|pptx?|csv|txt|jpe?g|png|gif|zip|mp[34]|py|js|ts|html|json|xml|md|exe"
)
_DOMAIN = regex.compile(
    rf"(?<![\p{{L}}\d@.])(?:[\p{{L}}\d_][\p{{L}}\d_-]{{0,62}}\.){{1,4}}"
    rf"(?:{_ENDINGS})(?:\.(?:br|ar|mx|uk|pe|co))?"
    r"(?:/[\p{L}\d/_.-]{0,199}[\p{L}\d])?(?![\p{L}\d@])"
)
_VOWEL = regex.compile(r"[aeiouyà-ü]", regex.IGNORECASE)
_RUN = regex.compile(r"\d+|[A-Z]+")
_TOKEN = regex.compile(r"\p{L}+|\d+|.")
_DIGIT_GROUPS = regex.compile(
    r"(?<![\p{L}\d.,/+-])\+?(?:\(\d{1,4}\)|\d{1,5})"
    r"(?:[ .-]{1,2}(?:\(\d{1,4}\)|\d{1,5})){1,7}(?![\p{L}\d/%€]|[.,-]\d)"
)
_INTERNATIONAL = regex.compile(r"(?<![\p{L}\d])(?:\+|00)\d{6,15}(?!\d)")
_GROUPED = regex.compile(r"[1-9]\d{0,2}(?:(?:\.\d{3})+|(?: \d{3})+)")
_IP_ADDRESS = regex.compile(r"(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})")
_IBAN = regex.compile(
    r"(?<![\p{L}\d])[A-Z]{2}\d\d(?: ?[A-Z\d]{4}){2,8}(?: ?[A-Z\d]{1,4})?(?![\p{L}\d])"
)
_YEARS = regex.compile(r"[12]\d{3} ?- ?[12]\d{3}")
_LONG = regex.compile(r"(?<![\p{L}\d.,])\d{8,40}(?![\d]|[.,]\d)")
_VERSION = regex.compile(r"(?<![\d.,])(?<v>[vV](?= ?\d) ?)?\d{1,5}(?:\.\d{1,5}){2,5}(?![\d,])")
_MIXED_CODE = regex.compile(
    r"(?<![\p{L}\d])(?=[A-Z\d-]{5,40}(?![\p{L}\d]))(?=[A-Z-]{0,40}\d)(?=[\d-]{0,40}[A-Z])"
    r"[A-Z\d]{1,20}(?:-[A-Z\d]{1,20}){0,6}(?![\p{L}\d])"
)
_ACRONYM = regex.compile(r"(?<![\p{L}\d@#_-])\p{Lu}{2,6}(?=s?(?!\p{L}))")
_DOTTED = regex.compile(r"(?<![\p{L}.])(?:\p{Lu}\.){2,6}(?!\p{L})")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_ROMAN = r"(?=[IVXL])(?:X{1,3}|XL|LX{0,3}|XC)?(?:IX|IV|V?I{0,3})"
_CENTURY = r"(?=[IVX])X{0,2}(?:IX|IV|V?I{0,3})"


def addresses(rewriter: Rewriter, language: Language) -> None:
    """Read e-mail and web addresses and the names of files."""

    def say(match: "regex.Match[str]") -> str:
        address = regex.sub(r"^https?://", "", match[0]).rstrip("/")
        return spelled_address(language, address)

    for pattern in (_EMAIL, _WEB, _DOMAIN):
        rewriter.rule(pattern, say)


def spelled_address(language: Language, address: str) -> str:
    """Return an address in words: words as they are, signs by their names."""
    words: list[str] = []
    host = regex.match(r"(?:[^@/]*@)?[^/]*", address)
    top = host.end() if host else 0
    for token in _TOKEN.finditer(address):
        text = token[0]
        if text[0].isalpha():
            country = len(text) == 2 and token.end() == top and token.start() > 0
            is_word = _VOWEL.search(text) and not country
            words.append(text if is_word else letters(language, text))
        elif text[0].isdecimal():
            short = len(text) <= 4
            words.append(integer(language, text) if short else digits(language, text))
        else:
            words.append(language.address_signs.get(text, " "))
    return " ".join(" ".join(words).split())


def phones_and_codes(rewriter: Rewriter, language: Language) -> None:
    """Read telephone numbers, codes in groups of digits, and long numbers."""

    def groups(match: "regex.Match[str]") -> str | None:
        text = match[0]
        if _IP_ADDRESS.fullmatch(text):
            return None
        count = sum(map(str.isdecimal, text))
        plain_number = _GROUPED.fullmatch(text) or _YEARS.fullmatch(text)
        if count < 7 or (plain_number and not _phone(language).fullmatch(text)):
            return None
        return _in_groups(language, text)

    rewriter.rule(_IBAN, lambda match: _in_groups(language, match[0]))
    if language.codes:
        rewriter.rule(_compiled(language.codes), lambda match: _in_groups(language, match[0]))
    rewriter.rule(_DIGIT_GROUPS, groups)
    rewriter.rule(_INTERNATIONAL, lambda match: _in_groups(language, match[0]))
    rewriter.rule(_LONG, lambda match: _in_groups(language, match[0]))


def _in_groups(language: Language, text: str) -> str:
    plus = f"{language.signs['+']} " if text.startswith("+") else ""
    national = _compiled(language.phone_parts or "(?!)").fullmatch(text)
    if national is not None:
        text = f"{plus and '+'}{' '.join(filter(None, national.groups()))}"
    parts = list(_RUN.finditer(text))
    if language.phone_pairs and all(part[0].isdecimal() and len(part[0]) <= 2 for part in parts):
        return plus + ", ".join(_pair(language, part[0]) for part in parts)
    return plus + ", ".join(_group(language, part[0], text[: part.start()]) for part in parts)


def _pair(language: Language, text: str) -> str:
    if text[0] == "0" and len(text) == 2:
        return digits(language, text)
    return integer(language, text)


def _group(language: Language, text: str, before: str) -> str:
    """Return the words for a group of digits. Codes of areas and countries are one number."""
    if text.isalpha():
        return letters(language, text)
    is_area = len(text) == 2 and before[-1:] in ("(", "+")
    return integer(language, text) if is_area else digits(language, text)


def versions(rewriter: Rewriter, language: Language) -> None:
    """Read numbers with several points, such as versions and IP addresses."""

    def say(match: "regex.Match[str]") -> str | None:
        if _GROUPED.fullmatch(match[0]):
            return None
        numbers = regex.findall(r"\d+", match[0])
        said = f" {language.point} ".join(integer(language, number) for number in numbers)
        return f"{letters(language, 'V')} {said}" if match["v"] else said

    rewriter.rule(_VERSION, say)


def mixed_codes(rewriter: Rewriter, language: Language) -> None:
    """Read codes of capital letters and digits one by one, such as `K7Q-29X`."""

    def say(match: "regex.Match[str]") -> str | None:
        runs = regex.findall(r"[A-Z]+|\d+", match[0])
        if len(runs) < 3 and sum(map(str.isdecimal, match[0])) < 4:
            return None
        return ", ".join(
            " ".join(
                letters(language, run) if run.isalpha() else digits(language, run)
                for run in regex.findall(r"[A-Z]+|\d+", part)
            )
            for part in match[0].split("-")
        )

    rewriter.rule(_MIXED_CODE, say)


def acronyms(rewriter: Rewriter, language: Language) -> None:
    """Spell acronyms that cannot be read as words."""

    def say(match: "regex.Match[str]") -> str | None:
        name = match[0].replace(".", "")
        # In `CO2` even letters that look like a word are spelled.
        is_formula = len(name) == 2 and match.string[match.end() : match.end() + 1].isdecimal()
        if not is_formula and name not in language.spelled and _syllables(language).fullmatch(name):
            return None
        return letters(language, name)

    rewriter.rule(_ACRONYM, say)
    rewriter.rule(_DOTTED, lambda match: letters(language, match[0]))


def letters(language: Language, text: str) -> str:
    """Return the letters of `text`, to be said one by one."""
    return " ".join(language.letters.get(char, char) for char in text.upper() if char.isalpha())


def roman(rewriter: Rewriter, language: Language) -> None:
    """Read Roman numbers: of kings, of centuries, before a noun, and after a title."""

    def after_name(match: "regex.Match[str]") -> str | None:
        name, number = match["name"], _roman_value(match["said"])
        if name in language.regnal:
            return _king(language, number, match["name"])
        if len(match["said"]) < 2 or (name.isupper() and len(name) > 1):
            return None
        return cardinal(language, number)

    def after_word(match: "regex.Match[str]") -> str:
        number = _roman_value(match["said"])
        if regex.fullmatch(language.centuries, match["name"].lower()):
            return _king(language, number, match["name"])
        return cardinal(language, number)

    def before_noun(match: "regex.Match[str]") -> str | None:
        if match["noun"].lower() in language.not_nouns:
            return None
        if match["noun"].lower() in months(language):
            return cardinal(language, _roman_value(match["said"]))
        gender = language.gender(match["noun"].lower())
        return language.ordinal(_roman_value(match["said"]), gender, match["noun"])

    word, name, noun = _roman_numbers(language)
    rewriter.rule(word, after_word)
    rewriter.rule(name, after_name)
    rewriter.rule(noun, before_noun)


@cache
def _roman_numbers(language: Language) -> "tuple[regex.Pattern[str], ...]":
    """Return patterns of Roman numbers after a word, after a name and before a noun."""
    end = r"(?![\p{L}\d'-])"
    several = rf"(?=[IVX]{{2}}|[IVX] (?:{language.centuries}))"
    return (
        regex.compile(rf"\b(?<name>(?i:{language.roman_words})) (?<said>{_ROMAN}){end}"),
        regex.compile(rf"\b(?<name>\p{{Lu}}\p{{L}}{{1,30}}) (?<said>{_ROMAN}){end}"),
        regex.compile(
            rf"(?<![\p{{L}}\d])(?<said>{several}{_ROMAN}){end}(?= (?<noun>\p{{L}}\p{{Ll}}{{2,30}}))"
        ),
    )


def _king(language: Language, number: int, name: str) -> str:
    if number > language.regnal_cardinal:
        return cardinal(language, number)
    is_queen = name.istitle() and name.endswith(("a", "beth", "bel"))
    return language.ordinal(number, "f" if is_queen else "m", "")


def _roman_value(text: str) -> int:
    values = [_ROMAN_VALUES[char] for char in text]
    return sum(
        -value if value < max(values[index:]) else value for index, value in enumerate(values)
    )


def ordinals(rewriter: Rewriter, language: Language) -> None:
    """Read ordinal numbers with letters after them, such as `3.º` and `XIXe`."""
    for gender, pattern in _ordinals(language):

        def say(match: "regex.Match[str]", gender: str = gender) -> str:
            number = match["number"]
            value = int(number) if number.isdecimal() else _roman_value(number)
            return language.ordinal(value, gender, noun_after(language, match))

        rewriter.rule(pattern, say)


@cache
def _ordinals(language: Language) -> "tuple[tuple[str, regex.Pattern[str]], ...]":
    """Return a pattern of the ordinal numbers of each gender."""
    marks = [(r"\d{1,4}", *mark) for mark in language.ordinal_marks.items()]
    marks += [(_CENTURY, *mark) for mark in language.roman_ordinal_marks.items()]
    return tuple(
        (gender, regex.compile(rf"(?<![\p{{L}}\d.,])(?<number>{number})(?:{mark})(?![\p{{L}}\d])"))
        for number, gender, mark in marks
    )


@cache
def _syllables(language: Language) -> "regex.Pattern[str]":
    return regex.compile(language.syllables, regex.IGNORECASE)


@cache
def _phone(language: Language) -> "regex.Pattern[str]":
    return regex.compile(language.phone or "(?!)")


@cache
def _compiled(pattern: str) -> "regex.Pattern[str]":
    return regex.compile(pattern)
