"""The readings that SSML's `<say-as>` asks for."""

import datetime
from collections.abc import Mapping

import regex
from babel.dates import format_date, format_skeleton

from kokoro_text.spans import MarkupError, shown
from kokoro_text.spelling import number_words, spelled, telephone_groups

KINDS = {
    "characters": "spelled", "spell-out": "spelled", "verbatim": "spelled",
    "cardinal": "number", "number": "number", "ordinal": "ordinal",
    "digits": "digits", "telephone": "telephone", "date": "date",
    "time": "text", "currency": "text", "unit": "text", "fraction": "text",
}  # fmt: skip
"""The accepted values of `interpret-as`. With `text`, the rules of the language read it."""

DATE_FORMATS = ("mdy", "dmy", "ymd", "md", "dm", "my", "ym")

_LOCALES = {"fr-fr": "fr", "pt-br": "pt_BR", "en-us": "en_US", "en-gb": "en_GB"}
_SKELETONS = {"dm": "MMMMd", "my": "yMMMM"}
# Separators of thousands, in any language.
_GROUPED = regex.compile(r"\p{Nd}{1,3}(?:[,.'’\s\u202f\u00a0]\p{Nd}{3})+")
_NUMBER = regex.compile(r"\p{Nd}+")


def readings(text: str, attributes: Mapping[str, str], language: str) -> list[tuple[str, str]]:
    """Return pairs of what is written and what is said, in order.

    What is said is empty if the rules of the language read what is written.

    Args:
        text: The content of the element.
        attributes: Its attributes; `interpret-as` must be one of `KINDS`.
        language: The voice's language, one of the values of `kokoro_voice.languages.LANGUAGES`.

    Raises:
        MarkupError: The content or the format does not fit the kind.
    """
    kind = attributes["interpret-as"]
    reading = KINDS[kind]
    if "format" in attributes and reading != "date":
        raise MarkupError(f'<say-as interpret-as="{kind}">: only a date has a format')
    match reading:
        case "spelled":
            return [(word, spelled(word, language)) for word in text.split()]
        case "digits":
            words = text.split() if _digits(text, kind) else []
            return [(word, spelled(word, language)) for word in words]
        case "telephone":
            groups = telephone_groups(text) if _digits(text, kind) else []
            return [(group, spelled(group, language)) for group in groups]
        case "number" | "ordinal":
            number = _integer(text)
            if reading == "ordinal" and (number is None or number < 1):
                raise _unfit(text, kind, "a whole number, such as 21")
            if number is None:
                return [(text, "")] if _digits(text, kind) else []
            kind = "ordinal" if reading == "ordinal" else "cardinal"
            return [(text, number_words(number, language, kind) or str(number))]
        case "date" if "format" in attributes:
            return [(text, _date(text, attributes["format"], language))]
    return [(text, "")]


def _digits(text: str, kind: str) -> bool:
    if not _NUMBER.search(text):
        raise _unfit(text, kind, "digits")
    return True


def _integer(text: str) -> int | None:
    sign = -1 if text[:1] in "-−" else 1
    digits = text.lstrip("+-−")
    if _GROUPED.fullmatch(digits):
        digits = "".join(_NUMBER.findall(digits))
    return sign * int(digits) if _NUMBER.fullmatch(digits) and len(digits) <= 60 else None


def _date(text: str, form: str, language: str) -> str:
    if form not in DATE_FORMATS:
        raise MarkupError(
            f'<say-as interpret-as="date" format="{shown(form)}">: the formats are '
            f"{', '.join(DATE_FORMATS)}"
        )
    numbers = _NUMBER.findall(text)
    example = {"y": "2025", "m": "3", "d": "14"}
    fitting = f"a date such as {'/'.join(example[part] for part in form)}"
    if len(numbers) != len(form) or max(map(len, numbers)) > 4:
        raise _unfit(text, "date", fitting)
    given = {part: int(number) for part, number in zip(form, numbers, strict=True)}
    year = given.get("y", 2000)
    if year < 100:
        year += 1900 if year >= 69 else 2000
    try:
        date = datetime.date(year, given["m"], given.get("d", 1))
    except ValueError:
        raise _unfit(text, "date", fitting) from None
    locale = _LOCALES.get(language, language)
    if len(form) == 3:
        return format_date(date, "long", locale)
    return format_skeleton(_SKELETONS["".join(sorted(form))], date, locale=locale)


def _unfit(text: str, kind: str, fitting: str) -> MarkupError:
    return MarkupError(
        f'<say-as interpret-as="{kind}">: {shown(text)!r} is not accepted; give {fitting}'
    )
