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
        return [PronouncedWord(word, self._phonemes(word)) for word in rjieba.cut(text)]

    def _phonemes(self, word: str) -> str:
        if _HAN.fullmatch(word):
            syllables = lazy_pinyin(
                word.replace("〇", "零"),
                style=Style.TONE3,
                neutral_tone_with_five=True,
                errors="ignore",
            )
            return "".join(map(_syllable, syllables))
        if _LATIN.fullmatch(word):
            return self._english(word)
        return "".join(_PUNCTUATION.get(sign, "") for sign in word)


@cache
def _syllable(pinyin: str) -> str:
    """Return the phonemes of a syllable in pinyin with a digit for its tone, as `hao3`."""
    phonemes = "".join(pinyin_to_ipa(pinyin)[0])
    for marks, arrow in _TONES.items():
        phonemes = phonemes.replace(marks, arrow)
    for syllabic in _SYLLABIC:
        phonemes = phonemes.replace(syllabic, "ɨ")
    return phonemes.replace(_NOT_SYLLABIC_MARK, "")
