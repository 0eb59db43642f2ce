"""Where a sentence ends: the rules, one stop at a time.

For each stop, the rules look a bounded way back (the words before) and ahead (closers, white
space, at most the next word).
"""

import re
import unicodedata

from voice_agent.sentences.markup import line_break, span
from voice_agent.sentences.terminators import (
    BRACKETS,
    CONTINUING,
    DASHES,
    DOTS,
    FULL_STOPS,
    LINE_BREAKS,
    LOOKAHEAD_CHARS,
    LOOKBACK_CHARS,
    MARKS,
    OPENERS,
    SPAN_OPENERS,
    WAIT,
    MoreTextNeeded,
    Stop,
    run_pattern,
)
from voice_agent.sentences.words import Abbreviation, SentenceWords

_SIGNS = frozenset("$€£¥₹#%&+/|")
_BEFORE_WORD = OPENERS + "，、；：…—"
_ACRONYM = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]")
_LETTER_OR_ROMAN = re.compile(r"\w|[IVX]{1,5}")
_ROMAN = re.compile(r"[ivx]{1,5}", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_PART = re.compile(r"['’–-]|(?<=\d)/|(?<=\d)(?=[^\W\d_])")
_WITHOUT_VOWEL = re.compile(r"(?!.*(.)\1$)[B-DF-HJ-NP-TV-XZ][b-df-hj-np-tv-xz]{1,5}")  # not "Hmm"
_NO_SPACE_LETTER = re.compile(  # of the scripts written without spaces
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
_ADDRESS_PART = re.compile(r"://|www\.|[@/\\=&#]")
_AMOUNT = re.compile(r"[^\w\s]?\d[\d.,:]*")
_NAME_GOES_ON = re.compile(r"[\w/:.-]")
_CODE_GOES_ON = re.compile(r"[(\[/_=@&\d]")
# What shows that a quotation is only a part of its sentence: in Japanese a particle, in Chinese and
# Japanese a pronoun and a verb of saying.
_QUOTE_GOES_ON = re.compile(
    r"と(?![てにこきり])|って|など|を|の(?!ち)|が|は(?![いじ])|に(?!ほ)|で(?![もはす])"
    r"|だ(?![がけかっ])|です(?![がか])"
    r"|(?:[他她它我你您谁]们?[^，。！？、\s]?)?[说說道问問喊叫答](?!道?[:：])"
    r"|彼女?は[^，。！？、\s]{0,3}?[言聞答叫]"
)
_QUOTE_MAY_GO_ON = re.compile(
    r"[とのはにでっなだ]|です|[他她它我你您谁]们?[^，。！？、\s]?"
    r"|(?:[他她它我你您谁]们?[^，。！？、\s]?)?[说說道问問喊叫答]道?"
    r"|彼女?(?:は[^，。！？、\s]{0,3})?"
)


class SentenceEnds:
    """The rules of one language.

    Args:
        words: The language's words.

    Attributes:
        search_stop: Finds the next stop, as :meth:`re.Pattern.search` does.
    """

    def __init__(self, words: SentenceWords) -> None:
        self._words = words
        full_stops = FULL_STOPS + words.full_stops
        self._full_stops = frozenset(full_stops)
        self._run = run_pattern(full_stops)
        stops = re.escape(DOTS + MARKS + full_stops + LINE_BREAKS + SPAN_OPENERS)
        self.search_stop = re.compile(f"[{stops}]").search

    def judge(self, text: str, start: int, at: int, limit: int) -> int:
        """Judge the stop at ``text[at]``, in the sentence that begins at ``text[start]``.

        Args:
            text: The text so far; more may come.
            start: Index of the sentence's first character, not white space.
            at: Index of the stop, as :attr:`search_stop` found it.
            limit: The index that the sentence may not go beyond; nor do the rules look further.

        Returns:
            The index after the sentence when it ends here, the negated index to go on from when
            it does not, or :data:`WAIT`.
        """
        stop = text[at]
        if stop in LINE_BREAKS:
            return line_break(text, start, at, limit)
        if stop in SPAN_OPENERS:
            return span(text, start, at, limit)
        if at + 1 == len(text):
            return WAIT
        if stop == "." and (text[at + 1].islower() or text[at + 1].isdigit()):  # example.org, 3.5
            return -(at + 1)
        horizon = min(at + LOOKAHEAD_CHARS, limit)
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
            return self._end(Stop(text, start, match, limit, complete))
        except MoreTextNeeded:
            return WAIT

    def _end(self, stop: Stop) -> int:
        """Return the end of the sentence or the negated index to go on from."""
        stop.settle_closers()
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
        elif stop.follower in CONTINUING:
            ends = False
        elif not stop.run.strip(DOTS + " \u00a0\u202f"):
            ends = self._ellipsis(stop)
        else:
            ends = self._mark(stop)
        return stop.end if ends else -stop.run_end

    # -- The kinds of stop: each says whether the sentence ends. -----------------------------

    def _full_stop(self, stop: Stop) -> bool:
        """。？ ।: an end, unless a quotation closes and its sentence goes on."""
        stop.return_openers()
        if stop.line_ends or not stop.follower:
            return True
        if stop.space:
            return stop.follower not in CONTINUING
        if stop.follower in CONTINUING:
            return False
        if stop.run == "．" and stop.follower.isalnum():  # a full-width 3．5
            return False
        return not self._quote_goes_on(stop)

    def _quote_goes_on(self, stop: Stop) -> bool:
        """Whether a quotation that closes is only a part of its sentence: 「はい。」と言った。"""
        if not stop.closes_quotation:
            return False
        stop.settle(_QUOTE_MAY_GO_ON)
        return _QUOTE_GOES_ON.match(stop.text, stop.end) is not None

    def _mark(self, stop: Stop) -> bool:
        """! and ? before white space: an end, unless a lower-case word goes on."""
        if stop.follower in OPENERS or not stop.letter().islower():
            return True
        if stop.encloses or stop.within_bracket or stop.follower in DASHES:
            return False  # "“Why?” he asked", "(why? nobody knows)", "—¿Vienes? —preguntó"
        if stop.uncapitalised:
            return True
        # "Yahoo! is big" goes on; "Oh no! what now" does not.
        return "?" in stop.run or (stop.before != [] and stop.before[-1][0].islower())

    def _ellipsis(self, stop: Stop) -> bool:
        """... and …: an end before a capital; after a mere "Well" not before "I", always one."""
        letter = stop.letter()
        if letter.islower() or letter.isdigit() or _NO_SPACE_LETTER.match(letter):
            return False
        short = len(stop.before) < 2
        return not (short and letter == "I" and stop.word().split("'")[0] == "I")

    def _full_point(self, stop: Stop) -> bool:
        """A full point before white space."""
        if not stop.line_ends and stop.follower in CONTINUING and stop.follower:
            return False
        words = stop.before
        if not words or stop.text[stop.at - 1].isspace():
            return True
        word = _NO_SPACE_LETTER.split(words[-1])[-1].lstrip(_BEFORE_WORD) or words[-1]
        if len(word) == 1 and word.isalpha() and word not in self._words.initials:
            return self._initial(stop, word)
        if word.isdigit():
            return self._number(stop, word)
        kind = self._abbreviation(word)
        if kind is None and len(part := _PART.split(word)[-1]) > 1:  # "l'avv.", "$3/lb.", "9a.m."
            kind = self._abbreviation(part)
            word = part if kind else word
        if len(words) > 1 and words[-2][-1] == ".":  # "p. ex.", "EE. UU."
            kind = self._abbreviation(words[-2].lstrip(OPENERS) + word) or kind
        if kind is None and (self._is_acronym(word) or _WITHOUT_VOWEL.fullmatch(word)):
            kind = Abbreviation.OPEN
        if kind is not None:
            return self._after_abbreviation(stop, word, kind)
        if stop.line_ends:
            return True
        if word in self._words.initials:
            return self._initial_name(stop)
        if stop.leads and _ROMAN.fullmatch(word):  # marks an item: "iv. the rest"
            return False
        if not stop.follower.islower():
            return not (stop.encloses and stop.follower in DASHES and stop.letter().islower())
        if stop.encloses or stop.within_bracket:
            return False
        if word.islower() or not word.isalpha():
            return len(word) > 2 or word in self._words.short or not word.isalpha()
        return len(word) > 3 or word.isupper() or len(words) == 1

    def _after_abbreviation(self, stop: Stop, word: str, kind: Abbreviation) -> bool:
        """A full point after an abbreviation: it depends on what follows."""
        if ")" in stop.closers:  # "(5 sec.)" within a sentence, or a sentence of its own
            return stop.text[stop.start] == "(" and not stop.letter().islower()
        if stop.encloses and kind in (Abbreviation.INNER, Abbreviation.TITLE):
            kind = Abbreviation.OPEN  # a word about itself: "It says 'Dr.' It means a drive."
        if kind is Abbreviation.INNER:
            return False
        if kind is Abbreviation.TITLE and not _is_street(stop):
            return stop.letter().isupper() and not self._may_be_name(stop)
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
            return everyday and stop.uncapitalised  # "it says no. we tried"
        if not letter.isalpha():
            return True
        if not letter.isupper():  # a script without capitals
            return kind is Abbreviation.TAIL
        if kind is Abbreviation.LABEL:  # "No. I tried": an everyday word, too
            return word.lower() in self._words.short or not self._numbers(stop)
        if kind is Abbreviation.TAIL:
            return self._after_tail(stop, word)
        return self._next_opens(stop) or "¿" in skipped or "¡" in skipped

    def _may_be_name(self, stop: Stop) -> bool:
        """Whether a name comes next: not so in "Thanks, Dr. I will" and "Is he a Dr.? He's"."""
        following = stop.word()
        if following == "I":
            return stop.after_word(1) == "."
        return "'" not in following or not self._opens(following)

    def _after_unit(self, stop: Stop, word: str, letter: str) -> bool:
        """ "5 sec.", "Sec. 2", and the everyday word in "Wait a sec."."""
        if _DIGIT.search(" ".join(stop.before)[-len(word) - 2 :]):  # "5 sec", "5sec", "$5/lb"
            return letter.isupper() or not letter.isalnum()
        if word[0].isupper() and (letter.isdigit() or self._numbers(stop)):
            return False
        if letter.islower():
            return word in self._words.short or stop.uncapitalised
        return not letter.isdigit() or word in self._words.short  # "min. 5"

    def _numbers(self, stop: Stop) -> bool:
        """Whether a letter or a Roman numeral comes next: "Sec. B", "Vol. II"."""
        return _LETTER_OR_ROMAN.fullmatch(stop.word(_LETTER_OR_ROMAN.fullmatch)) is not None

    def _after_tail(self, stop: Stop, word: str) -> bool:
        """ "etc." or "a.m." before a capital."""
        if word.lower() not in ("a.m", "p.m"):
            return True
        # "At 5 a.m. Mr. Cho went running": so little before it is hardly a sentence.
        short = len(stop.before) <= 3 and stop.at - stop.start < LOOKBACK_CHARS

        def may_go_on(beginning: str) -> bool:
            beginning = beginning.lower()
            return short or any(word.startswith(beginning) for word in self._words.after_time)

        following = stop.word(may_go_on)
        if following.lower() in self._words.after_time:
            return False
        return not (short and self._abbreviation(following) is Abbreviation.TITLE)

    def _initial(self, stop: Stop, word: str) -> bool:
        """One letter: an initial ("J. Novak"), a marker ("a. apples") or a name ("plan B")."""
        if stop.leads:
            return False
        previous = stop.before[-2].strip(OPENERS) or "-"
        if previous[-1] == "." and (kind := self._abbreviation(previous + word)):  # "a. m."
            return self._after_abbreviation(stop, previous + word, kind)
        if self._abbreviation(word) in (Abbreviation.INNER, Abbreviation.TITLE):
            return False
        if previous[-1] == ":" and word in "Aa":  # marks an item: "Options: A. Call. B. Text."
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
        spelled = len(previous.rstrip(",")) == 1 and previous[0].isalnum()
        if spelled and not previous.islower():  # "X, 7, Q."
            return True
        pronoun = word == "I" and previous.islower()
        if pronoun and len(stop.word(lambda beginning: len(beginning) == 1)) > 1:
            return True
        if len(stop.stem()) == 1:  # the next initial, or a name again: "B over C. D was out"
            return stop.after_word(1) != "."
        return pronoun or self._next_opens(stop)

    def _initial_name(self, stop: Stop) -> bool:
        """An initial in a script without capitals: a letter's name beside another one's."""
        if len(stop.before) == 1 or stop.before[-2][-1] == ".":
            return False
        return stop.word() not in self._words.initials

    def _number(self, stop: Stop, word: str) -> bool:
        """Digits: an end, unless they mark an item ("1. Open it") or are an ordinal ("3. Mai")."""
        if stop.leads:
            if len(word) <= 3:
                return False
        elif len(word) <= 2 and stop.before[-2][-1] in (":;|" if word == "1" else ";|"):
            return False  # "First: 1. Eat", unlike "Result: 42. Done"
        elif len(word) <= 2 and stop.letter().islower() and not stop.line_ends:
            return stop.uncapitalised  # "1. soup, 2. fish"
        if self._words.ordinals and len(word) <= 2 and not stop.line_ends:
            letter = stop.letter()
            if letter.isalpha():
                return letter.isupper() and self._next_opens(stop)
        return True

    def _glued(self, stop: Stop) -> int:
        """No white space: mostly the inside of a name, sometimes a space that was lost."""
        go_on = -stop.run_end
        follower = stop.follower
        if not follower:
            return stop.end
        if follower == "<":
            follower = stop.pass_tags()
        if follower in "[<":
            return go_on
        if stop.return_openers():
            return stop.end
        own = stop.before[-1] if stop.before else ""
        dots = stop.run[-1] in DOTS
        if _NO_SPACE_LETTER.match(follower):
            if self._quote_goes_on(stop):
                return go_on
            latin = _NO_SPACE_LETTER.split(own)[-1]
            marks = latin.isdigit() and stop.leads and latin == own
            short = _ACRONYM.fullmatch(latin) or (len(latin) == 1 and latin.isalpha())
            inner = stop.run != "." or marks or short or self._abbreviation(latin)
            return go_on if dots and inner else stop.end
        if not dots and _NO_SPACE_LETTER.match(own[-1:]) and follower not in CONTINUING:
            return stop.end
        if follower in "“«„¿¡「『":
            return stop.end if own[-1:].isalnum() else go_on
        if not dots and unicodedata.category(follower) == "Lo":  # a script without capitals
            return stop.end
        return stop.end if self._lost_space(stop, own) else go_on

    def _lost_space(self, stop: Stop, own: str) -> bool:
        """Whether a capital begins a sentence: "found it.Let me", unlike "ASP.NET"."""
        bare = own.strip(OPENERS + BRACKETS)
        amount = _AMOUNT.fullmatch(bare) is not None
        point = stop.run == "."
        if point and bare.isdigit() and len(bare) <= 3 and stop.leads:  # marks an item: "1.Open"
            return False
        if not stop.follower.isupper() or (_ADDRESS_PART.search(own) and not amount):
            return False
        beyond = stop.after_word(1)
        if _CODE_GOES_ON.match(beyond):
            return False
        if not point:
            return True
        if beyond in ".:-" and _NAME_GOES_ON.match(stop.after_word(2)[1:]):
            return False
        following = stop.word()
        if following.isupper() and following not in ("I", "A"):
            return False
        if amount or own[-1:] in ")%€£°":
            return True
        letters = bare.replace("'", "").replace("’", "")
        kind = self._abbreviation(bare)
        if len(bare) < 2 or not letters.isalpha() or bare.isupper():  # "10am", "NASA", "p.m"
            known = bare[:1].isdigit() or (len(bare) > 2 and letters.isalpha())
            return (known or kind is Abbreviation.TAIL) and self._opens(following)
        if kind is not None and bare.lower() not in self._words.short:
            return False
        return bare.islower() or self._opens(following) or stop.at - stop.start <= len(own)

    # -- Words -------------------------------------------------------------------------------

    def _abbreviation(self, word: str) -> Abbreviation | None:
        kinds = self._words.abbreviations
        return kinds.get(word) or kinds.get(word.lower())

    def _is_acronym(self, word: str) -> bool:
        """Whether full points stand between letters, or between their names: "यू.के."."""
        if _ACRONYM.fullmatch(word):
            return True
        return "." in word and self._words.initials.issuperset(word.split("."))

    def _next_opens(self, stop: Stop) -> bool:
        """Whether the next word opens sentences."""
        return self._opens(stop.stem()) or self._opens(stop.word())

    def _opens(self, word: str) -> bool:
        """Whether ``word`` opens sentences."""
        word = word.lower()
        return word in self._words.openers or word.split("'")[0] in self._words.openers


def _is_street(stop: Stop) -> bool:
    """Whether "Dr." is a drive: "We met at Oak Dr. It rained"."""
    words = stop.before
    return words[-1] == "Dr" and len(words) > 2 and words[-2].istitle() and words[-2].isalpha()
