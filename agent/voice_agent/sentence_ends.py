"""Where a sentence ends: the rules, one stop at a time.

A *stop* is a character at which a sentence may end, or at which something begins that can hide
stops: ``. ! ?`` and their kin, a line break, and the openers of code spans, links and tags. For
each, the rules look a bounded way back (the words before) and ahead (closers, white space, at
most the next word).
"""

import re
from collections.abc import Callable

from voice_agent.sentence_words import Abbreviation, SentenceWords

WAIT = 0
"""The answer is in text that has not come yet."""

LOOKAHEAD_CHARS = 64
"""How far after a stop the rules look at most; then they decide with what there is."""

SPAN_CHARS = 256
"""How far the closer of a code span, link or tag may be; without one, its opener is a mere sign."""

_LOOKBACK_CHARS = 48
"""How far before a stop the words are that decide about it."""

_DOTS = ".…⋯"
_MARKS = "!?‼⁇⁈⁉"
# Sentence terminals (Unicode property Sentence_Terminal) that need no space or capital after them.
_FULL_STOPS = "。｡．！？︒﹒﹗﹖।॥۔؟։።፧፨།༎။၊។៕᙮᠃᠉"
_LINE_BREAKS = "\n\u2028\u2029"
_SPAN_OPENERS = "`<["

_EMOJI = "\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\ufe0f\u200d\U0001f000-\U0001faff"
_QUOTES = "\"'”’»›」』＂＇"
_BRACKETS = ")]}）］｝】〉》〕〗〙〛"
_OPENERS = "\"'“”‘’„«»‹›([{（［「『【《〈¿¡*_~"
_BOTH_WAYS = frozenset("\"'*_~")  # quotes and markup that open and close alike
_DASHES = "-‐‑–—―"
_CONTINUING = frozenset(",;:)]}，、；：）」』】》〉")
_SIGNS = frozenset("$€£¥₹#%&+/|")

