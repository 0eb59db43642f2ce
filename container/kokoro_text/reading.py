"""How written words are read, and the rewriting of text that keeps track of it."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add

import regex

LINK = regex.compile(r"\[([^\[\]]{1,200})\]\(([^()]{1,200})\)")
"""A word with its phonemes, its language or its respelling. The groups are the word and the rest.

`[Kokoro](/kˈOkəɹO/)` has phonemes, `[bonjour](fr-fr)` a language, and `[nginx](=engine x)` words
that are said in its place.
"""

# A vowel sign of Devanagari is a mark.
_WORD_END, _WORD_START = regex.compile(r"[\p{L}\p{M}\p{N}]"), regex.compile(r"[\p{L}\p{N}]")
_WORD = regex.compile(rf"(?:{LINK.pattern}|\S)+")
# Letters that are not divided from each other in languages without blanks between words.
_FOREIGN = {
    "ja": r"[\p{L}\p{M}\p{Nd}--[\p{Han}\p{Hiragana}\p{Katakana}々〆ーｰﾞﾟ]]",
    "cmn": r"[\p{L}\p{M}\p{Nd}--[\p{Han}々〆]]",
}
_CHARACTERS = {
    language: regex.compile(rf"({LINK.pattern}|{letters}+|(?!\s)\X)(?<blank>\s*)", regex.VERSION1)
    for language, letters in _FOREIGN.items()
}


@dataclass(frozen=True)
class Reading:
    """Written words and the words that are said for them.

    Attributes:
        written: A word as it was written, with its punctuation. It is several words if they are
            read together, as in `Dec. 25`.
        spoken: What is said, with punctuation; empty if nothing is. A word with known phonemes is
            written as `[word](/phonemes/)`, and a word of another language as `[word](fr-fr)`.
        after: A blank, or nothing if the next word follows without one, as in Japanese.
    """

    written: str
    spoken: str
    after: str = " "


def words_of(text: str) -> list[str]:
    """Split `text` at white space, but not within links."""
    return [word[0] for word in _WORD.finditer(text)]


def characters_of(text: str, language: str) -> tuple[list[str], list[str]]:
    """Split `text` into its characters.

    Numbers, links and words in other scripts, such as Latin ones, are not split.

    Args:
        text: Any text.
        language: A language without blanks between words: `ja` or `cmn`.

    Returns:
        The characters and words, and what follows each: a blank or nothing.
    """
    found = list(_CHARACTERS[language].finditer(text))
    return [match[1] for match in found], [" " if match["blank"] else "" for match in found]


def spoken_text(readings: Iterable[Reading]) -> str:
    """Return what is said for `readings`, as one text."""
    return " ".join("".join(reading.spoken + reading.after for reading in readings).split())


Say = Callable[["regex.Match[str]"], str | None]
"""Returns the words to say for a match, or None to leave the match to later rules."""


def table_rule(words: Mapping[str, str]) -> tuple["regex.Pattern[str]", Say]:
    """Return the rule that replaces each key of `words` by its value, for `Rewriter.rule`."""
    pattern = regex.compile("|".join(map(regex.escape, words)))
    return pattern, lambda match: words[match[0]]


class Rewriter:
    """Replaces written forms by the words that are said, and remembers where they were written.

    Rules are applied in order. Text that a rule has replaced is not matched again, but later rules
    see the original text around their match, for example in a look-behind. Links are left alone by
    all rules; `respell` replaces those with a respelling.

    Args:
        words: The words as written.
        forms: The same words in the form that the rules expect, without blanks. May be empty.
        after: What follows each word: a blank or nothing. None stands for blanks everywhere.

    Attributes:
        text: The forms, each with what follows it. Rules match this text.
    """

    def __init__(
        self, words: Sequence[str], forms: Sequence[str], after: Sequence[str] | None = None
    ) -> None:
        self._words = words
        self._with_blanks = after is None
        self._after = [" "] * len(words) if after is None else after
        self.text = "".join(map(add, forms, self._after)).rstrip()
        lengths = map(len, map(add, forms, self._after))
        self._starts = list(accumulate(lengths, initial=0))
        self._ends = list(map(add, self._starts, map(len, forms)))
        self._taken = bytearray(len(self.text))
        self._edits: list[tuple[int, int, str]] = []
        for link in LINK.finditer(self.text):
            self._taken[slice(*link.span())] = b"\1" * len(link[0])

    def rule(self, pattern: "regex.Pattern[str]", say: Say) -> None:
        """Replace the matches of `pattern` that no earlier rule has replaced.

        Args:
            pattern: A pattern whose search takes linear time. If it has a group named `said`, only
                that group is replaced, and the rest of the match is context.
            say: Returns the words to say for a match.
        """
        group = "said" if "said" in pattern.groupindex else 0
        for match in pattern.finditer(self.text):
            start, end = match.span(group)
            if start < end and self.is_free(start, end):
                spoken = say(match)
                if spoken is not None:
                    self.replace(start, end, spoken)

    def is_free(self, start: int, end: int) -> bool:
        """Whether neither a rule has replaced, nor a link contains, any of `text[start:end]`."""
        return not any(self._taken[start:end])

    def replace(self, start: int, end: int, spoken: str) -> None:
        """Replace `text[start:end]`, which must be free, by the words to say."""
        self._taken[start:end] = b"\1" * (end - start)
        self._edits.append((start, end, spoken))

    def respell(self, say: Callable[[str], str]) -> None:
        """Replace the links with a respelling by what `say` returns for the respelling."""
        for link in LINK.finditer(self.text):
            if link[2][0] == "=":
                self._edits.append((*link.span(), say(link[2][1:])))

    def readings(self) -> list[Reading]:
        """Return how each word is read. Words that one edit spans are one reading."""
        edits = sorted(self._edits)
        readings: list[Reading] = []
        first = edit = 0
        while first < len(self._words):
            last = first
            begin = edit
            while edit < len(edits) and edits[edit][0] < self._ends[last]:
                last = max(last, bisect_right(self._starts, edits[edit][1] - 1) - 1)
                edit += 1
            written = "".join(map(add, self._words[first:last], self._after[first:last]))
            spoken = self._spoken(self._starts[first], self._ends[last], edits[begin:edit])
            readings.append(Reading(written + self._words[last], spoken, self._after[last]))
            first = last + 1
        return readings

    def _spoken(self, start: int, end: int, edits: Sequence[tuple[int, int, str]]) -> str:
        pieces: list[str] = []
        for begin, stop, spoken in edits:
            pieces += self.text[start:begin], spoken
            start = stop
        pieces.append(self.text[start:end])
        said = ""
        for piece in pieces:
            # Words that were written together, as in `FY2024`, are said one after the other.
            if self._with_blanks and _WORD_END.match(said[-1:]) and _WORD_START.match(piece):
                said += " "
            said += piece
        return " ".join(said.split())
