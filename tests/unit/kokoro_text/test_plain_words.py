"""Plain words are said as they are written.

`is_said_right` reads the expected words by the same rules as the text, so it cannot see a rule
that spoils plain words.
"""

import tomllib
from collections.abc import Mapping

import pytest
import regex

from bench import ROOT
from kokoro_text.characters import canonical
from kokoro_text.normalizer import read
from kokoro_text.reading import LINK
from kokoro_voice.languages import LANGUAGES
from tests.said_right import load

SPELLED = regex.compile(r"\P{L}*(?:\p{Lu}\.?|\p{Lu}{2,}|\p{Lu}'?s)\P{L}*")
"""A capital letter or an acronym, which may be spelled: `M`, `VAT`, the plural `Fs` of `P D Fs`."""

REREAD: Mapping[str, Mapping[str, str]] = {
    "en": {
        # misaki does not know these contractions, and speaks `et cetera` best as `etc`.
        "who're": "who are",
        "how're": "how are",
        "what're": "what are",
        "et cetera": "etc",
        "'n'": "'n",
        "inc": "incorporated",
        "ms": "miz",
        "nguyễn": "nguyen",
    },
    "ja": {"python": "パイソン"},
}
"""Words that are said in other words on purpose, by the start of the language."""


def prose(language: str) -> list[str]:
    """Return the texts of the quality gate and of the calibration, which have no numbers."""
    gate = tomllib.loads((ROOT / "bench/quality_texts.toml").read_text())
    calibration = tomllib.loads((ROOT / "container/kokoro_calibration/texts.toml").read_text())
    name = next(name for name in calibration if language.startswith(name))
    return [*gate[language], *calibration[name]]


def spoiled(text: str, language: str) -> list[tuple[str, str]]:
    """Return the written words of `text` that are said in other words, and these words."""
    reread = REREAD.get(language.split("-")[0], {})
    found = []
    for reading in read(text, language):
        written, spoken = plain(reading.written), plain(reading.spoken)
        core = regex.sub(r"[.,!?]+$", "", written)
        if spoken not in (
            written,
            reread.get(core, core) + written[len(core) :],
        ) and not SPELLED.fullmatch(reading.written):
            found.append((reading.written, reading.spoken))
    return found


def plain(words: str) -> str:
    """Return `words` without links, in small letters, with one form for each sign."""
    return (
        " ".join(map(canonical, LINK.sub(r"\1", words).split()))
        .casefold()
        .replace("।", ".")
        .replace("，", ",")
    )


@pytest.mark.parametrize("language", LANGUAGES.values())
def test_the_readings_of_the_cases_are_left_alone(language: str) -> None:
    """Guards against rules that change the words of the text and of its readings alike."""
    texts = {says for case in load() if case.language == language for says in case.says}

    found = {text: words for text in texts if (words := spoiled(text, language))}

    assert len(texts) > 10
    assert not found


@pytest.mark.parametrize("language", LANGUAGES.values())
def test_prose_is_left_alone(language: str) -> None:
    """Guards against rules that take ordinary words for abbreviations, numerals or names."""
    texts = prose(language)

    found = {text: words for text in texts if (words := spoiled(text, language))}

    assert len(texts) > 40
    assert not found
