"""A lexicon: how names and terms are pronounced, in place of what the language's rules say."""

import tomllib
from collections.abc import Callable, Iterator, Mapping

import regex

from kokoro_text.characters import canonical
from kokoro_text.phonemes import unknown_phonemes
from kokoro_text.reading import Rewriter
from kokoro_voice.languages import LANGUAGES

MAX_WORD_CHARS = 60
MAX_PRONUNCIATION_CHARS = 100

_BRACKETS = regex.compile(r"[\[\]()]")
_WORD_SIGN = regex.compile(r"[\p{L}\p{M}\p{N}]")
# These scripts are written without blanks, so a word may begin and end anywhere.
_WITHOUT_BLANKS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}]")
_VOICELESS, _SIBILANTS = "ptkfθT", "szʃʒʧʤ"


class LexiconError(Exception):
    """An entry of a lexicon is wrong. The message names it and says what is accepted."""


class Lexicon:
    """Pronunciations of whole words in some languages.

    An entry may be several words. It matches in any case, unless it has a capital letter; then it
    matches as it is written. The longest entry at a place counts. An English `'s` may follow.
    """

    def __init__(self) -> None:
        self._languages: dict[str, _Entries] = {}

    @classmethod
    def of(cls, entries: Mapping[str, str], language: str) -> "Lexicon":
        """Return the lexicon of one language.

        Args:
            entries: Pronunciations by word: `/phonemes/` in Kokoro's alphabet, or a respelling in
                plain words.
            language: One of the values of `kokoro_voice.languages.LANGUAGES`.

        Raises:
            LexiconError: An entry is not accepted.
        """
        lexicon = cls()
        for word, pronunciation in entries.items():
            lexicon._add([language], word, pronunciation)
        return lexicon

    @classmethod
    def parse(cls, toml: str) -> "Lexicon":
        """Parse a file: a table for each language, with a line for each word.

        The table `[en]` is for American and British English. An entry in `[en-us]` or `[en-gb]`
        replaces one in `[en]` that comes before it.

        Raises:
            LexiconError: A line is not accepted. The message begins with its number.
        """
        lexicon = cls()
        table = ""
        seen: set[tuple[str, str]] = set()
        # Each line of such a file is TOML by itself, so each error has the number of its line.
        for number, line in enumerate(toml.replace("\r\n", "\n").split("\n"), 1):
            try:
                parsed = tomllib.loads(line)
                if line.lstrip().startswith("["):
                    (table,) = parsed
                    _languages(table, parsed[table])
                elif parsed:
                    ((word, pronunciation),) = parsed.items()
                    if not isinstance(pronunciation, str):
                        raise LexiconError(
                            f'{word}: give one text in quotation marks, as in "{word}" = "…"; '
                            "quote a word that has a dot or a blank"
                        )
                    if (table, word) in seen:
                        raise LexiconError(f"{word}: the table [{table}] has this word already")
                    seen.add((table, word))
                    lexicon._add(_languages(table, {}), word, pronunciation)
            except tomllib.TOMLDecodeError as error:
                problem = str(error).partition(" (at line")[0]
                raise LexiconError(
                    f'line {number}: not valid TOML: {problem}; give "word" = "pronunciation"'
                ) from None
            except LexiconError as error:
                raise LexiconError(f"line {number}: {error}") from None
        return lexicon

    def apply(self, rewriter: Rewriter, language: str, say: Callable[[str], str]) -> None:
        """Replace the words of `rewriter` that have an entry, and that nothing has replaced.

        Args:
            rewriter: The words of a sentence.
            language: Their language.
            say: Returns the words to say for a respelling.
        """
        entries = self._languages.get(language)
        if entries is None:
            return
        text = rewriter.text
        for start, end, pronunciation in entries.matches(text, language.startswith("en-")):
            if not rewriter.is_free(start, end):
                continue
            if pronunciation[0] != "/":
                rewriter.replace(start, end, say(pronunciation))
                continue
            phonemes = pronunciation[1:-1]
            if language.startswith("en-") and text.startswith("'s", end):
                end += 2
                phonemes += _possessive(phonemes)
            rewriter.replace(start, end, f"[{text[start:end]}](/{phonemes}/)")

    def _add(self, languages: list[str], word: str, pronunciation: str) -> None:
        # What is far too long is cut first. One character too many is enough for the error.
        form = " ".join(filter(None, map(canonical, word[: MAX_WORD_CHARS + 1].split())))
        pronunciation = " ".join(pronunciation.split(None, MAX_PRONUNCIATION_CHARS))
        if (
            not _WORD_SIGN.search(form)
            or max(len(word), len(form)) > MAX_WORD_CHARS
            or _BRACKETS.search(form)
        ):
            raise LexiconError(
                f"{_shown(word)}: not a word; give 1 to {MAX_WORD_CHARS} characters without "
                "brackets"
            )
        has_phonemes = pronunciation[:1] == "/"
        if (
            not _WORD_SIGN.search(pronunciation)
            or len(pronunciation) > MAX_PRONUNCIATION_CHARS
            or _BRACKETS.search(pronunciation)
            or (has_phonemes and (len(pronunciation) < 3 or pronunciation[-1] != "/"))
        ):
            raise LexiconError(
                f"{_shown(word)}: {_shown(pronunciation)} is not a pronunciation; give /phonemes/ "
                f"or plain words, at most {MAX_PRONUNCIATION_CHARS} characters without brackets"
            )
        if has_phonemes and (unknown := unknown_phonemes(pronunciation[1:-1])):
            raise LexiconError(
                f"{_shown(word)}: the voices have no phoneme {', '.join(unknown)} in "
                f"{pronunciation}; use Kokoro's alphabet"
            )
        for language in languages:
            self._languages.setdefault(language, _Entries()).add(form, pronunciation)


