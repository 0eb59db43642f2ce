"""Text that is said sign by sign: letters, digits, telephone numbers."""

import unicodedata
from functools import lru_cache

import regex
from num2words import num2words

_NUM2WORDS = {"en-us": "en", "en-gb": "en", "es": "es", "fr-fr": "fr", "it": "it", "pt-br": "pt_BR"}

_MAX_NUMBER = 10**12

_SIGNS = ". , - _ / \\ : @ # + & * % ="
_NAMES = {
    "en": "dot|comma|dash|underscore|slash|backslash|colon|at|hash|plus|and|star|percent|equals",
    "es": "punto|coma|guion|guion bajo|barra|barra invertida|dos puntos|arroba|almohadilla|más|"
    "y|asterisco|por ciento|igual",
    "fr": "point|virgule|tiret|tiret bas|barre oblique|barre oblique inverse|deux points|arobase|"
    "dièse|plus|et|astérisque|pour cent|égal",
    "it": "punto|virgola|trattino|trattino basso|barra|barra inversa|due punti|chiocciola|"
    "cancelletto|più|e|asterisco|per cento|uguale",
    "pt": "ponto|vírgula|hífen|sublinhado|barra|barra invertida|dois pontos|arroba|cerquilha|mais|"
    "e|asterisco|por cento|igual",
    "hi": "डॉट|कॉमा|डैश|अंडरस्कोर|स्लैश|बैकस्लैश|कोलन|ऐट|हैश|प्लस|और|स्टार|प्रतिशत|बराबर",
}
_SIGN_NAMES = {
    language: dict(zip(_SIGNS.split(), names.split("|"), strict=True))
    for language, names in _NAMES.items()
}
_GROUP = regex.compile(r"\+|\w+")
_SIGN = regex.compile(r"\X")


@lru_cache(maxsize=1000)
def number_words(number: int, language: str, kind: str = "cardinal") -> str | None:
    """Return a number in words, or None if no words are known for it.

    Args:
        number: The number.
        language: One of the values of `kokoro_voice.languages.LANGUAGES`.
        kind: `cardinal` or `ordinal`.
    """
    code = _NUM2WORDS.get(language)
    if code is None or abs(number) >= _MAX_NUMBER:
        return None
    words: str = num2words(number, lang=code, to=kind)
    return words.replace(",", "")  # A comma, as in "one thousand, two hundred", would be a pause.


def spelled(text: str, language: str) -> str:
    """Return the words for the letters, digits and signs of `text`, one by one."""
    return " ".join(filter(None, (_name(sign, language) for sign in _SIGN.findall(text))))


def telephone_groups(text: str) -> list[str]:
    """Return the groups of digits of a telephone number, without the signs between them."""
    groups: list[str] = []
    for group in _GROUP.findall(text):
        if groups and groups[-1] == "+":
            groups[-1] += group
        else:
            groups.append(group)
    return groups


def _name(sign: str, language: str) -> str:
    digit = unicodedata.decimal(sign[0], None)
    if digit is not None:
        return number_words(digit, language) or str(digit)
    if not sign[0].isalpha():
        return _SIGN_NAMES.get(language[:2], {}).get(sign, "")
    # misaki reads a lone A as the article. Its dictionary has the letter's name as "eh".
    return "eh" if sign in "aA" and language.startswith("en-") else sign.upper()
