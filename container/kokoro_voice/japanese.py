"""Grapheme-to-phoneme conversion of Japanese: OpenJTalk's readings in Kokoro's alphabet.

Kokoro's Japanese voices were trained with `misaki.cutlet`, whose readings need a dictionary that
is not on PyPI as a wheel. The readings here are OpenJTalk's. Phonemes and blanks follow cutlet.
"""

import importlib.resources
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import misaki.data
import pyopenjtalk
from pyopenjtalk import _unknown_kanji

from kokoro_voice.timing import PronouncedWord
from kokoro_voice.unspaced import words_between_links

# Katakana and their phonemes, which are those of misaki's cutlet.
_MORA_TABLE = """
    ァ:a ア:a ィ:i イ:i ゥ:ɯ ウ:ɯ ェ:e エ:e ォ:o オ:o ヰ:i ヱ:e ヲ:o イェ:je ウィ:βi ウェ:βe ウォ:βo
    カ:ka キ:kʲi ク:kɯ ケ:ke コ:ko ヵ:ka ヶ:ke キェ:kʲe キャ:kʲa キュ:kʲɨ キョ:kʲo
    クァ:kᵝa クィ:kᵝi クェ:kᵝe クォ:kᵝo グァ:ɡᵝa グィ:ɡᵝi グェ:ɡᵝe グォ:ɡᵝo
    ガ:ɡa ギ:ɡʲi グ:ɡɯ ゲ:ɡe ゴ:ɡo ギャ:ɡʲa ギュ:ɡʲɨ ギョ:ɡʲo
    サ:sa シ:ɕi ス:sɨ セ:se ソ:so シェ:ɕe シャ:ɕa シュ:ɕɨ ショ:ɕo
    ザ:ʣa ジ:ʥi ズ:zɨ ゼ:ʣe ゾ:ʣo ジェ:ʥe ジャ:ʥa ジュ:ʥɨ ジョ:ʥo
    タ:ta チ:ʨi ツ:ʦɨ テ:te ト:to ティ:tʲi テュ:tʲɨ トゥ:tɯ
    チェ:ʨe チャ:ʨa チュ:ʨɨ チョ:ʨo ツァ:ʦa ツィ:ʦʲi ツェ:ʦe ツォ:ʦo
    ダ:da ヂ:ʥi ヅ:zɨ デ:de ド:do ディ:dʲi デュ:dʲɨ ドゥ:dɯ ヂャ:ʥa ヂュ:ʥɨ ヂョ:ʥo
    ナ:na ニ:ɲi ヌ:nɯ ネ:ne ノ:no ニェ:ɲe ニャ:ɲa ニュ:ɲɨ ニョ:ɲo
    ハ:ha ヒ:çi フ:ɸɯ ヘ:he ホ:ho ヒェ:çe ヒャ:ça ヒュ:çɨ ヒョ:ço
    ファ:ɸa フィ:ɸʲi フェ:ɸe フォ:ɸo フュ:ɸʲɨ フョ:ɸʲo
    バ:ba ビ:bʲi ブ:bɯ ベ:be ボ:bo ビャ:bʲa ビュ:bʲɨ ビョ:bʲo
    パ:pa ピ:pʲi プ:pɯ ペ:pe ポ:po ピャ:pʲa ピュ:pʲɨ ピョ:pʲo
    マ:ma ミ:mʲi ム:mɯ メ:me モ:mo ミャ:mʲa ミュ:mʲɨ ミョ:mʲo
    ヤ:ja ユ:jɯ ヨ:jo ャ:ja ュ:jɯ ョ:jo ワ:βa ヮ:βa
    ラ:ɾa リ:ɾʲi ル:ɾɯ レ:ɾe ロ:ɾo リャ:ɾʲa リュ:ɾʲɨ リョ:ɾʲo
    ヴ:vɯ ヴァ:va ヴィ:vʲi ヴェ:ve ヴォ:vo ヴュ:bʲɨ ヴョ:bʲo ッ:ʔ ー:ː
"""
_MORAS = dict(mora.split(":") for mora in _MORA_TABLE.split())
_MORA = re.compile(r".[ァィゥェォャュョ]|[^’]")
_SMALL = "ァィゥェォャュョ"
# The nasal ン takes the place of the sound that follows; otherwise it is ɴ.
_NASALS = {"m": "mpb", "ŋ": "kɡ", "ɲ": "ɲʨʥ", "n": "ntdɾz"}

