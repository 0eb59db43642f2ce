"""Terminators, the text around them, and the verdicts on them.

A *terminator* is a character at which a sentence may end: `.`, `!`, `?`, similar characters of
other scripts, and a line break. The openers of code spans, links and tags are terminators as well,
because the text that they enclose may contain terminators.
"""

import enum
import re
from collections.abc import Callable

LOOKAHEAD_CHARS = 64
"""How far the rules look ahead of a terminator. With this much text, they always decide."""

LOOKBACK_CHARS = 48
"""How far the rules look back from a terminator, at the words before it."""


class Verdict(enum.Enum):
    """Whether a sentence ends at a terminator."""

    ENDS = enum.auto()
    CONTINUES = enum.auto()
    UNDECIDED = enum.auto()


type Judgement = tuple[Verdict, int]
"""A verdict, and the index at which to continue. For `ENDS`, it is the end of the sentence."""

DOTS = ".…⋯"
MARKS = "!?‼⁇⁈⁉"
# Sentence terminals (Unicode property Sentence_Terminal) after which neither a space nor a capital
# is needed.
FULL_STOPS = "。｡．！？︒﹒﹗﹖।॥۔؟։።፧፨།༎။၊។៕᙮᠃᠉"
LINE_BREAKS = "\n\u2028\u2029"
SPAN_OPENERS = "`<["

