"""The rules that decide whether a sentence ends at a terminator.

For each terminator, the rules look a bounded distance back, at the words before it, and ahead, at
closers, white space and at most the next word. The words that they know are in `languages`.
"""

import re
import unicodedata

from sentences import languages
from sentences.languages import Abbreviation, Language
from sentences.markup import line_break, span
from sentences.terminators import (
    BRACKETS,
    CONTINUING,
    DASHES,
    DOTS,
    FULL_STOPS,
    LINE_BREAKS,
    LOOKAHEAD_CHARS,
    LOOKBACK_CHARS,
    MARKS,
    NO_SPACE_LETTER,
    OPENERS,
    SPAN_OPENERS,
    Judgement,
    MoreTextNeeded,
    Terminator,
    Verdict,
    run_pattern,
)

_SIGNS = frozenset("$€£¥₹#%&+/|")
_BEFORE_WORD = OPENERS + "，、；：…—"
_ACRONYM = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]")
_LETTER_OR_ROMAN = re.compile(r"\w|[IVX]{1,5}")
_ROMAN = re.compile(r"[ivx]{1,5}", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_COMPOUND_BREAK = re.compile(r"['’–-]|(?<=\d)/|(?<=\d)(?=[^\W\d_])")
_ADDRESS_SIGN = re.compile(r"://|www\.|[@/\\=&#]")
_AMOUNT = re.compile(r"[^\w\s]?\d[\d.,:]*")
_NAME_GOES_ON = re.compile(r"[\w/:.-]")
_CODE_GOES_ON = re.compile(r"[(\[/_=@&\d]")


class SentenceRules:
    """The rules for one language.

    Args:
        language: The words and characters of the language.

    Attributes:
        search_terminator: Finds the next terminator, as `re.Pattern.search` does.
    """

    def __init__(self, language: Language) -> None:
        self._language = language
        full_stops = FULL_STOPS + language.full_stops
        self._full_stops = frozenset(full_stops)
        self._run = run_pattern(full_stops)
        terminators = re.escape(DOTS + MARKS + full_stops + LINE_BREAKS + SPAN_OPENERS)
        self.search_terminator = re.compile(f"[{terminators}]").search

    def judge(self, text: str, start: int, at: int, limit: int) -> Judgement:
        """Judge the terminator at `text[at]`, in the sentence that begins at `text[start]`.

        Args:
            text: The text so far. More text may follow.
            start: Index of the sentence's first character, which is not white space.
            at: Index of the terminator that `search_terminator` found.
            limit: The greatest index at which the sentence may end. The rules look no further.

        Returns:
            The verdict and the index at which to continue.
        """
        character = text[at]
        if character in LINE_BREAKS:
            return line_break(text, start, at, limit)
        if character in SPAN_OPENERS:
            return span(text, start, at, limit)
        if at + 1 == len(text):
            return Verdict.UNDECIDED, at
        if character == "." and (text[at + 1].islower() or text[at + 1].isdigit()):  # a.org, 3.5
            return Verdict.CONTINUES, at + 1
        horizon = min(at + LOOKAHEAD_CHARS, limit)
        complete = len(text) >= horizon
        limit = min(len(text), horizon)
        match = self._run.match(text, at, horizon)
        assert match is not None  # the text at `at` begins with a terminator
        if match.end() == limit:
            if match.end(2) == horizon:  # a run up to the horizon: continue after it
                return Verdict.CONTINUES, limit
            if not complete and "\n" not in match[3]:
                return Verdict.UNDECIDED, at
        terminator = Terminator(text, start, match, limit, complete)
        try:
            ends = self._ends(terminator)
        except MoreTextNeeded:
            return Verdict.UNDECIDED, at
        if ends:
            return Verdict.ENDS, terminator.end
        return Verdict.CONTINUES, terminator.run_end

    # -- One method for each kind of terminator. It returns whether the sentence ends. --------

    def _ends(self, terminator: Terminator) -> bool:
        """Whether the sentence ends at a terminator other than a line break or a span."""
        terminator.settle_closers()
        if terminator.run == ".":
            return self._full_point(terminator) if terminator.space else self._glued(terminator)
        if not self._full_stops.isdisjoint(terminator.run):
            return self._full_stop(terminator)
        if not terminator.space and terminator.follower:
            return self._glued(terminator)
        if terminator.line_ends or not terminator.follower:
            return True
        if terminator.follower in CONTINUING:
            return False
        if not terminator.run.strip(DOTS + " \u00a0\u202f"):
            return self._ellipsis(terminator)
        return self._mark(terminator)

    def _full_stop(self, terminator: Terminator) -> bool:
        """。？ ।: ends the sentence, unless a quotation closes and its sentence continues."""
        terminator.return_openers()
        if terminator.line_ends or not terminator.follower:
            return True
        if terminator.space:
            return terminator.follower not in CONTINUING
        if terminator.follower in CONTINUING:
            return False
        if terminator.run == "．" and terminator.follower.isalnum():  # a full-width 3．5
            return False
        return not self._quote_goes_on(terminator)

    def _quote_goes_on(self, terminator: Terminator) -> bool:
        """Whether the sentence continues after a quotation that closes: 「はい。」と言った。"""
        if not terminator.closes_quotation:
            return False
        terminator.settle(languages.AFTER_QUOTATION_PARTIAL)
        return languages.AFTER_QUOTATION.match(terminator.text, terminator.end) is not None

    def _mark(self, terminator: Terminator) -> bool:
        """! and ? before white space: end the sentence, unless a lower-case word continues it."""
        if terminator.follower in OPENERS or not terminator.letter().islower():
            return True
        if terminator.encloses or terminator.within_bracket or terminator.follower in DASHES:
            return False  # "“Why?” he asked", "(why? nobody knows)", "—¿Vienes? —preguntó"
        if terminator.uncapitalised:
            return True
        # "Yahoo! is big" continues; "Oh no! what now" does not.
        return "?" in terminator.run or (
            terminator.before != [] and terminator.before[-1][0].islower()
        )

    def _ellipsis(self, terminator: Terminator) -> bool:
        """... and …: end the sentence before a capital.

        After a single word such as "Well", they do not end it before "I", which is always a
        capital.
        """
        letter = terminator.letter()
        if letter.islower() or letter.isdigit() or NO_SPACE_LETTER.match(letter):
            return False
        short = len(terminator.before) < 2
        return not (
            short
            and letter in languages.PRONOUNS
            and terminator.word().split("'")[0] in languages.PRONOUNS
        )

    def _full_point(self, terminator: Terminator) -> bool:
        """Return whether a full point before white space ends the sentence."""
        if not terminator.line_ends and terminator.follower in CONTINUING and terminator.follower:
            return False
        words = terminator.before
        if not words or terminator.text[terminator.at - 1].isspace():
            return True
        word = NO_SPACE_LETTER.split(words[-1])[-1].lstrip(_BEFORE_WORD) or words[-1]
        if len(word) == 1 and word.isalpha() and word not in self._language.initials:
            return self._initial(terminator, word)
        if word.isdigit():
            return self._number(terminator, word)
        kind = self._abbreviation(word)
        if (
            kind is None and len(last := _COMPOUND_BREAK.split(word)[-1]) > 1
        ):  # "l'avv.", "$3/lb.", "9a.m."
            kind = self._abbreviation(last)
            word = last if kind else word
        if len(words) > 1 and words[-2][-1] == ".":  # "p. ex.", "EE. UU."
            kind = self._abbreviation(words[-2].lstrip(OPENERS) + word) or kind
        if kind is None and (self._is_acronym(word) or languages.VOWELLESS.fullmatch(word)):
            kind = Abbreviation.OPEN
        if kind is not None:
            return self._after_abbreviation(terminator, word, kind)
        if terminator.line_ends:
            return True
        if word in self._language.initials:
            return self._initial_name(terminator)
        if terminator.leads and _ROMAN.fullmatch(word):  # a list marker: "iv. the rest"
            return False
        if not terminator.follower.islower():
            return not (
                terminator.encloses
                and terminator.follower in DASHES
                and terminator.letter().islower()
            )
        if terminator.encloses or terminator.within_bracket:
            return False
        if word.islower() or not word.isalpha():
            return len(word) > 2 or word in self._language.short or not word.isalpha()
        return len(word) > 3 or word.isupper() or len(words) == 1

    def _after_abbreviation(self, terminator: Terminator, word: str, kind: Abbreviation) -> bool:
        """Return whether a full point after an abbreviation ends the sentence."""
        if ")" in terminator.closers:  # "(5 sec.)" in a sentence, or "(It took 5 sec.)"
            return terminator.text[terminator.start] == "(" and not terminator.letter().islower()
        if terminator.encloses and kind in (Abbreviation.INNER, Abbreviation.TITLE):
            kind = Abbreviation.OPEN  # the word is quoted: "It says 'Dr.' It means a drive."
        if kind is Abbreviation.INNER:
            return False
        if kind is Abbreviation.TITLE and not _is_street(terminator):
            return terminator.letter().isupper() and not self._may_be_name(terminator)
        if terminator.line_ends and not terminator.ahead(1).isalnum():
            return True
        letter = terminator.letter()
        if kind is Abbreviation.UNIT:
            return self._after_unit(terminator, word, letter)
        if not letter:
            return True
        if terminator.line_ends:
            return not letter.islower()
        if letter.isdigit() or letter in _SIGNS or "(" in (skipped := terminator.skipped()):
            return False
        if letter.islower():
            everyday = kind is Abbreviation.LABEL and word in self._language.short
            return everyday and terminator.uncapitalised  # "it says no. we tried"
        if not letter.isalpha():
            return True
        if not letter.isupper():  # a script without capitals
            return kind in (Abbreviation.TAIL, Abbreviation.CLOCK)
        if kind is Abbreviation.LABEL:  # "No. I tried": also an everyday word
            return word.lower() in self._language.short or not self._numbers(terminator)
        if kind is Abbreviation.TAIL:
            return True
        if kind is Abbreviation.CLOCK:
            return self._after_clock(terminator)
        return self._next_opens(terminator) or "¿" in skipped or "¡" in skipped

    def _may_be_name(self, terminator: Terminator) -> bool:
        """Whether the next word may be a name, unlike "Thanks, Dr. I will", "Is he a Dr.? He's"."""
        following = terminator.word()
        if following in languages.PRONOUNS:
            return terminator.after_word(1) == "."
        return "'" not in following or not self._opens(following)

    def _after_unit(self, terminator: Terminator, word: str, letter: str) -> bool:
        """Return whether the sentence ends at "5 sec.", "Sec. 2" or "Wait a sec."."""
        if _DIGIT.search(" ".join(terminator.before)[-len(word) - 2 :]):  # "5 sec", "5sec", "$5/lb"
            return letter.isupper() or not letter.isalnum()
        if word[0].isupper() and (letter.isdigit() or self._numbers(terminator)):
            return False
        if letter.islower():
            return word in self._language.short or terminator.uncapitalised
        return not letter.isdigit() or word in self._language.short  # "min. 5"

    def _numbers(self, terminator: Terminator) -> bool:
        """Whether a letter or a Roman numeral is the next word: "Sec. B", "Vol. II"."""
        return _LETTER_OR_ROMAN.fullmatch(terminator.word(_LETTER_OR_ROMAN.fullmatch)) is not None

    def _after_clock(self, terminator: Terminator) -> bool:
        """Return whether the sentence ends at "a.m." before a capital."""
        # "At 5 a.m. Mr. Cho went running": the text before "Mr." is too short for a sentence.
        short = len(terminator.before) <= 3 and terminator.at - terminator.start < LOOKBACK_CHARS

        def may_go_on(beginning: str) -> bool:
            beginning = beginning.lower()
            return short or any(word.startswith(beginning) for word in self._language.after_time)

        following = terminator.word(may_go_on)
        if following.lower() in self._language.after_time:
            return False
        return not (short and self._abbreviation(following) is Abbreviation.TITLE)

    def _initial(self, terminator: Terminator, word: str) -> bool:
        """Return whether the sentence ends after one letter.

        The letter may be an initial ("J. Novak"), a list marker ("a. apples") or a name ("plan B").
        """
        if terminator.leads:
            return False
        previous = terminator.before[-2].strip(OPENERS) or "-"
        if previous[-1] == "." and (kind := self._abbreviation(previous + word)):  # "a. m."
            return self._after_abbreviation(terminator, previous + word, kind)
        if self._abbreviation(word) in (Abbreviation.INNER, Abbreviation.TITLE):
            return False
        if previous[-1] == ":" and word in "Aa":  # a list marker: "Options: A. Call. B. Text."
            return False
        letter = terminator.letter()
        if not letter or previous.lower() in self._language.labelled:
            return True
        if word in languages.LETTER_WORDS and not letter.islower():
            return True
        if terminator.line_ends:
            return not letter.islower()
        if letter.islower() or letter.isdigit() or "(" in terminator.skipped():
            return False
        if not letter.isupper() or previous[-1].isdigit():  # "1.5 L. Stir"
            return True
        spelled = len(previous.rstrip(",")) == 1 and previous[0].isalnum()
        if spelled and not previous.islower():  # "X, 7, Q."
            return True
        pronoun = word in languages.PRONOUNS and previous.islower()
        if pronoun and len(terminator.word(lambda beginning: len(beginning) == 1)) > 1:
            return True
        if len(terminator.stem()) == 1:  # an initial, or a name: "B over C. D was out"
            return terminator.after_word(1) != "."
        return pronoun or self._next_opens(terminator)

    def _initial_name(self, terminator: Terminator) -> bool:
        """Return whether the sentence ends after the name of a letter in a script without capitals.

        Such a name is an initial if another one stands beside it.
        """
        if len(terminator.before) == 1 or terminator.before[-2][-1] == ".":
            return False
        return terminator.word() not in self._language.initials

    def _number(self, terminator: Terminator, word: str) -> bool:
        """Return whether the sentence ends after digits.

        It does not end after a list marker ("1. Open it") or an ordinal ("3. Mai").
        """
        if terminator.leads:
            if len(word) <= 3:
                return False
        elif len(word) <= 2 and terminator.before[-2][-1] in (":;|" if word == "1" else ";|"):
            return False  # "First: 1. Eat", unlike "Result: 42. Done"
        elif len(word) <= 2 and terminator.letter().islower() and not terminator.line_ends:
            return terminator.uncapitalised  # "1. soup, 2. fish"
        if self._language.has_ordinals and len(word) <= 2 and not terminator.line_ends:
            letter = terminator.letter()
            if letter.isalpha():
                return letter.isupper() and self._next_opens(terminator)
        return True

    def _glued(self, terminator: Terminator) -> bool:
        """Return whether the sentence ends at a terminator that no white space follows.

        Most of these terminators are inside a name. Sometimes, a space is missing.
        """
        follower = terminator.follower
        if not follower:
            return True
        if follower == "<":
            follower = terminator.pass_tags()
        if follower in "[<":
            return False
        if terminator.return_openers():
            return True
        own = terminator.before[-1] if terminator.before else ""
        dots = terminator.run[-1] in DOTS
        if NO_SPACE_LETTER.match(follower):
            if self._quote_goes_on(terminator):
                return False
            latin = NO_SPACE_LETTER.split(own)[-1]
            marks = latin.isdigit() and terminator.leads and latin == own
            short = _ACRONYM.fullmatch(latin) or (len(latin) == 1 and latin.isalpha())
            inner = terminator.run != "." or marks or short or self._abbreviation(latin)
            return not (dots and inner)
        if not dots and NO_SPACE_LETTER.match(own[-1:]) and follower not in CONTINUING:
            return True
        if follower in "“«„¿¡「『":
            return own[-1:].isalnum()
        if not dots and unicodedata.category(follower) == "Lo":  # a script without capitals
            return True
        return self._lost_space(terminator, own)

    def _lost_space(self, terminator: Terminator, own: str) -> bool:
        """Whether the capital begins a sentence, as in "found it.Let me", unlike "ASP.NET"."""
        bare = own.strip(OPENERS + BRACKETS)
        amount = _AMOUNT.fullmatch(bare) is not None
        point = terminator.run == "."
        if (
            point and bare.isdigit() and len(bare) <= 3 and terminator.leads
        ):  # a list marker: "1.Open"
            return False
        if not terminator.follower.isupper() or (_ADDRESS_SIGN.search(own) and not amount):
            return False
        beyond = terminator.after_word(1)
        if _CODE_GOES_ON.match(beyond):
            return False
        if not point:
            return True
        if beyond in ".:-" and _NAME_GOES_ON.match(terminator.after_word(2)[1:]):
            return False
        following = terminator.word()
        if following.isupper() and following not in languages.CAPITAL_WORDS:
            return False
        if amount or own[-1:] in ")%€£°":
            return True
        letters = bare.replace("'", "").replace("’", "")
        kind = self._abbreviation(bare)
        if len(bare) < 2 or not letters.isalpha() or bare.isupper():  # "10am", "NASA", "p.m"
            known = bare[:1].isdigit() or (len(bare) > 2 and letters.isalpha())
            tail = kind in (Abbreviation.TAIL, Abbreviation.CLOCK)
            return (known or tail) and self._opens(following)
        if kind is not None and bare.lower() not in self._language.short:
            return False
        return (
            bare.islower() or self._opens(following) or terminator.at - terminator.start <= len(own)
        )

    # -- Words -------------------------------------------------------------------------------

    def _abbreviation(self, word: str) -> Abbreviation | None:
        kinds = self._language.abbreviations
        return kinds.get(word) or kinds.get(word.lower())

    def _is_acronym(self, word: str) -> bool:
        """Whether full points separate letters or their names, as in "यू.के."."""
        if _ACRONYM.fullmatch(word):
            return True
        return "." in word and self._language.initials.issuperset(word.split("."))

    def _next_opens(self, terminator: Terminator) -> bool:
        """Whether the next word opens sentences."""
        return self._opens(terminator.stem()) or self._opens(terminator.word())

    def _opens(self, word: str) -> bool:
        """Whether `word` opens sentences."""
        word = word.lower()
        return word in self._language.openers or word.split("'")[0] in self._language.openers


def _is_street(terminator: Terminator) -> bool:
    """Whether "Dr." means "Drive", as in "We met at Oak Dr. It rained"."""
    words = terminator.before
    return (
        words[-1] in languages.STREETS
        and len(words) > 2
        and words[-2].istitle()
        and words[-2].isalpha()
    )
