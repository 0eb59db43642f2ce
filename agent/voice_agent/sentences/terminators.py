"""Terminators, what stands around them, and the verdicts on them.

A *terminator* is a character at which a sentence may end, or at which something begins that can
hide terminators: `.`, `!`, `?` and their kin, a line break, and the openers of code spans, links
and tags.
"""

import enum
import re
from collections.abc import Callable

LOOKAHEAD_CHARS = 64
"""How far after a terminator the rules look at most; then they decide with what there is."""

LOOKBACK_CHARS = 48
"""How far before a terminator the words are that decide about it."""


class Verdict(enum.Enum):
    """Whether a sentence ends at a terminator."""

    ENDS = enum.auto()
    CONTINUES = enum.auto()
    UNDECIDED = enum.auto()


type Judgement = tuple[Verdict, int]
"""A verdict and the index to scan on from, which is after the sentence when that ends."""

DOTS = ".…⋯"
MARKS = "!?‼⁇⁈⁉"
# Sentence terminals (Unicode property Sentence_Terminal) that need no space or capital after them.
FULL_STOPS = "。｡．！？︒﹒﹗﹖।॥۔؟։።፧፨།༎။၊។៕᙮᠃᠉"
LINE_BREAKS = "\n\u2028\u2029"
SPAN_OPENERS = "`<["

_EMOJI = "\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\ufe0f\u200d\U0001f000-\U0001faff"
_QUOTES = "\"'”’»›」』＂＇"
BRACKETS = ")]}）］｝】〉》〕〗〙〛"
OPENERS = "\"'“”‘’„«»‹›([{（［「『【《〈¿¡*_~"
_BOTH_WAYS = frozenset("\"'*_~")  # quotes and markup that open and close alike
DASHES = "-‐‑–—―"
CONTINUING = frozenset(",;:)]}，、；：）」』】》〉")

_CLOSER = (
    rf"[{re.escape(_QUOTES + BRACKETS)}*_~]"  # the last three end markdown's emphasis
    r"|[“‘](?!\w)"  # German closes with these
    r"|[ ]?\[(?:\d{1,3}|\^\w{1,16})\]"  # a reference: "It is true.[1]"
    r"|</[A-Za-z][^<>\s]{0,30}>"
    r"|<(?:br|hr|[A-Za-z][^<>\n]{0,40}/)>"  # a pause: <break time="1s"/>
    r"|[ \u00a0\u202f][»›](?!\w)"  # French leaves a space
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
    """Return what matches a run of terminators, then closers, then white space.

    The run may be spaced ("? !", ". . ."); what follows a spaced dot is not a file's name.
    """
    terminators, space = re.escape(DOTS + MARKS + full_stops), "[ \u00a0\u202f]"
    return re.compile(
        rf"([{terminators}]+(?:{space}?[{DOTS}]+(?![\w/])|{space}+[{MARKS}]+)*)"
        rf"((?:{_CLOSER})*)(\s*)"
    )


class MoreTextNeeded(Exception):
    """The rule needs text that has not come yet."""


class Terminator:
    """A run of terminators and what stands around it.

    Attributes:
        run: The run itself, such as `.` or `?!`.
        run_end: Index after the run.
        closers: The quotes, brackets and the like that close with the sentence.
        end: Index after the closers: of the sentence, if it ends here.
        space: The white space after the closers.
        follower: The character after the white space, `""` at the end of the text.
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
        """The words before the run, in this sentence and within reach; it ends the last one."""
        if self._before is None:
            words = self.text[max(self.start, self.at - LOOKBACK_CHARS) : self.at].split()
            self._before = [word.rpartition(">")[2] or word for word in words]  # "<b>Dr."
        return self._before

    @property
    def leads(self) -> bool:
        """Whether only markup stands before the word that the run ends: "1.", "## 1.", "> a."."""
        return not any(map(str.isalnum, "".join(self.before[:-1])))

    @property
    def line_ends(self) -> bool:
        """Whether the line ends after the closers."""
        return "\n" in self.space

    @property
    def encloses(self) -> bool:
        """Whether a quotation or a bracket closes."""
        return any(closer in _QUOTES or closer in BRACKETS for closer in self.closers)

    @property
    def within_bracket(self) -> bool:
        """Whether a bracket of this sentence is open."""
        opened = self.text.count("(", self.start, self.at)
        return opened > self.text.count(")", self.start, self.at)

    @property
    def closes_quotation(self) -> bool:
        """Whether a quotation closes."""
        return any(closer in _QUOTES for closer in self.closers)

    @property
    def uncapitalised(self) -> bool:
        """Whether the sentence begins in lower case, as in hasty messages."""
        first = _WORD.search(self.text, self.start, self.at)
        return first is not None and first[0][0].islower()

    def return_openers(self) -> bool:
        """Leave a `"` or `*` that follows at once, yet closes nothing, to the next sentence."""
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
        """Step over tags that open right after the closers; return the follower after them."""
        self.settle(_PARTIAL_TAGS)
        if (tags := _OPENING_TAGS.match(self.text, self._follower_at, self._limit)) is not None:
            self._follower_at = tags.end()
            self.follower = self.text[tags.end() : min(tags.end() + 1, self._limit)]
        return self.follower

    def ahead(self, count: int) -> str:
        """Return the `count` characters from the follower on, fewer at the end of the text."""
        if self._follower_at + count > self._limit and not self._complete:
            raise MoreTextNeeded
        return self.text[self._follower_at : min(self._follower_at + count, self._limit)]

    def settle_closers(self) -> None:
        """Ask for more text while what follows may yet be one of the closers."""
        if self.follower in _CLOSER_BEGINS:
            self.settle(_PARTIAL_CLOSER)

    def settle(self, partial: re.Pattern[str]) -> None:
        """Ask for more text while all text after the closers matches `partial`."""
        if not self._complete and partial.fullmatch(self.text, self.end):
            raise MoreTextNeeded

    def skipped(self) -> str:
        """Return the openers and dashes before what the next words begin with."""
        match = _SKIPPED.match(self.text, self._follower_at, self._limit)
        assert match is not None  # it matches nothing, too
        if match.end() >= self._limit and not self._complete:
            raise MoreTextNeeded
        return match[0]

    def letter(self) -> str:
        """Return the character that the next words begin with, `""` when there are none."""
        if self.follower.isalnum():
            return self.follower
        place = self._follower_at + len(self.skipped())
        return self.text[place] if place < self._limit else ""

    def word(self, matters: Callable[[str], object] | None = None) -> str:
        """Return the next word as it is written, `""` when none comes next.

        While the word may grow, and `matters` is true of its beginning, more text is needed.
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
        """Return the next word up to an apostrophe, which is known sooner than the whole word."""
        place = self._follower_at + len(self.skipped())
        match = _STEM.match(self.text, place, self._limit)
        assert match is not None  # it matches nothing, too
        if match.end() >= self._limit and not self._complete:
            raise MoreTextNeeded
        return match[0]

    def after_word(self, count: int) -> str:
        """Return the `count` characters after the next word."""
        offset = len(self.skipped()) + len(self.word())
        return self.ahead(offset + count)[offset:]
