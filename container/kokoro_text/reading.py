"""How written words are read, and the rewriting of text that keeps track of it."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import regex

LINK = regex.compile(r"\[([^\[\]]{1,200})\]\(([^()]{1,200})\)")
"""A word with its phonemes, its language or its respelling. The groups are the word and the rest.

`[Kokoro](/kˈOkəɹO/)` has phonemes, `[bonjour](fr-fr)` a language, and `[nginx](=engine x)` words
that are said in its place.
"""

# A vowel sign of Devanagari is a mark.
_WORD_END, _WORD_START = regex.compile(r"[\p{L}\p{M}\p{N}]"), regex.compile(r"[\p{L}\p{N}]")
_WORD = regex.compile(rf"(?:{LINK.pattern}|\S)+")


@dataclass(frozen=True)
class Reading:
    """Written words and the words that are said for them.

    Attributes:
        written: A word as it was written, with its punctuation. It is several words if they are
            read together, as in `Dec. 25`.
        spoken: What is said, with punctuation; empty if nothing is. A word with known phonemes is
            written as `[word](/phonemes/)`, and a word of another language as `[word](fr-fr)`.
    """

    written: str
    spoken: str


def words_of(text: str) -> list[str]:
    """Split `text` at white space, but not within links."""
    return [word[0] for word in _WORD.finditer(text)]


Say = Callable[["regex.Match[str]"], str | None]
"""Returns the words to say for a match, or None to leave the match to later rules."""


class Rewriter:
    """Replaces written forms by the words that are said, and remembers where they were written.

    Rules are applied in order. Text that a rule has replaced is not matched again, but later rules
    see the original text around their match, for example in a look-behind. Links are left alone by
    all rules; `respell` replaces those with a respelling.

    Args:
        words: The words as written.
        forms: The same words in the form that the rules expect, without blanks. May be empty.

    Attributes:
        text: The forms, joined by blanks. Rules match this text.
    """

    def __init__(self, words: Sequence[str], forms: Sequence[str]) -> None:
        self._words = words
        self.text = " ".join(forms)
        self._starts = list(accumulate((len(form) + 1 for form in forms), initial=0))
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
            while edit < len(edits) and edits[edit][0] < self._starts[last + 1] - 1:
                last = max(last, bisect_right(self._starts, edits[edit][1] - 1) - 1)
                edit += 1
            start, end = self._starts[first], self._starts[last + 1] - 1
            readings.append(
                Reading(
                    " ".join(self._words[first : last + 1]),
                    self._spoken(start, end, edits[begin:edit]),
                )
            )
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
            said += " " if _WORD_END.match(said[-1:]) and _WORD_START.match(piece) else ""
            said += piece
        return " ".join(said.split())
