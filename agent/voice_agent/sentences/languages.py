"""What the sentence rules know of each language.

Two files meet here. `cldr_suppressions.json` holds the abbreviations that Unicode CLDR keeps from
ending a sentence (Unicode-3.0 licence, see the file); they say *that* a word is an abbreviation.
`languages.toml` says *which kind* it is, because the kind decides whether a sentence may end there
at all, and holds the other words that the rules ask for: to add a language, add its table there.
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
"""Languages by the first letter of a voice's name (Kokoro-82M, VOICES.md)."""


class Abbreviation(enum.Enum):
    """What a full stop after an abbreviation can mean."""

    INNER = "never an end: e.g., vs."
    TITLE = "a name follows, so no end before a word: Dr., Mr."
    LABEL = "a number or letter follows: No. 5, Fig. B"
    UNIT = "an abbreviation only after a number: 5 sec."
    OPEN = "an end when a word follows that opens sentences: Inc., Ave., Jan."
    TAIL = "an end before any capital: etc."
    CLOCK = "an end before any capital, save what goes with a time: a.m."


@dataclass(frozen=True, slots=True)
class Language:
    """What the rules know of one language.

    Attributes:
        abbreviations: The kind of each abbreviation, which is written without its last full stop.
        openers: Words, in lower case, that open sentences and are not names.
        labelled: Nouns, in lower case, that a single letter may follow: "vitamin C".
        short: Words of two letters, in lower case, that end sentences.
        after_time: Words, in lower case, that go with a clock time: "10 a.m. Tuesday".
        initials: Names of letters that stand for initials in a script without capitals.
        full_stops: Further characters that end sentences.
        has_ordinals: Whether a number with a full stop is an ordinal: "3. Mai".
        clause_break: Matches where a clause ends: a comma, a dash, a colon, or the white space
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


PRONOUNS = frozenset({"I"})  # of one letter, and a capital also within a sentence (English)
CAPITAL_WORDS = PRONOUNS | {"A"}  # they open sentences, and are no acronyms
LETTER_WORDS = frozenset("àèéìíòóùúôÀÈÉ")  # of one letter, and no initials (Romance languages)
STREETS = frozenset({"Dr"})  # titles that also abbreviate a kind of street (English): "Oak Dr."
# An abbreviation, since nobody can pronounce it; "Hmm" is none.
VOWELLESS = re.compile(r"(?!.*(.)\1$)[B-DF-HJ-NP-TV-XZ][b-df-hj-np-tv-xz]{1,5}")

# What shows that a quotation ends before its sentence does, and what may still grow into that.
# In Japanese, a particle, a copula, or a pronoun with a verb of saying;
# in Chinese, a pronoun with a verb of saying, or that verb alone.
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
    """Return the ISO 639-1 code of the language that `voice` speaks; English if unknown."""
    return _VOICES.get(voice[:1], ENGLISH)


@functools.cache
def language_rules(code: str) -> Language:
    """Return what is known of the language `code`, an ISO 639-1 code.

    A language without a table gets the English one. A script without capitals gets it as well,
    beside its own, since English names and replies are the foreign text that an agent meets most.
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
