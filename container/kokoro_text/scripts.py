"""Words in letters that a voice's language does not use.

The G2P of a language would spell such words as "letter one E C five" or "Chinese letter". Here they
become words that it can read: of another language that is written in this script, in the letters
of the voice's language without foreign marks, or transliterated.
"""

import unicodedata
from functools import cache

import regex
from anyascii import anyascii

from kokoro_text.reading import LINK
from kokoro_voice.languages import LANGUAGES

READABLE_LANGUAGES = frozenset(LANGUAGES.values())
"""The languages that words can be linked to."""

_LINK_LENGTH = 100
_ASIAN_LINK_LENGTH = 30
"""The phonemes of a link have at most 200 characters; those of a Chinese character about five."""
_FOREIGN_WORDS = "en-us"
"""The language of Latin words in languages with another script."""

# The Latin letters that espeak-ng reads in every language: Latin-1 and Latin Extended-A, and the
# Romanian letters with a comma (but not Ț). It spells words with other letters.
# ª and º are endings of ordinals.
_LATIN = r"A-Za-zªºÀ-ÖØ-Þà-öø-ÿĀ-ňŊ-žȘșț--[ßĿŀŉĲĳſ]"
# espeak's English stumbles over these. Names such as Dvořák and Ōsaka are known without marks.
_NOT_IN_ENGLISH = "--[ŘřĀāĒēĪīŌōŪū]"
_DEVANAGARI = (
    r"\u0901-\u0963--[\u0904\u093A\u093B\u094E\u094F\u0955-\u0957]"  # Without rare vowels.
)
_KANA = r"\p{Hiragana}\p{Katakana}ー"
# The G2P of Japanese and Mandarin read plain Latin words as English, or spell them.
_LETTERS = {"hi": _DEVANAGARI, "ja": rf"A-Za-z{_KANA}\p{{Han}}々〆ヶ", "cmn": r"A-Za-z\p{Han}〇"}
# Signs that give a pause or an intonation, or that a G2P reads with the right word.
_SIGNS = "—–…“”¿¡«»¢£¥€°×÷±©®™§µ¶√∞≈≠≤≥‰²³¹"
_ASIAN_SIGNS = "。、！？，：；「」『』（）《》〈〉【】・〜～"
_PUNCTUATION = str.maketrans(
    {
        "।": ".", "॥": ".", "۔": ".", "።": ".", "։": ".", "。": ".", "、": ",", "،": ",", "؛": ";",
        "؟": "?", "・": " ", "「": "“", "」": "”", "『": "“", "』": "”", "《": "“", "》": "”",
        "〈": "“", "〉": "”", "【": "“", "】": "”", "〜": "–", "״": '"', "־": "-",
    }
)  # fmt: skip
_BRACKETS = str.maketrans("[]", "()")
_WORD_END, _WORD_START = regex.compile(r"[\p{L}\p{M}\p{N}]"), regex.compile(r"[\p{L}\p{N}]")

# The names of Greek letters that stand alone, from alpha to omega.
_GREEK = "αβγδεζηθικλμνξοπρστυφχψω"
_GREEK_NAMES = {
    "en": "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "sigma tau upsilon phi chi psi omega",
    "es": "alfa beta gamma delta épsilon zeta eta theta iota kappa lambda mi ni xi ómicron pi ro "
    "sigma tau ípsilon fi ji psi omega",
    "fr": "alpha bêta gamma delta epsilon zêta êta thêta iota kappa lambda mu nu xi omicron pi rhô "
    "sigma tau upsilon phi khi psi oméga",
    "it": "alfa beta gamma delta epsilon zeta eta theta iota kappa lambda mi ni xi omicron pi ro "
    "sigma tau ipsilon fi chi psi omega",
    "pt": "alfa beta gama delta épsilon zeta eta teta iota capa lambda mi ni xi ômicron pi rô "
    "sigma tau ípsilon fi qui psi ômega",
    "hi": "अल्फ़ा बीटा गामा डेल्टा एप्सिलॉन ज़ीटा ईटा थीटा आयोटा कप्पा लैम्डा म्यू न्यू ज़ाई ओमिक्रॉन पाई रो "
    "सिग्मा टाऊ अप्सिलॉन फ़ाई काई साई ओमेगा",
}

