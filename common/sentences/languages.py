"""The words of each language that the sentence rules need.

They come from two files. `cldr_suppressions.json` contains the abbreviations that, according to
Unicode CLDR, do not end a sentence (Unicode-3.0 license, see the file). `languages.toml` contains
the kinds of the abbreviations, which decide whether a sentence may end after them. It also contains
the other words that the rules need. To add a language, add its table to `languages.toml`.
"""

import enum
import functools
import json
import re
import tomllib
from dataclasses import dataclass
from importlib import resources

ENGLISH = "en"

_VOICES = {
    "a": "en", "b": "en", "e": "es", "f": "fr", "h": "hi", "i": "it", "j": "ja", "p": "pt",
    "z": "zh",
}  # fmt: skip
"""Maps the first letter of a voice's name to its language (Kokoro-82M, VOICES.md)."""


class Abbreviation(enum.Enum):
    """The kinds of abbreviations, which decide what a full stop after them means."""

    INNER = "never ends a sentence: e.g., vs."
    TITLE = "precedes a name, so it does not end a sentence before a word: Dr., Mr."
    LABEL = "precedes a number or a letter: No. 5, Fig. B"
    UNIT = "is an abbreviation only after a number: 5 sec."
    OPEN = "ends a sentence before a word that opens sentences: Inc., Ave., Jan."
    TAIL = "ends a sentence before any capital: etc."
    CLOCK = "ends a sentence before any capital, except a word that belongs to a time: a.m."


@dataclass(frozen=True, slots=True)
class Language:
    """The words and characters of one language that the rules need.

    Attributes:
        abbreviations: Maps an abbreviation, without its last full stop, to its kind.
        openers: Words that open sentences and are not names, in lower case.
        labelled: Nouns that a single letter may follow, as in "vitamin C", in lower case.
        short: Words of two letters that may end a sentence, in lower case.
        after_time: Words that may follow a clock time, as in "10 a.m. Tuesday", in lower case.
        initials: Names of letters that serve as initials in a script without capitals.
        full_stops: Additional characters that end sentences.
        has_ordinals: Whether a number with a full stop is an ordinal, as in "3. Mai".
        clause_break: Matches the end of a clause: a comma, a dash, a colon, or the white space
            before a conjunction.
    """

    abbreviations: dict[str, Abbreviation]
    openers: frozenset[str]
    labelled: frozenset[str]
    short: frozenset[str]
    after_time: frozenset[str]
    initials: frozenset[str]
    full_stops: str
    has_ordinals: bool
    clause_break: re.Pattern[str]


PRONOUNS = frozenset({"I"})  # one letter, and capital within a sentence, too (English)
CAPITAL_WORDS = PRONOUNS | {"A"}  # capital words that open sentences and are not acronyms
LETTER_WORDS = frozenset("àèéìíòóùúôÀÈÉ")  # one letter, but not initials (Romance languages)
STREETS = frozenset({"Dr"})  # titles that also abbreviate a street type (English): "Oak Dr."
# A word without vowels is an abbreviation, because it cannot be pronounced. "Hmm" is not one.
VOWELLESS = re.compile(r"(?!.*(.)\1$)[B-DF-HJ-NP-TV-XZ][b-df-hj-np-tv-xz]{1,5}")

# AFTER_QUOTATION matches text that continues the sentence after a quotation. The second pattern
# matches text that may become such a continuation when more text arrives. In Japanese, this is a
# particle, a copula, or a pronoun with a verb of saying. In Chinese, it is a verb of saying, with
# or without a pronoun.
_CHINESE_PRONOUN = r"[他她它我你您谁]们?[^，。！？、\s]?"
AFTER_QUOTATION = re.compile(
    r"と(?![てにこきり])|って|など|を|の(?!ち)|が|は(?![いじ])|に(?!ほ)"
    r"|で(?![もはす])|だ(?![がけかっ])|です(?![がか])|彼女?は[^，。！？、\s]{0,3}?[言聞答叫]"
    rf"|(?:{_CHINESE_PRONOUN})?[说說道问問喊叫答](?!道?[:：])"
)
AFTER_QUOTATION_PARTIAL = re.compile(
    r"[とのはにでっなだ]|です|彼女?(?:は[^，。！？、\s]{0,3})?"
    rf"|{_CHINESE_PRONOUN}|(?:{_CHINESE_PRONOUN})?[说說道问問喊叫答]道?"
)


_FOLDER = resources.files(__package__)
_TABLES = tomllib.loads((_FOLDER / "languages.toml").read_text(encoding="utf-8"))
_SUPPRESSIONS: dict[str, list[str]] = json.loads(
    (_FOLDER / "cldr_suppressions.json").read_text(encoding="utf-8")
)["abbreviations"]


def language_of_voice(voice: str) -> str:
    """Return the ISO 639-1 code of the language of `voice`, or of English if it is unknown."""
    return _VOICES.get(voice[:1], ENGLISH)


@functools.cache
def language_rules(code: str) -> Language:
    """Return the words and characters of the language `code`, an ISO 639-1 code.

    A language without a table uses the English one. A language whose script has no capitals uses
    the English table in addition to its own, because English is the most frequent foreign language
    in an agent's replies.
    """
    own = _TABLES.get(code, {})
    cased = own if "openers" in own else _TABLES[ENGLISH]
    abbreviations: dict[str, Abbreviation] = {}
    for table in (_TABLES["everywhere"], cased, own):
        for kind in Abbreviation:
            abbreviations |= dict.fromkeys(table.get(kind.name.lower(), "").split(), kind)
    for word in _SUPPRESSIONS.get(code, ()):
        if word.lower() not in abbreviations:
            abbreviations.setdefault(word, Abbreviation.OPEN)

    def words(name: str) -> frozenset[str]:
        return frozenset((own.get(name) or cased.get(name) or "").split())

    return Language(
        abbreviations=abbreviations,
        openers=words("openers"),
        labelled=words("labelled"),
        short=words("short"),
        after_time=words("after_time"),
        initials=words("initials"),
        full_stops=own.get("full_stops", ""),
        has_ordinals=own.get("has_ordinals", False),
        clause_break=re.compile(
            r"[,;:—–](?=\s)|(?<=\s)-(?=\s)|[，、；：]"
            + "".join(rf"|\s(?={word}\s)" for word in sorted(words("conjunctions")))
        ),
    )