_PUNCTUATION = {
    **dict.fromkeys("、,，・", ","),
    **dict.fromkeys("。.．", "."),
    **dict.fromkeys("！!", "!"),
    **dict.fromkeys("？?", "?"),
    **dict.fromkeys("：:", ":"),
    **dict.fromkeys("；;", ";"),
    **dict.fromkeys("「『《〈【“«", "“"),
    **dict.fromkeys("」』》〉】”»", "”"),
    **dict.fromkeys("（(", "("),
    **dict.fromkeys("）)", ")"),
    **dict.fromkeys("〜～~—–", "—"),
    "…": "…",
}
_OPENERS = "“("
_MAX_MORPHEMES = 8


@dataclass(frozen=True)
class _Morpheme:
    text: str
    reading: str
    """In katakana; empty if the morpheme has no sound."""
    is_known: bool


class Japanese:
    """OpenJTalk's G2P with links as in misaki's English. Its dictionaries are loaded once.

    Args:
        english: Returns the phonemes of an English word. Latin words that the dictionary does not
            have are read as English.
    """

    def __init__(self, english: Callable[[str], str]) -> None:
        self._english = english
        # Sudachi only helps with kanji that are in no dictionary. Its own dictionary has 200 MB.
        _unknown_kanji.get_sudachi_tokenizer = _NoSudachi  # type: ignore[attr-defined]
        words = importlib.resources.files(misaki.data).joinpath("ja_words.txt")
        self._compounds = frozenset(words.read_text("utf-8").split())

    def __call__(self, text: str) -> list[PronouncedWord]:
        """Return the words of `text`. Their texts add up to `text`, but for links and blanks."""
        return words_between_links(text, self._words)

    def _words(self, text: str) -> list[PronouncedWord]:
        return [self._pronounced(word) for word in self._compounded(list(_morphemes(text)))]

    def _compounded(self, morphemes: Sequence[_Morpheme]) -> Iterator[_Morpheme]:
        """Join morphemes that are one word in misaki's list, as cutlet does."""
        first = 0
        while first < len(morphemes):
            last = min(len(morphemes), first + _MAX_MORPHEMES)
            while last > first + 1 and not self._is_compound(morphemes[first:last]):
                last -= 1
            group = morphemes[first:last]
            text = "".join(morpheme.text for morpheme in group)
            reading = "".join(morpheme.reading for morpheme in group)
            yield _Morpheme(text, reading, group[0].is_known)
            first = last

    def _is_compound(self, morphemes: Sequence[_Morpheme]) -> bool:
        readable = all(morpheme.is_known and morpheme.reading for morpheme in morphemes)
        return readable and "".join(morpheme.text for morpheme in morphemes) in self._compounds

    def _pronounced(self, morpheme: _Morpheme) -> PronouncedWord:
        text = morpheme.text
        if text.isascii() and text.isalpha() and not morpheme.is_known and not text.isupper():
            phonemes = self._english(text)
        elif morpheme.reading:
            phonemes = phonemes_of_kana(morpheme.reading)
        else:
            phonemes = "".join(_PUNCTUATION.get(sign, "") for sign in text)
        return PronouncedWord(text, phonemes)


class _NoSudachi:
    """A tokenizer that finds nothing, so that pyopenjtalk reads unknown kanji one by one."""

    def tokenize(self, *_: object) -> list[object]:
        return []


def _morphemes(text: str) -> Iterator[_Morpheme]:
    """Return OpenJTalk's morphemes with their readings. Their texts add up to `text`."""
    found = pyopenjtalk.g2p_mapping(text, use_sudachi_kanji_yomi=False)
    # Some numbers have more morphemes than characters. The additional ones have the span (0, 0).
    ends = [morpheme["char_span"][1] for morpheme in found]
    start = 0
    for number, morpheme in enumerate(found):
        end = len(text) if number == len(found) - 1 else max(start, ends[number])
        reading = morpheme["pron"] if morpheme["mora_count"] else ""
        yield _Morpheme(text[start:end], reading, not morpheme["is_unknown"])
        start = end


def phonemes_of_kana(reading: str) -> str:
    """Return the phonemes of a word in katakana. Other characters are ignored."""
    moras = [_phonemes_of_mora(mora) for mora in _MORA.findall(reading)]
    phonemes = ""
    for mora, following in zip(moras, [*moras[1:], ""], strict=True):
        phonemes += _nasal(following) if mora == "ɴ" else mora
    return phonemes


def _phonemes_of_mora(mora: str) -> str:
    if mora == "ン":
        return "ɴ"
    if mora in _MORAS or len(mora) == 1:
        return _MORAS.get(mora, "")
    return _phonemes_of_mora(mora[0])[:-1] + _MORAS[mora[1]]


def _nasal(following: str) -> str:
    for nasal, sounds in _NASALS.items():
        if following and following[0] in sounds:
            return nasal
    return "ɴ"