class _Entries:
    """The entries of one language."""

    def __init__(self) -> None:
        self._exact: dict[str, str] = {}
        self._any_case: dict[str, str] = {}
        self._lengths: dict[str, list[int]] = {}
        """The lengths of the words that begin with a character, the longest first."""

    def add(self, form: str, pronunciation: str) -> None:
        """Add a word, or replace its pronunciation."""
        (self._any_case if form == form.lower() else self._exact)[form] = pronunciation
        lengths = self._lengths.setdefault(form[0].lower(), [])
        if len(form) not in lengths:
            lengths.append(len(form))
            lengths.sort(reverse=True)

    def matches(self, text: str, english: bool) -> Iterator[tuple[int, int, str]]:
        """Yield the start, the end and the pronunciation of each word that has an entry."""
        start = 0
        while start < len(text):
            found = self._longest(text, start, english)
            if found is None:
                start += 1
            else:
                yield (start, *found)
                start = found[0]

    def _longest(self, text: str, start: int, english: bool) -> tuple[int, str] | None:
        if not _is_start(text, start, english):
            return None
        for length in self._lengths.get(text[start].lower(), ()):
            form = text[start : start + length]
            pronunciation = self._exact.get(form) or self._any_case.get(form.lower())
            if pronunciation is not None and _is_end(text, start + len(form)):
                return start + len(form), pronunciation
        return None


def _is_start(text: str, position: int, english: bool) -> bool:
    # Unlike in the French l'API, no word begins after an English apostrophe, as in o'clock.
    if (
        english
        and position > 1
        and text[position - 1] == "'"
        and _WORD_SIGN.match(text[position - 2])
    ):
        return False
    return _is_edge(text, position)


def _is_end(text: str, position: int) -> bool:
    if text.startswith("'", position) and _WORD_SIGN.match(text, position + 1):
        return text.startswith("'s", position) and _is_edge(text, position + 2)
    return _is_edge(text, position)


def _is_edge(text: str, position: int) -> bool:
    """Whether no word goes on at `position`."""
    if not 0 < position < len(text):
        return True
    before, after = text[position - 1], text[position]
    return not (_WORD_SIGN.match(before) and _WORD_SIGN.match(after)) or bool(
        _WITHOUT_BLANKS.match(before) or _WITHOUT_BLANKS.match(after)
    )


def _possessive(phonemes: str) -> str:
    if phonemes[-1] in _SIBILANTS:
        return "ᵻz"
    return "s" if phonemes[-1] in _VOICELESS else "z"


def _languages(table: str, content: object) -> list[str]:
    known = sorted(set(LANGUAGES.values()))
    if content != {} or table not in ("en", *known):
        raise LexiconError(
            f"[{table}] is not a language; give a table [en], [{'], ['.join(known)}]"
            if table
            else "a word before the first table; give a table such as [en] first"
        )
    return ["en-us", "en-gb"] if table == "en" else [table]


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
