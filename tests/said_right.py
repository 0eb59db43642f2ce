"""Cases of text and how it must be said, and their comparison by phonemes."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import regex

CASES = Path(__file__).parent / "unit/kokoro_text/cases"

_NO_SOUND = regex.compile(r"[^\p{L}\p{M}]+")
_STRESS = regex.compile(r"[ˈˌ]")
_SYLLABIC_N = regex.compile(r"[nmŋɲ](?=[^aeiouɨɯjʲː])")


@dataclass(frozen=True)
class Case:
    """Text, and the ways in which a careful reader may say it.

    Attributes:
        kind: The kind of difficulty, for example `money`.
        text: What is written.
        says: Readings in plain words of the language, the best first.
        language: In espeak's notation.
    """

    kind: str
    text: str
    says: tuple[str, ...]
    language: str


def load(*names: str) -> list[Case]:
    """Return the cases of the files named `names`, which are in `CASES`; all files without one."""
    paths = [CASES / f"{name}.toml" for name in names] or sorted(CASES.glob("*.toml"))
    return [
        Case(
            case["kind"],
            case["text"],
            tuple(case["says"]),
            case.get("accent", "en-us" if path.stem.startswith("english") else path.stem),
        )
        for path in paths
        for case in tomllib.loads(path.read_text())["case"]
    ]


def is_said_right(case: Case, phonemes: Callable[[str, str], str]) -> bool:
    """Whether the phonemes of the text are those of one of its readings.

    Punctuation, white space, stress and letter case of the readings do not count: stress depends
    on whether a word is written with a capital letter or a hyphen.

    Args:
        case: A case.
        phonemes: Returns the phonemes of a text in a language.
    """
    said = _compared(phonemes(case.text, case.language), case.language)
    return any(
        said == _compared(phonemes(reading, case.language), case.language) for reading in case.says
    )


def _compared(phonemes: str, language: str) -> str:
    """Return sounds, in Japanese with one sign for ん: its variants depend on how words divide."""
    said = sounds(phonemes)
    return _SYLLABIC_N.sub("ɴ", said) if language == "ja" else said


def sounds(phonemes: str) -> str:
    """Return `phonemes` without punctuation, white space and stress."""
    return _NO_SOUND.sub("", _STRESS.sub("", phonemes))
