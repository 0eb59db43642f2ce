"""What the rules of Spanish, French, Italian and Portuguese need to know about a language."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


def names(text: str) -> frozenset[str]:
    """Return the words of `text`."""
    return frozenset(text.split())


def _same(words: str) -> str:
    return words


@dataclass(frozen=True, kw_only=True, eq=False)
class Language:
    """The words and habits of a language.

    Attributes:
        locale: The locale of Babel's and num2words' data, for example `pt_BR`.
        comma: The word for a decimal comma.
        point: The word for a decimal point, in versions and addresses.
        minus: The word for a minus sign.
        percent: The words for `%`.
        per_mille: The words for `‰`.
        per: Returns a noun with the words before it, as in euros per kilogram.
        range: The word between the ends of a range.
        range_start: The word before the first end of a range; empty if there is none.
        over: The word between a numerator and a denominator that are not read as a fraction.
        and_a: The word between a whole number and a fraction, as in one and a third.
        and_half: The words after a noun for another half of it, for each gender.
        number_sign: The word for `#` before a number.
        tidy: Corrects the words of a cardinal number.
        agree: Returns the words of a cardinal number in the form before a noun.
        gender: Returns the gender of a noun, `m` or `f`, by its ending.
        not_nouns: Words after a number that are not what it counts, such as prepositions.
        labels: Words before a number that names something instead of counting, such as page.
        plural_ends: The last letters of nouns in the plural, and of the words for a million.
        before_years: Words before a number of four digits that is a year.
        partitive: A pattern of what follows the one in one out of three.
        ordinal: Returns the words of an ordinal number for a gender and the noun, if any.
        ordinal_marks: Patterns of the letters after an ordinal number, for each gender.
        roman_ordinal_marks: Patterns of the letters after a Roman ordinal number.
        half: The word for 1/2 for each gender.
        fractions: Singular and plural of 1/3 and 1/4; others are ordinal numbers.
        plural: Returns the plural of an ordinal number that is a denominator.
        of: Returns a noun after a million, as in millions of euros.
        scales: Singular and plural of the abbreviations of large numbers.
        bare_currencies: Names of currencies whose name in CLDR is not what people say.
        cents: Singular and plural of the minor unit of currencies; the key "" is for the others.
        amount: Returns the words of an amount of money with a minor unit.
        units: Units that are written differently from the international symbols.
        unit_names: Singular and plural of units that CLDR does not have, or whose name in CLDR is
            not what people say.
        clock: Returns a time of day. The arguments are the words of hour and minute, and the
            minute.
        hours: The noun that the hour of a time counts.
        time_context: A pattern of the words before a time that is written with a point.
        day_parts: What is said after a time in the morning, afternoon and evening.
        date_joins: What is said between day and month, and between month and year.
        first: The word for the first day of a month; None if it is a cardinal number.
        date_context: A pattern of the words before a day and month such as 7/9.
        months: Abbreviations of months that CLDR does not have, with the month's number.
        phone_pairs: Whether telephone numbers are read in pairs.
        phone: A pattern of national telephone numbers that look like other numbers.
        phone_parts: A pattern of telephone numbers without blanks. Its groups are said apart.
        codes: A pattern of codes that are read digit by digit.
        address_signs: The words for the signs in e-mail and web addresses.
        letters: Letters whose name espeak-ng does not say when they stand alone.
        spelled: Acronyms that are spelled although they could be read as words.
        syllables: A pattern of acronyms that can be read as words.
        regnal: Names of kings, queens and popes.
        regnal_cardinal: The numeral after which the number of a king is not ordinal.
        centuries: A pattern of words before a Roman number that is read like a king's.
        roman_words: A pattern of words before a Roman number, which may be one letter.
        signs: The words for signs.
        abbreviations: The words for abbreviations, by pattern. They apply in this order.
    """

    locale: str
    comma: str
    point: str
    minus: str
    percent: str
    per_mille: str
    per: Callable[[str], str]
    range: str
    range_start: str = ""
    over: str
    and_a: str
    and_half: Mapping[str, str]
    number_sign: str
    tidy: Callable[[str], str] = _same
    agree: Callable[[str, str], str]
    gender: Callable[[str], str]
    not_nouns: frozenset[str]
    labels: frozenset[str]
    plural_ends: str = "sxl"
    before_years: frozenset[str] = frozenset()
    partitive: str
    ordinal: Callable[[int, str, str], str]
    ordinal_marks: Mapping[str, str]
    roman_ordinal_marks: Mapping[str, str] = field(default_factory=dict)
    half: Mapping[str, str]
    fractions: Mapping[int, tuple[str, str]]
    plural: Callable[[str], str]
    of: Callable[[str], str]
    scales: Mapping[str, tuple[str, str]]
    bare_currencies: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    cents: Mapping[str, tuple[str, str]]
    amount: Callable[[str, str, str], str]
    units: Mapping[str, str] = field(default_factory=dict)
    unit_names: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    clock: Callable[[str, str, int], str]
    hours: str
    time_context: str = ""
    day_parts: tuple[str, str, str]
    date_joins: tuple[str, str]
    first: str | None
    date_context: str
    months: Mapping[str, int] = field(default_factory=dict)
    phone_pairs: bool = False
    phone: str = ""
    phone_parts: str = ""
    codes: str = ""
    address_signs: Mapping[str, str]
    letters: Mapping[str, str] = field(default_factory=dict)
    spelled: frozenset[str]
    syllables: str
    regnal: frozenset[str]
    regnal_cardinal: int
    centuries: str
    roman_words: str
    signs: Mapping[str, str]
    abbreviations: Mapping[str, str]