_EMOJI = "\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\ufe0f\u200d\U0001f000-\U0001faff"
_QUOTES = "\"'”’»›」』＂＇"
BRACKETS = ")]}）］｝】〉》〕〗〙〛"
OPENERS = "\"'“”‘’„«»‹›([{（［「『【《〈¿¡*_~"
_BOTH_WAYS = frozenset("\"'*_~")  # quotes and markup with the same opener and closer
DASHES = "-‐‑–—―"
CONTINUING = frozenset(",;:)]}，、；：）」』】》〉")
NO_SPACE_LETTER = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""A letter of a script that is written without spaces."""

_CLOSER = (
    rf"[{re.escape(_QUOTES + BRACKETS)}*_~]"  # the last three close emphasis in Markdown
    r"|[“‘](?!\w)"  # German closing quotation marks
    r"|[ ]?\[(?:\d{1,3}|\^\w{1,16})\]"  # a reference: "It is true.[1]"
    r"|</[A-Za-z][^<>\s]{0,30}>"
    r"|<(?:br|hr|[A-Za-z][^<>\n]{0,40}/)>"  # a pause: <break time="1s"/>
    r"|[ \u00a0\u202f][»›](?!\w)"  # French has a space before the closing quotation mark
    r"|[ ]?[:;]-?[()DP](?![\w.])"  # :-)
    rf"|[ ]?[{_EMOJI}]+"
)
_PARTIAL_CLOSER = re.compile(
    r"[ ]?(?:\[(?:\d{0,3}|\^\w{0,16})|[:;]-?)|<(?:/?|/?[A-Za-z][^<>\n]{0,40})"
)
_OPENING_TAGS = re.compile(r"(?:<[A-Za-z][^<>\n]{0,40}>)+")
_PARTIAL_TAGS = re.compile(r"(?:<[A-Za-z][^<>\n]{0,40}>)*(?:<(?:[A-Za-z][^<>\n]{0,40})?)?")
_CLOSER_BEGINS = frozenset("[<:;")
_SKIPPED = re.compile(rf"[{re.escape(OPENERS + DASHES)}\s]*")
_STEM = re.compile(r"[^\W\d_]*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def run_pattern(full_stops: str) -> re.Pattern[str]:
    """Return a pattern for a run of terminators, the closers after it, and white space.

    The run may contain spaces ("? !", ". . ."). A dot after a space is not part of the run if it
    begins a file's name.
    """
    terminators, space = re.escape(DOTS + MARKS + full_stops), "[ \u00a0\u202f]"
    return re.compile(
        rf"([{terminators}]+(?:{space}?[{DOTS}]+(?![\w/])|{space}+[{MARKS}]+)*)"
        rf"((?:{_CLOSER})*)(\s*)"
    )


class MoreTextNeeded(Exception):
    """The rule needs text that has not arrived yet."""


class Terminator:
    """A run of terminators and the text around it.

    Attributes:
        run: The run itself, such as `.` or `?!`.
        run_end: The index after the run.
        closers: The quotes, brackets and similar characters that close together with the sentence.
        end: The index after the closers. If the sentence ends at this terminator, it ends here.
        space: The white space after the closers.
        follower: The character after the white space; `""` at the end of the text.
    """

    __slots__ = (
        "_before", "_complete", "_follower_at", "_limit", "at", "closers", "end", "follower", "run",
        "run_end", "space", "start", "text",
    )  # fmt: skip

    def __init__(
        self, text: str, start: int, match: re.Match[str], limit: int, complete: bool
    ) -> None:
        self.text = text
        self.start = start
        self.at, self._follower_at = match.span()
        self.run, self.closers, self.space = match.groups()
        self.run_end, self.end = match.end(1), match.end(2)
        self.follower = text[self._follower_at] if self._follower_at < limit else ""
        self._limit = limit
        self._complete = complete
        self._before: list[str] | None = None

    @property
    def before(self) -> list[str]:
        """The words of this sentence before the run, within `LOOKBACK_CHARS`."""
        if self._before is None:
            words = self.text[max(self.start, self.at - LOOKBACK_CHARS) : self.at].split()
            self._before = [word.rpartition(">")[2] or word for word in words]  # "<b>Dr."
        return self._before

    @property
    def leads(self) -> bool:
        """Whether only markup precedes the word before the run: "1.", "## 1.", "> a."."""
        return not any(map(str.isalnum, "".join(self.before[:-1])))

    @property
    def line_ends(self) -> bool:
        """Whether a line break follows the closers."""
        return "\n" in self.space

    @property
    def encloses(self) -> bool:
        """Whether the closers end a quotation or a bracket."""
        return any(closer in _QUOTES or closer in BRACKETS for closer in self.closers)

    @property
    def within_bracket(self) -> bool:
        """Whether this sentence has an open bracket."""
        opened = self.text.count("(", self.start, self.at)
        return opened > self.text.count(")", self.start, self.at)

    @property
    def closes_quotation(self) -> bool:
        """Whether the closers end a quotation."""
        return any(closer in _QUOTES for closer in self.closers)

    @property
    def uncapitalised(self) -> bool:
        """Whether the sentence begins in lower case, as in informal messages."""
        first = _WORD.search(self.text, self.start, self.at)
        return first is not None and first[0][0].islower()

    def return_openers(self) -> bool:
        """Move a quote or markup sign after the run to the next sentence if it closes nothing here.

        Returns:
            Whether the character was moved.
        """
        first = self.closers[:1]
        if self.space or not self.follower or first not in _BOTH_WAYS:
            return False
        before = self.text.count(first, self.start, self.at)
        if before % 2 or (before and first not in "\"'"):
            return False
        if first == "'" and self.follower.islower():  # "Acme Inc.'s"
            return False
        self.end, self.closers = self.run_end, ""
        self._follower_at = self.run_end
        self.follower = first
        return True

    def pass_tags(self) -> str:
        """Skip tags that open directly after the closers. Return the follower after them."""
        self.settle(_PARTIAL_TAGS)
        if (tags := _OPENING_TAGS.match(self.text, self._follower_at, self._limit)) is not None:
            self._follower_at = tags.end()
            self.follower = self.text[tags.end() : min(tags.end() + 1, self._limit)]
        return self.follower

    def ahead(self, count: int) -> str:
        """Return `count` characters, starting with the follower; fewer at the end of the text."""
        if self._follower_at + count > self._limit and not self._complete:
            raise MoreTextNeeded
        return self.text[self._follower_at : min(self._follower_at + count, self._limit)]

    def settle_closers(self) -> None:
        """Require more text while the following text may become one of the closers."""
        if self.follower in _CLOSER_BEGINS:
            self.settle(_PARTIAL_CLOSER)

    def settle(self, partial: re.Pattern[str]) -> None:
        """Require more text while all text after the closers matches `partial`."""
        if not self._complete and partial.fullmatch(self.text, self.end):
            raise MoreTextNeeded

    def skipped(self) -> str:
        """Return the openers and dashes before the first character of the next words."""
        match = _SKIPPED.match(self.text, self._follower_at, self._limit)
        assert match is not None  # the pattern also matches the empty string
        if match.end() >= self._limit and not self._complete:
            raise MoreTextNeeded
        return match[0]

    def letter(self) -> str:
        """Return the first character of the next words; `""` if there are none."""
        if self.follower.isalnum():
            return self.follower
        place = self._follower_at + len(self.skipped())
        return self.text[place] if place < self._limit else ""

    def word(self, matters: Callable[[str], object] | None = None) -> str:
        """Return the next word as it is written; `""` if no word follows.

        Args:
            matters: Takes the beginning of a word, and returns whether the complete word is needed.
                If it is None, the complete word is always needed.

        Raises:
            MoreTextNeeded: The word may continue, and the complete word is needed.
        """
        place = self._follower_at + len(self.skipped())
        match = _WORD.match(self.text, place, self._limit)
        if match is None:
            return ""
        end = match.end() + (self.text[match.end() : match.end() + 1] in ("'", "’"))
        growing = end >= self._limit and not self._complete
        if growing and (matters is None or matters(match[0])):
            raise MoreTextNeeded
        return match[0].replace("’", "'")

    def stem(self) -> str:
        """Return the next word up to an apostrophe. It needs less text than `word` does."""
        place = self._follower_at + len(self.skipped())
        match = _STEM.match(self.text, place, self._limit)
        assert match is not None  # the pattern also matches the empty string
        if match.end() >= self._limit and not self._complete:
            raise MoreTextNeeded
        return match[0]

    def after_word(self, count: int) -> str:
        """Return the `count` characters after the next word."""
        offset = len(self.skipped()) + len(self.word())
        return self.ahead(offset + count)[offset:]