_WORD = regex.compile(
    r"(?P<greek>(?<!\p{Greek})\p{Greek}\p{Mn}*(?!\p{Greek}))"
    r"|(?P<hi>[\p{Devanagari}--[।॥॰०-९]]+)"
    r"|(?P<indic>[\p{Bengali}\p{Gurmukhi}\p{Gujarati}\p{Oriya}\p{Tamil}\p{Telugu}\p{Kannada}"
    r"\p{Malayalam}]+)"
    r"|(?P<asian>[\p{Hiragana}\p{Katakana}ー\p{Han}々〆ヶ〇]+)"
    r"|(?P<latin>\p{Latin}[\p{Latin}\p{Mn}]*(?:['.-]\p{Latin}[\p{Latin}\p{Mn}]*){0,9})"
    r"|(?P<other>[\p{L}\p{M}\p{Nl}\p{No}][\p{L}\p{M}\p{Nl}\p{No}--\p{Latin}]*)",
    regex.VERSION1,
)
_KANA_LETTER = regex.compile(f"[{_KANA}]")
_DEVANAGARI_LETTER = regex.compile(r"[\u0904-\u0939\u0958-\u0961]")
# Vowels that anyascii leaves out, in scripts that write few of them, and letters that it confuses.
_BEFORE_ASCII = str.maketrans(
    dict.fromkeys("اأإآٱعאע", "a") | dict.fromkeys("ةى", "a") | {"ש": "sh", "ь": "", "ъ": ""}
)
_ABJAD = regex.compile(r"[\p{Arabic}\p{Hebrew}\p{Syriac}]")
_CONSONANT = "(?:[ckgstdz]h|[b-df-hj-np-tvwxz])"
_SEMIVOWEL = regex.compile(rf"(?<={_CONSONANT})[vwy](?![aeiou])")
_CLUSTER = regex.compile(
    rf"(?<![aeiou])(?P<open>{_CONSONANT})(?![aeiouh])(?P<close>{_CONSONANT}(?![aeiou]))?"
)
# In Thai and Lao, these vowels are written before the consonant that they follow.
_VOWEL_FIRST = regex.compile(r"([เแโใไເແໂໃໄ])(\p{L})")


def is_japanese(text: str) -> bool:
    """Whether Chinese characters in `text` are Japanese, because there are kana too."""
    return _KANA_LETTER.search(text) is not None


def readable(text: str, language: str, *, japanese: bool = False) -> str:
    """Return `text` in letters and links that the G2P of `language` reads as words.

    Args:
        text: What is to be said: words of any script, possibly with links.
        language: The voice's language.
        japanese: Whether Chinese characters are Japanese.

    Returns:
        Words in the language's own letters; words of a readable language as `[word](hi)`;
        transliterations; and the signs that matter. What has no sound is left out.
    """
    said = ""
    end = 0
    for link in LINK.finditer(text):
        said = _joined(said, _plain(text[end : link.start()], language, japanese))
        said = _joined(said, _linked(link, language, japanese))
        end = link.end()
    return " ".join(_joined(said, _plain(text[end:], language, japanese)).split())


def _joined(said: str, more: str) -> str:
    """Add words. A blank separates a link from a word before or after it."""
    starts = more[:1] == "[" or _WORD_START.match(more) is not None
    ended = said[-1:] == ")" and LINK.search(said, max(0, said.rfind("["))) is not None
    blank = (ended and starts) or (more[:1] == "[" and _WORD_END.match(said[-1:]) is not None)
    return f"{said} {more}" if blank else said + more


def _linked(link: "regex.Match[str]", language: str, japanese: bool) -> str:
    """Return a link with a word that the G2P of the linked language can read."""
    word, target = link.groups()
    if target[0] == target[-1] == "/":
        return str(link[0])
    if target not in READABLE_LANGUAGES:
        return _plain(word, language, japanese)
    plain = _plain(word, target, japanese)
    return plain if LINK.search(plain) or not plain.strip() else f"[{plain}]({target})"


def _plain(text: str, language: str, japanese: bool) -> str:
    """Return text without links as `readable` does."""
    text = text.translate(_BRACKETS)  # Brackets that are no link would confuse misaki.
    if text.isascii() and language not in _LETTERS:
        return text
    foreign = _foreign(language)
    if not foreign.search(text):
        return text
    said = ""
    end = 0
    for word in _WORD.finditer(text):
        between = text[end : word.start()]
        said = _joined(said, foreign.sub("", between.translate(_signs(language))))
        if foreign.search(word[0]):
            said = _joined(said, _word(word, language, japanese))
        else:
            said = _joined(said, word[0])
        end = word.end()
    return _joined(said, foreign.sub("", text[end:].translate(_signs(language))))


@cache
def _foreign(language: str) -> "regex.Pattern[str]":
    """Return a pattern of the characters that the G2P of `language` cannot read."""
    letters, signs = _LETTERS.get(language, _LATIN), _SIGNS
    if language.startswith("en-"):
        letters += _NOT_IN_ENGLISH
    if language in {"ja", "cmn"}:
        signs += _ASIAN_SIGNS
    ascii_signs = r"\x00-\x40\[-`\{-\x7e"
    return regex.compile(rf"[^{ascii_signs}[{letters}]{signs}]", regex.VERSION1)


