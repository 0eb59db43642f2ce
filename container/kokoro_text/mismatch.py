"""Whether a text is written in another language than the voice speaks.

Only what is certain counts: another script, or many of another language's most frequent words and
none of the voice's language.
"""

from collections.abc import Mapping

import regex

_MAX_CHARS = 2000
"""As much of a text is looked at."""
_MIN_WORDS = 3
_MIN_SHARE = 0.2

_SCRIPTS: Mapping[str, "regex.Pattern[str]"] = {
    name: regex.compile(pattern)
    for name, pattern in {
        "Latin": r"\p{Latin}",
        "Cyrillic": r"\p{Cyrillic}",
        "Greek": r"\p{Greek}",
        "Arabic": r"\p{Arabic}",
        "Hebrew": r"\p{Hebrew}",
        "Devanagari": r"\p{Devanagari}",
        "Thai": r"\p{Thai}",
        "Korean": r"\p{Hangul}",
        "Chinese or Japanese": r"[\p{Han}\p{Hiragana}\p{Katakana}]",
    }.items()
}
_OWN_SCRIPT = {
    "hi": "Devanagari", "ja": "Chinese or Japanese", "cmn": "Chinese or Japanese",
}  # fmt: skip
# Frequent words that are hardly found in the other languages.
_DISTINCTIVE = {
    "English": "the and of that with you are this was have they what",
    "Spanish": "el los las y una está del pero muy hay esta esto",
    "French": "les des et est une dans vous nous avec pas ce aux",
    "Italian": "il che di è gli della sono nel anche questo alla dei",
    "Portuguese": "não uma você são os muito também isso ao eu",
}
# Further frequent words. They tell that a text may be of the language.
_FREQUENT = {
    "English": "a i it is to in on my we he she not be do no for at by me so your",
    "Spanish": "la de que en un no se con para por es lo su más fue mi a",
    "French": "le la de du il elle je ne un on que qui sur pour en au se y à",
    "Italian": "la le un una in con per si da del non e a no ma mi lo",
    "Portuguese": "o a e de que do da em um com para se no na mas as é por",
}
_WORDS = {name: frozenset(words.split()) for name, words in _DISTINCTIVE.items()}
_OWN_WORDS = {name: _WORDS[name] | set(words.split()) for name, words in _FREQUENT.items()}
_NAMES = {
    "en": "English", "es": "Spanish", "fr": "French", "it": "Italian", "pt": "Portuguese",
    "hi": "Hindi", "ja": "Japanese", "cm": "Mandarin",
}  # fmt: skip
_LETTERS = regex.compile(r"\p{L}+")


def mismatch(text: str, language: str) -> str | None:
    """Return a warning if `text` is certainly of another language, and None otherwise.

    Args:
        text: Text without markup.
        language: The voice's language, one of the values of `kokoro_voice.languages.LANGUAGES`.
    """
    name = _NAMES[language[:2]]
    text = text[:_MAX_CHARS]
    words = _LETTERS.findall(text.lower())
    letters = "".join(words)
    counts = {script: len(pattern.findall(letters)) for script, pattern in _SCRIPTS.items()}
    script, count = max(counts.items(), key=lambda item: item[1])
    if script != _OWN_SCRIPT.get(language, "Latin") and count > len(letters) / 2:
        return f"the voice speaks {name}, but most of the text is in {script} script"
    own_words = _OWN_WORDS.get(name)
    if script != "Latin" or own_words is None or not own_words.isdisjoint(words):
        return None
    found = {other: sum(map(frequent.__contains__, words)) for other, frequent in _WORDS.items()}
    other, count = max(found.items(), key=lambda item: item[1])
    if count >= max(_MIN_WORDS, _MIN_SHARE * len(words)):
        return f"the voice speaks {name}, but the text seems to be {other}"
    return None
