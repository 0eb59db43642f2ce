"""Grapheme-to-phoneme conversion of Mandarin, as misaki's G2P for Kokoro 1.0 does it.

jieba's algorithm and dictionary split the text into words, pypinyin reads them, and misaki
transcribes pinyin to phonemes. As in the training of the voices, tones do not influence each other.
"""

from collections.abc import Callable
from functools import cache

import regex
import rjieba
from misaki.transcription import pinyin_to_ipa
from pypinyin import Style, lazy_pinyin

from kokoro_voice.timing import PronouncedWord
from kokoro_voice.unspaced import words_between_links

_Word = tuple[str, str]
"""A word and jieba's tag for its part of speech."""
_NOTHING = ("", "")
_VERBS_AND_ADJECTIVES = ("v", "a")
_ADVERBS = ("a", "b", "d", "m", "v", "z")
_POINTERS = ("这", "那", "哪", "每", "几")

_HAN = regex.compile(r"[\p{Han}〇]+")
_LATIN = regex.compile(r"[\p{Latin}\p{M}'’-]+")
_TONES = {"˧˩˧": "↓", "˧˥": "↗", "˥˩": "↘", "˥": "→"}
_SYLLABIC = ("ɻ\u0329", "ɹ\u0329")
_NOT_SYLLABIC_MARK = "\u032f"

_PUNCTUATION = {
    **dict.fromkeys("、,，", ","),
    **dict.fromkeys("。.．", "."),
    **dict.fromkeys("！!", "!"),
    **dict.fromkeys("？?", "?"),
    **dict.fromkeys("：:", ":"),
    **dict.fromkeys("；;", ";"),
    **dict.fromkeys("「『《〈【“«", "“"),
    **dict.fromkeys("」』》〉】”»", "”"),
    **dict.fromkeys("（(", "("),
    **dict.fromkeys("）)", ")"),
    **dict.fromkeys("—–", "—"),
    "…": "…",
}


class Mandarin:
    """The G2P, with links as in misaki's English.

    Args:
        english: Returns the phonemes of an English word. Latin words are read as English.
    """

    def __init__(self, english: Callable[[str], str]) -> None:
        self._english = english

    def __call__(self, text: str) -> list[PronouncedWord]:
        """Return the words of `text`. Their texts add up to `text`, but for links and blanks."""
        return words_between_links(text, self._words)

    def _words(self, text: str) -> list[PronouncedWord]:
        words: list[tuple[str, str]] = rjieba.tag(text)
        before, after = [_NOTHING, *words[:-1]], [*words[1:], _NOTHING]
        return [
            PronouncedWord(word[0], self._phonemes(word, *neighbors))
            for word, *neighbors in zip(words, before, after, strict=True)
        ]

    def _phonemes(self, word: _Word, before: _Word, after: _Word) -> str:
        text, _ = word
        if _HAN.fullmatch(text):
            return "".join(map(_syllable, _pinyin(word, before, after)))
        if _LATIN.fullmatch(text):
            return self._english(text)
        return "".join(_PUNCTUATION.get(sign, "") for sign in text)


def _pinyin(word: _Word, before: _Word, after: _Word) -> list[str]:
    """Return the syllables of `word` in pinyin with digits for their tones.

    pypinyin knows how a character is read within a word. How some words of one character are read,
    their neighbors tell.
    """
    text, tag = word
    syllables: list[str] = lazy_pinyin(
        text.replace("〇", "零"),
        style=Style.TONE3,
        neutral_tone_with_five=True,
        errors="ignore",
    )
    is_verb_ahead = tag == "v" or after[1][:1] == "v"
    if text[0] == "地" and is_verb_ahead and before[1][:1] in _ADVERBS:  # 高兴地说
        return ["de5", *syllables[1:]]
    match text:
        case "得" if before[1][:1] in _VERBS_AND_ADJECTIVES:  # 跑得快
            return ["de5"]
        case "得" if after[1][:1] == "v":  # 我得走
            return ["dei3"]
        case "还" if after[1] in ("ul", "n"):  # 还了, 还书
            return ["huan2"]
        case "教" if tag == "v":  # 教我
            return ["jiao1"]
    is_counted = tag == "m" if len(text) > 1 else before[1] == "m" or before[0] in _POINTERS
    if text.endswith("只") and is_counted:  # 两只, 这只猫
        return [*syllables[:-1], "zhi1"]
    return syllables


@cache
def _syllable(pinyin: str) -> str:
    """Return the phonemes of a syllable in pinyin with a digit for its tone, as `hao3`."""
    phonemes = "".join(pinyin_to_ipa(pinyin)[0])
    for marks, arrow in _TONES.items():
        phonemes = phonemes.replace(marks, arrow)
    for syllabic in _SYLLABIC:
        phonemes = phonemes.replace(syllabic, "ɨ")
    return phonemes.replace(_NOT_SYLLABIC_MARK, "")