_CLOSER = (
    rf"[{re.escape(_QUOTES + _BRACKETS)}*_~]"  # the last three end markdown's emphasis
    r"|[“‘](?!\w)"  # German closes with these
    r"|[ ]?\[\d{1,3}\]"  # a reference: "It is true.[1]"
    r"|</[A-Za-z][^<>\s]{0,30}>"
    r"|[ \u00a0\u202f][»›](?!\w)"  # French leaves a space
    r"|[ ]?[:;]-?[()DP](?![\w.])"  # :-)
    rf"|[ ]?[{_EMOJI}]+"
)
_PARTIAL_CLOSER = re.compile(r"[ ]?(?:\[\d{0,3}|[:;]-?)|</?[A-Za-z]?[^<>\s]{0,30}")
_CLOSER_BEGINS = frozenset("[<:;")
_SKIPPED = re.compile(rf"[{re.escape(_OPENERS + _DASHES)}\s]*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_LETTER_OR_ROMAN = re.compile(r"\w|[IVX]{1,5}")
_ROMAN = re.compile(r"[ivx]{1,5}", re.IGNORECASE)
_NO_SPACE_LETTER = re.compile(  # of the scripts written without spaces
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
_HEADING = re.compile(r"#{1,6}[ \t]")
_LIST_ITEM = re.compile(r"[-*+•–—◦▪‣·][ \t]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,5})[.)][ \t]|[|>]")
_LETTER_MARKER = re.compile(r"(?:[a-z]|[ivx]{1,5})[.)][ \t]")
_PARTIAL_LETTER_MARKER = re.compile(r"(?:[a-z]|[ivx]{1,5})[.)]?")
_ADDRESS_PART = re.compile(r"://|www\.|[@/\\=&#]")
_AMOUNT = re.compile(r"[^\w\s]?\d[\d.,:]*")
_CODE_GOES_ON = re.compile(r"[(\[/_=@&\d]")
# What shows that a quotation is only a part of its sentence: in Japanese a particle, in Chinese and
# Japanese a pronoun and a verb of saying.
_QUOTE_GOES_ON = re.compile(
    r"と(?![てにこきり])|って|など|を|の(?!ち)|が|は(?![いじ])|に(?!ほ)|で(?![もはす])"
    r"|(?:[他她它我你您谁]们?[^，。！？、\s]?)?[说說道问問喊叫答]|彼女?は[^，。！？、\s]{0,3}?[言聞答叫]"
)
_QUOTE_MAY_GO_ON = re.compile(
    r"[とのはにでっな]|[他她它我你您谁]们?[^，。！？、\s]?|彼女?(?:は[^，。！？、\s]{0,3})?"
)
_FENCE = re.compile(r"(`+|~+)[^`\n]*(\n?)")
_LINK = re.compile(r"\[[^\]\n]*\](?:(?=[^(])|\((?:[^()\n]|\([^()\n]*\))*\))")
_TAG = re.compile(r"<(?:/?[A-Za-z][\w:-]*(?:\s[^<>\n]*)?|[^\s<>]+|!--[^\n]*?--)>")
_PARTIAL_TAG = re.compile(r"<(?:/?[A-Za-z][\w:-]*(?:\s[^<>\n]*)?|[^\s<>]*|!--[^\n]*)")


class _MoreTextNeeded(Exception):
    """The rule needs text that has not come yet."""


class _Stop:
    """A run of stops and what stands around it.

    Attributes:
        run: The run itself, such as ``.`` or ``?!``.
        run_end: Index after the run.
        closers: The quotes, brackets and the like that close with the sentence.
        end: Index after the closers: of the sentence, if it ends here.
        space: The white space after the closers.
        follower: The character after the white space, ``""`` at the end of the text.
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
        """The words before the stop, in this sentence and within reach; the last one is its own."""
        if self._before is None:
            self._before = self.text[max(self.start, self.at - _LOOKBACK_CHARS) : self.at].split()
        return self._before

    @property
    def line_ends(self) -> bool:
        return "\n" in self.space

    @property
    def encloses(self) -> bool:
        """Whether a quotation or a bracket closes."""
        return any(closer in _QUOTES or closer in _BRACKETS for closer in self.closers)

    def return_openers(self) -> bool:
        """Leave a ``"`` or ``*`` that follows at once, yet closes nothing, to the next sentence."""
        first = self.closers[:1]
        if self.space or not self.follower or first not in _BOTH_WAYS:
            return False
        before = self.text.count(first, self.start, self.at)
        if before % 2 or (before and first not in "\"'"):
            return False
        self.end, self.closers = self.run_end, ""
        self._follower_at = self.run_end
        self.follower = first
        return True

    def ahead(self, count: int) -> str:
        """Return the ``count`` characters from the follower on, fewer at the end of the text."""
        if self._follower_at + count > self._limit and not self._complete:
            raise _MoreTextNeeded
        return self.text[self._follower_at : min(self._follower_at + count, self._limit)]

    def settle(self, partial: re.Pattern[str]) -> None:
        """Wait while all text after the closers may be the beginning of ``partial``."""
        if not self._complete and partial.fullmatch(self.text, self.end):
            raise _MoreTextNeeded

    def skipped(self) -> str:
        """Return the openers and dashes before what the next words begin with."""
        match = _SKIPPED.match(self.text, self._follower_at, self._limit)
        assert match is not None  # it matches nothing, too
        if match.end() >= self._limit and not self._complete:
            raise _MoreTextNeeded
        return match[0]

    def letter(self) -> str:
        """Return the character that the next words begin with, ``""`` when there are none."""
        if self.follower.isalnum():
            return self.follower
        place = self._follower_at + len(self.skipped())
        return self.text[place] if place < self._limit else ""

    def word(self, matters: Callable[[str], object] | None = None) -> str:
        """Return the next word as it is written, ``""`` when none comes next.

        While the word may grow, and ``matters`` is true of its beginning, more text is needed.
        """
        place = self._follower_at + len(self.skipped())
        match = _WORD.match(self.text, place, self._limit)
        if match is None:
            return ""
        growing = match.end() >= self._limit and not self._complete
        if growing and (matters is None or matters(match[0])):
            raise _MoreTextNeeded
        return match[0].replace("’", "'")

    def after_word(self, count: int) -> str:
        """Return the ``count`` characters after the next word."""
        offset = len(self.skipped()) + len(self.word())
        return self.ahead(offset + count)[offset:]


class SentenceEnds:
    """The rules of one language.

    Args:
        words: The language's words.

    Attributes:
        search_stop: Finds the next stop, as :meth:`re.Pattern.search` does.
    """

    def __init__(self, words: SentenceWords) -> None:
        self._words = words
        full_stops = _FULL_STOPS + words.full_stops
        self._full_stops = frozenset(full_stops)
        stops = re.escape(_DOTS + _MARKS + full_stops)
        # The run may be spaced ("? !", ". . ."); what follows a spaced dot is not a file's name.
        self._run = re.compile(
            rf"([{stops}]+(?:[ \u00a0\u202f]?[{_DOTS}]+(?![\w/])|[ \u00a0\u202f]+[{_MARKS}]+)*)"
            rf"((?:{_CLOSER})*)(\s*)"
        )
        self.search_stop = re.compile(f"[{stops}{re.escape(_LINE_BREAKS + _SPAN_OPENERS)}]").search

    def judge(self, text: str, start: int, at: int) -> int:
        """Judge the stop at ``text[at]``, in the sentence that begins at ``text[start]``.

        Args:
            text: The text so far; more may come.
            start: Index of the sentence's first character, not white space.
            at: Index of the stop, as :attr:`search_stop` found it.

        Returns:
            The index after the sentence when it ends here, the negated index to go on from when
            it does not, or :data:`WAIT`.
        """
        stop = text[at]
        if stop in _LINE_BREAKS:
            return _line_break(text, start, at)
        if stop in _SPAN_OPENERS:
            return _span(text, start, at)
        if at + 1 == len(text):
            return WAIT
        if stop == "." and (text[at + 1].islower() or text[at + 1].isdigit()):  # example.org, 3.5
            return -(at + 1)
        horizon = at + LOOKAHEAD_CHARS
        complete = len(text) >= horizon
        limit = min(len(text), horizon)
        match = self._run.match(text, at, horizon)
        assert match is not None  # it begins with a stop
        if match.end() == limit:
            if match.end(2) == horizon:  # an endless run: go on after it
                return -limit
            if not complete and "\n" not in match[3]:
                return WAIT
        try:
            return self._end(_Stop(text, start, match, limit, complete))
        except _MoreTextNeeded:
            return WAIT

    def _end(self, stop: _Stop) -> int:
        """Return the end of the sentence or the negated index to go on from."""
        if stop.follower in _CLOSER_BEGINS:
            stop.settle(_PARTIAL_CLOSER)
        if stop.run == ".":
            if stop.space:
                ends = self._full_point(stop)
            else:
                return self._glued(stop)
        elif not self._full_stops.isdisjoint(stop.run):
            ends = self._full_stop(stop)
        elif not stop.space and stop.follower:
            return self._glued(stop)
        elif stop.line_ends or not stop.follower:
            ends = True
        elif stop.follower in _CONTINUING:
            ends = False
        elif not stop.run.strip(_DOTS + " \u00a0\u202f"):
            ends = self._ellipsis(stop)
        else:
            ends = self._mark(stop)
        return stop.end if ends else -stop.run_end

    # -- The kinds of stop: each says whether the sentence ends. -----------------------------

    def _full_stop(self, stop: _Stop) -> bool:
        """。？ ।: an end, unless a quotation closes and its sentence goes on."""
        stop.return_openers()
        if stop.line_ends or not stop.follower:
            return True
        if stop.space:
            return stop.follower not in _CONTINUING
        if stop.follower in _CONTINUING:
            return False
        if stop.run == "．" and stop.follower.isalnum():  # a full-width 3．5
            return False
        if any(closer in _QUOTES for closer in stop.closers):
            stop.settle(_QUOTE_MAY_GO_ON)
            return not _QUOTE_GOES_ON.match(stop.text, stop.end)
        return True

    def _mark(self, stop: _Stop) -> bool:
        """! and ? before white space: an end, unless a lower-case word goes on."""
        if stop.follower in _OPENERS or not stop.letter().islower():
            return True
        if stop.encloses or stop.follower in _DASHES:  # «—¿Vienes? —preguntó»
            return False
        if _without_capitals(stop):
            return True
        # "Yahoo! is big" goes on; "Oh no! what now" does not.
        return "?" in stop.run or (stop.before != [] and stop.before[-1][0].islower())

    def _ellipsis(self, stop: _Stop) -> bool:
        """... and …: an end before a capital; "I" is always one, so it decides only late."""
        letter = stop.letter()
        if letter.islower() or letter.isdigit() or _NO_SPACE_LETTER.match(letter):
            return False
        short = len(stop.before) < 4  # "Well... I am not sure"
        return not (short and letter == "I" and stop.word().split("'")[0] == "I")

    def _full_point(self, stop: _Stop) -> bool:
        """A full point before white space."""
        if not stop.line_ends and stop.follower in _CONTINUING and stop.follower:
            return False
        words = stop.before
        if not words or stop.text[stop.at - 1].isspace():
            return True
        word = _NO_SPACE_LETTER.split(words[-1])[-1].lstrip(_OPENERS) or words[-1]
        if len(word) == 1 and word.isalpha():
            return self._initial(stop, word)
        if word.isdigit():
            return self._number(stop, word)
        kind = self._abbreviation(word)
        if kind is None and "'" in word.replace("’", "'")[:-2]:  # "l'avv.", "dall'ing."
            kind = self._abbreviation(re.split("['’]", word)[-1])
        if len(words) > 1 and words[-2][-1] == ".":  # "p. ex.", "EE. UU."
            kind = self._abbreviation(words[-2].lstrip(_OPENERS) + word) or kind
        if kind is None and self._is_acronym(word):
            kind = Abbreviation.OPEN
        if kind is not None:
            return self._after_abbreviation(stop, word, kind)
        if stop.line_ends:
            return True
        if word in self._words.initials:
            return self._initial_name(stop)
        if len(words) == 1 and _ROMAN.fullmatch(word):  # marks an item: "iv. the rest"
            return False
        if not stop.follower.islower():
            return not (stop.encloses and stop.follower in _DASHES and stop.letter().islower())
        if stop.encloses:
            return False
        if word.islower() or not word.isalpha():
            return len(word) > 2 or word in self._words.short or not word.isalpha()
        return len(word) > 3 or word.isupper() or len(words) == 1

    def _after_abbreviation(self, stop: _Stop, word: str, kind: Abbreviation) -> bool:
        """A full point after an abbreviation: it depends on what follows."""
        if ")" in stop.closers:  # "(5 sec.)" within a sentence, or a sentence of its own
            return stop.text[stop.start] == "(" and not stop.letter().islower()
        if kind is Abbreviation.INNER or (kind is Abbreviation.TITLE and not _is_street(stop)):
            return False
        if stop.line_ends and not stop.ahead(1).isalnum():
            return True
        letter = stop.letter()
        if kind is Abbreviation.UNIT:
            return self._after_unit(stop, word, letter)
        if not letter:
            return True
        if stop.line_ends:
            return not letter.islower()
        if letter.isdigit() or letter in _SIGNS or "(" in (skipped := stop.skipped()):
            return False
        if letter.islower():
            everyday = kind is Abbreviation.LABEL and word in self._words.short
            return everyday and _without_capitals(stop)  # "it says no. we tried"
        if not letter.isalpha():
            return True
        if not letter.isupper():  # a script without capitals
            return kind is Abbreviation.TAIL
        if kind is Abbreviation.LABEL:  # "No. I tried": an everyday word, too
            return word.lower() in self._words.short or not self._numbers(stop)
        if kind is Abbreviation.TAIL:
            return self._after_tail(stop, word)
        return self._opens(stop.word()) or "¿" in skipped or "¡" in skipped

    def _after_unit(self, stop: _Stop, word: str, letter: str) -> bool:
        """ "5 sec.", "Sec. 2", and the everyday word in "Wait a sec."."""
        if len(stop.before) > 1 and stop.before[-2][-1].isdigit():
            return letter.isupper() or not letter.isalnum()
        if word[0].isupper() and (letter.isdigit() or self._numbers(stop)):
            return False
        return not letter.islower() or len(word) > 2 or word in self._words.short

    def _numbers(self, stop: _Stop) -> bool:
        """Whether a letter or a Roman numeral comes next: "Sec. B", "Vol. II"."""
        return _LETTER_OR_ROMAN.fullmatch(stop.word(_LETTER_OR_ROMAN.fullmatch)) is not None

    def _after_tail(self, stop: _Stop, word: str) -> bool:
        """ "etc." or "a.m." before a capital."""
        if word.lower() not in ("a.m", "p.m"):
            return True
        # "At 5 a.m. Mr. Cho went running": so little before it is hardly a sentence.
        short = len(stop.before) <= 3 and stop.at - stop.start < _LOOKBACK_CHARS

        def may_go_on(beginning: str) -> bool:
            beginning = beginning.lower()
            return short or any(word.startswith(beginning) for word in self._words.after_time)

        following = stop.word(may_go_on)
        if following.lower() in self._words.after_time:
            return False
        return not (short and self._abbreviation(following) is Abbreviation.TITLE)

    def _initial(self, stop: _Stop, word: str) -> bool:
        """One letter: an initial ("J. Novak"), a marker ("a. apples") or a name ("plan B")."""
        previous = stop.before[-2].strip(_OPENERS) if len(stop.before) > 1 else ""
        kind = self._abbreviation(word)
        if previous.endswith("."):
            kind = self._abbreviation(previous + word) or kind
        if not previous or kind in (Abbreviation.INNER, Abbreviation.TITLE):
            return False
        letter = stop.letter()
        if not letter or previous.lower() in self._words.labelled:
            return True
        if word in "àèéìíòóùúôÀÈÉ" and not letter.islower():  # words of Romance languages
            return True
        if stop.line_ends:
            return not letter.islower()
        if letter.islower() or letter.isdigit() or "(" in stop.skipped():
            return False
        if not letter.isupper() or previous[-1].isdigit():  # "1.5 L. Stir"
            return True
        pronoun = word == "I" and previous.islower()
        following = stop.word(lambda beginning: len(beginning) == 1 or not pronoun)
        if len(following) == 1 and stop.after_word(1) == ".":  # the next initial
            return False
        return pronoun or self._opens(following)

    def _initial_name(self, stop: _Stop) -> bool:
        """An initial in a script without capitals: a letter's name beside another one's."""
        if len(stop.before) == 1 or stop.before[-2][-1] == ".":
            return False
        return stop.word() not in self._words.initials

    def _number(self, stop: _Stop, word: str) -> bool:
        """Digits: an end, unless they mark an item ("1. Open it") or are an ordinal ("3. Mai")."""
        if len(stop.before) == 1:
            if len(word) <= 3:
                return False
        elif len(word) <= 2 and stop.before[-2][-1] in ":;|":
            return False
        if self._words.ordinals and len(word) <= 2 and not stop.line_ends:
            letter = stop.letter()
            if letter.isalpha():
                return letter.isupper() and self._opens(stop.word())
        return True

    def _glued(self, stop: _Stop) -> int:
        """No white space: mostly the inside of a name, sometimes a space that was lost."""
        go_on = -stop.run_end
        follower = stop.follower
        if not follower:
            return stop.end
        if follower in "[<":
            return go_on
        if stop.return_openers():
            return stop.end
        own = stop.before[-1] if stop.before else ""
        dots = stop.run[-1] in _DOTS
        if _NO_SPACE_LETTER.match(follower):
            latin = _NO_SPACE_LETTER.split(own)[-1]
            marks = latin.isdigit() and len(stop.before) == 1 and latin == own
            short = _ACRONYM.fullmatch(latin) or (len(latin) == 1 and latin.isalpha())
            inner = stop.run != "." or marks or short or self._abbreviation(latin)
            return go_on if dots and inner else stop.end
        if not dots and _NO_SPACE_LETTER.match(own[-1:]) and follower not in _CONTINUING:
            return stop.end
        if follower in "“«„¿¡「『":
            return stop.end if own[-1:].isalnum() else go_on
        if not follower.isupper() or _ADDRESS_PART.search(own):
            return go_on
        beyond = stop.after_word(1)
        if _CODE_GOES_ON.match(beyond):
            return go_on
        if stop.run != ".":
            return stop.end
        if beyond in ".:-" and stop.after_word(2)[1:].strip():
            return go_on
        following = stop.word()
        if following.isupper() and following not in ("I", "A"):
            return go_on
        bare = own.strip(_OPENERS + _BRACKETS)
        letters = bare.replace("'", "").replace("’", "")
        if _AMOUNT.fullmatch(bare) or own[-1:] in ")%":
            return stop.end
        if len(bare) < 2 or not letters.isalpha() or bare.isupper():
            return go_on
        if self._abbreviation(bare) is not None and bare.lower() not in self._words.short:
            return go_on
        ends = bare.islower() or self._opens(following) or stop.at - stop.start <= len(own)
        return stop.end if ends else go_on

    # -- Words -------------------------------------------------------------------------------

    def _abbreviation(self, word: str) -> Abbreviation | None:
        kinds = self._words.abbreviations
        return kinds.get(word) or kinds.get(word.lower())

    def _is_acronym(self, word: str) -> bool:
        """Whether full points stand between letters, or between their names: "यू.के."."""
        if _ACRONYM.fullmatch(word):
            return True
        return "." in word and self._words.initials.issuperset(word.split("."))

    def _opens(self, word: str) -> bool:
        """Whether ``word`` opens sentences."""
        word = word.lower()
        return word in self._words.openers or word.split("'")[0] in self._words.openers


def _without_capitals(stop: _Stop) -> bool:
    """Whether the sentence begins in lower case, as in hasty messages."""
    first = _WORD.search(stop.text, stop.start, stop.at)
    return first is not None and first[0][0].islower()


def _is_street(stop: _Stop) -> bool:
    """Whether "Dr." is a drive: "We met at Oak Dr. It rained"."""
    words = stop.before
    return words[-1] == "Dr" and len(words) > 2 and words[-2].istitle() and words[-2].isalpha()


def _line_break(text: str, start: int, at: int) -> int:
    """A line break with no stop before it: an end, unless the next line runs on."""
    if _HEADING.match(text, start):
        return at
    go_on = -(at + 1)
    last = text[start:at].rstrip()[-1:]
    if last in ":：":
        return at
    limit = min(len(text), at + LOOKAHEAD_CHARS)
    complete = limit == at + LOOKAHEAD_CHARS
    place = at + 1
    while place < limit and text[place] in " \t\r":
        place += 1
    if place == limit:
        return at if complete else WAIT
    first = text[place]
    indented = place - at > 2
    if first in _LINE_BREAKS or (_LIST_ITEM.match(text, start) and not indented):
        return at
    if first.islower():
        if _PARTIAL_LETTER_MARKER.fullmatch(text, place, limit) and not complete:
            return WAIT
        return at if _LETTER_MARKER.match(text, place, limit) else go_on
    if first in _CONTINUING:
        return go_on
    if first in _DASHES:  # a marker, a rule, or a dash within the sentence
        if place + 1 == limit and not complete:
            return WAIT
        second = text[place + 1 : place + 2]
        return at if second.isspace() or second == first else go_on
    if last in ",，、" and (first.isalpha() or first in _OPENERS):
        return go_on
    return at


def fence_at(text: str, start: int) -> str | None:
    """Return the backticks or tildes of the code fence that opens at ``text[start]``.

    Returns:
        ``""`` when none does; None when that is not decided yet.
    """
    match = _FENCE.match(text, start, start + SPAN_CHARS)
    if match is None:
        return ""
    if len(match[1]) < 3:
        return "" if match.end(1) < len(text) else None
    if match[2]:  # the line ends, and no backtick has closed a code span
        return match[1]
    return None if match.end() == len(text) < start + SPAN_CHARS else ""


def _span(text: str, start: int, at: int) -> int:
    """The opener of a code span, link or tag: go on after its closer."""
    limit = min(len(text), at + SPAN_CHARS)
    complete = limit == at + SPAN_CHARS
    if text[at] == "`":
        ticks = at
        while ticks < limit and text[ticks] == "`":
            ticks += 1
        if ticks == len(text):
            return WAIT
        fence = text[at:ticks]
        closer = re.compile(rf"(?<!`){fence}(?!`)|\n").search(text, ticks, limit)
        if closer is None:
            return -ticks if complete else WAIT
        if closer[0] == "\n":
            return at if len(fence) >= 3 and at > start else -ticks
        return -closer.end() if closer.end() < len(text) else WAIT  # more backticks may come
    if text[at] == "<":
        if (tag := _TAG.match(text, at, limit)) is not None:
            return -tag.end()
        open_ended = _PARTIAL_TAG.fullmatch(text, at, limit) is not None
    else:
        if (link := _LINK.match(text, at, limit)) is not None:
            return -link.end() if link[0].endswith(")") else -(at + 1)  # mere brackets
        open_ended = text.find("\n", at, limit) < 0
    return WAIT if open_ended and not complete else -(at + 1)