@cache
def _signs(language: str) -> dict[int, str]:
    own = _ASIAN_SIGNS if language in {"ja", "cmn"} else ""
    return {sign: plain for sign, plain in _PUNCTUATION.items() if chr(sign) not in own}


def _word(word: "regex.Match[str]", language: str, japanese: bool) -> str:
    text = word[0]
    if word["greek"]:
        return _greek(word, language)
    if word["hi"] or word["indic"]:
        return _in_language(_in_devanagari(text), "hi", language)
    if word["asian"]:
        target = "ja" if japanese and _is_readable("ja", text) else "cmn"
        return _in_language(text, target, language)
    return _in_latin(_folded(text, language) if word["latin"] else _transliterated(text), language)


def _is_readable(target: str, text: str) -> bool:
    return target in READABLE_LANGUAGES and not _foreign(target).search(text)


def _in_language(text: str, target: str, language: str) -> str:
    """Return a link to the language that is written in this script, or a transliteration."""
    if target == language:
        return str(_foreign(language).sub("", text))
    if target in READABLE_LANGUAGES and (known := _foreign(target).sub("", text)):
        length = _ASIAN_LINK_LENGTH if target in {"ja", "cmn"} else _LINK_LENGTH
        return " ".join(f"[{part}]({target})" for part in _parts(known, length))
    return _in_latin(_transliterated(text), language)


def _in_latin(text: str, language: str) -> str:
    """Return Latin words, as links in languages with another script."""
    if language not in _LETTERS:
        return text
    parts = [part for word in text.split() for part in _parts(word, _LINK_LENGTH)]
    return " ".join(f"[{part}]({_FOREIGN_WORDS})" for part in parts)


def _parts(text: str, length: int) -> list[str]:
    """Split text that is too long for a link, as Chinese without blanks may be."""
    return [text[begin : begin + length] for begin in range(0, len(text), length)]


def _in_devanagari(text: str) -> str:
    """Return an Indic word in Devanagari. The blocks of these scripts have the same order."""
    letters = "".join(
        char if "\u0900" <= char <= "\u097f" else chr(0x900 + ord(char) % 0x80) for char in text
    )
    known = "".join(char for char in letters if unicodedata.category(char) != "Cn")
    return known if _DEVANAGARI_LETTER.search(known) else ""


def _greek(word: "regex.Match[str]", language: str) -> str:
    """Return the name of a Greek letter, with a blank where it touches a word."""
    base = unicodedata.normalize("NFD", word[0])[0].lower().replace("ς", "σ")
    if base not in _GREEK:
        return _in_latin(_transliterated(word[0]), language)
    if language[:2] not in _GREEK_NAMES:
        return f"[{_GREEK_NAMES['en'].split()[_GREEK.index(base)]}]({_FOREIGN_WORDS})"
    name = _GREEK_NAMES[language[:2]].split()[_GREEK.index(base)]
    before: str = word.string[max(0, word.start() - 1) : word.start()]
    after: str = word.string[word.end() : word.end() + 1]
    return " " * before.isalnum() + name + " " * after.isalnum()


def _folded(text: str, language: str) -> str:
    """Return a Latin word without any marks, if it has a letter that cannot be read."""
    if not _foreign(_FOREIGN_WORDS if language in _LETTERS else language).search(text):
        return text
    return str(regex.sub(r"[^\x00-\x7f]", lambda letter: _ascii(letter[0]), text))


def _transliterated(text: str) -> str:
    """Return a word of any script in Latin letters."""
    if regex.fullmatch(r"\p{No}+", text):
        text = unicodedata.normalize("NFKC", text).replace("⁄", "/")
        if regex.fullmatch("[0-9/]+", text):
            return text
    latin = _ascii(_VOWEL_FIRST.sub(r"\2\1", text).translate(_BEFORE_ASCII))
    if not any(char.isupper() or char.istitle() for char in text):
        latin = latin.lower()
    if not _ABJAD.search(text):
        return latin
    # Short vowels are not written: the word gets one where there are only consonants.
    latin = _SEMIVOWEL.sub(lambda vowel: {"v": "o", "w": "u", "y": "i"}[vowel[0]], latin)
    return str(_CLUSTER.sub(lambda cluster: f"{cluster['open']}a{cluster['close'] or ''}", latin))


def _ascii(text: str) -> str:
    return str(regex.sub("[^A-Za-z0-9 ]", "", anyascii(text)))
