"""Splits streamed text into sentences, as early as is safe, and complete text by the same rules.

The scanner has no I/O, clock or thread. Its output depends on its input only.
"""

import re
import unicodedata
from typing import Literal

from sentences.languages import ENGLISH, language_rules
from sentences.markup import fence_at
from sentences.rules import SentenceRules
from sentences.terminators import LOOKAHEAD_CHARS, NO_SPACE_LETTER, Verdict

_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*")
_SPACE = re.compile(r"\s*")
_LEAST_MAX_CHARS = 80
# The best places to break text that is too long. The first pattern with a match applies, and the
# break is after its last match.
_BREAKS = (
    re.compile(r"[;:—–][\"'”’)]*\s|[；：]"),
    re.compile(r",[\"'”’)]*\s|[，、]"),
    re.compile(r"\s"),
)
_FENCE_TAIL = re.compile(r"\n[ \t]*[`~]*[ \t\r]*\Z")
_FENCE_TAIL_CHARS = 64
_CLAUSE_LOOKBACK_CHARS = 16  # enough for a conjunction and the space around it
_CLUSTER_CHARS = 16


class IncrementalSentenceChunker:
    """Splits streamed text into sentences.

    The sentences do not depend on how the text is divided into fragments. A sentence is returned:

    - at the line break, if it is a heading, a short list item, a line that ends with a colon, or a
      sentence with a terminator before the break;
    - at the next character, before a blank line or after a full stop of a script without spaces
      (`。`, `！`, `？`), unless a closing quotation may be part of its sentence;
    - at the first character after the white space, in general. A sentence may continue after `.`,
      `!` or `?`, if a closer, a digit, a lower-case letter or an abbreviation shows that;
    - at the character after the next word, if the sentence may end with an abbreviation, an
      initial, "..." before "I", or a terminator without a space ("found it.Let me");
    - at `flush`, if it is the rest of the text.

    The sentences contain all characters of the text in order, except white space at their edges.
    Each character is scanned a bounded number of times for any text.

    Args:
        language: ISO 639-1 code, or a tag that begins with one: `"en"`, `"pt-BR"`. A language
            without rules of its own uses those for English.
        first_chunk: `"sentence"`, or `"clause"` to let the first chunk after construction or
            `reset` end at a comma, dash, colon or conjunction, so that speech starts before a long
            first sentence ends.
        min_clause_chars: The least length of such a clause. A character of a script without spaces
            counts three times.
        max_chars: The greatest length of a chunk. Longer text is split at the best break before the
            limit. Fenced code has no limit: it is one chunk, and it is not spoken.

    Raises:
        ValueError: An argument is outside its range.
    """

    def __init__(
        self,
        language: str = ENGLISH,
        *,
        first_chunk: Literal["sentence", "clause"] = "sentence",
        min_clause_chars: int = 24,
        max_chars: int = 600,
    ) -> None:
        tag = _LANGUAGE.fullmatch(language)
        if tag is None:
            raise ValueError(
                f"language: must be an ISO 639-1 code such as 'en', or a tag such as 'pt-BR', "
                f"not {language!r}"
            )
        if first_chunk not in ("sentence", "clause"):
            raise ValueError(f"first_chunk: must be 'sentence' or 'clause', not {first_chunk!r}")
        if min_clause_chars < 1:
            raise ValueError(f"min_clause_chars: must be at least 1, not {min_clause_chars}")
        if max_chars < _LEAST_MAX_CHARS:
            raise ValueError(f"max_chars: must be at least {_LEAST_MAX_CHARS}, not {max_chars}")
        rules = language_rules(tag[1].lower())
        self._rules = SentenceRules(rules)
        self._search_terminator = self._rules.search_terminator
        self._search_clause_break = rules.clause_break.search
        self._first_chunk = first_chunk
        self._min_clause_chars = min_clause_chars
        self._max_chars = max_chars
        self.reset()

    def reset(self) -> None:
        """Discard all text and start anew, for the next turn."""
        self._wants_clause = self._first_chunk == "clause"
        self._clear()

    def feed(self, fragment: str) -> list[str]:
        """Take the next fragment of the text.

        Args:
            fragment: Text of any length, including `""`.

        Returns:
            The sentences that the fragment completes, without white space at their edges. Most
            fragments complete none.
        """
        if not self._attentive and self._search_terminator(fragment) is None:
            self._room -= len(fragment)
            if self._room >= 0:
                self._plain.append(fragment)
                return []
        chunks: list[str] = []
        rest = fragment
        while rest:
            rest = self._scan_code(rest, chunks) if self._fence else self._scan(rest, chunks)
        return chunks

    def flush(self) -> str | None:
        """Return the rest of the text, at the end of a text block or before a tool call.

        Returns:
            One chunk, even if it contains several short sentences; None if only white space is
            left.
        """
        rest = "".join((*self._code, self._text, *self._plain)).strip()
        if rest:
            self._wants_clause = False
        self._clear()
        return rest or None

    def _clear(self) -> None:
        self._text = ""  # the scanned text of the unfinished sentence
        self._at = 0  # the index in `_text` at which to continue
        self._plain: list[str] = []  # the fragments after `_text`, without any terminator
        self._room = self._max_chars  # how many more characters without a terminator are allowed
        self._fence = ""  # the opener of the code fence around the text
        self._code: list[str] = []  # the text in the code fence so far
        self._attentive = self._wants_clause  # whether to scan a fragment without a terminator

    def _scan(self, fragment: str, chunks: list[str]) -> str:
        """Append complete sentences to `chunks`. Return the text after a code fence that opens."""
        text = "".join((self._text, *self._plain, fragment))
        self._plain.clear()
        start, at = 0, self._at
        self._attentive = False
        while True:
            if at == start:
                start = at = _after_space(text, start)
                fence = fence_at(text, start)
                if fence is None:
                    self._attentive = True
                    break
                if fence:
                    self._clear()
                    self._attentive = True
                    self._fence = fence
                    self._code.append(fence)
                    return text[start + len(fence) :]
            limit = start + self._max_chars
            terminator = self._search_terminator(text, at, limit)
            bound = terminator.start() if terminator else limit
            clause_end = self._clause_end(text, start, at, bound) if self._wants_clause else None
            if clause_end is not None:
                at = end = clause_end
            elif terminator is not None:
                verdict, at = self._rules.judge(text, start, bound, limit)
                if verdict is Verdict.UNDECIDED:
                    self._attentive = True
                    break
                if verdict is Verdict.CONTINUES:
                    continue
                end = at = min(at, limit)
            elif len(text) > limit:
                end = _best_break(text, start, limit)
            else:
                self._attentive = self._wants_clause
                # A comma or conjunction at the end is recognized only with the text after it.
                at = max(at, len(text) - _CLAUSE_LOOKBACK_CHARS * self._wants_clause)
                break
            chunks.append(text[start:end].rstrip())
            self._wants_clause = False
            start = _after_space(text, end)
            at = max(at, start)
        self._text = text[start:]
        self._at = at - start
        self._room = self._max_chars - len(self._text)
        return ""

    def _scan_code(self, fragment: str, chunks: list[str]) -> str:
        """Append a complete code fence to `chunks`. Return the text after it."""
        text = self._text + fragment
        closer = re.compile(rf"\n[ \t]*{self._fence}[`~]*[ \t\r]*(?=\n)").search(text)
        if closer is not None:
            chunks.append("".join((*self._code, text[: closer.end()])).rstrip())
            self._clear()
            return text[closer.end() :]
        tail = _FENCE_TAIL.search(text, max(0, len(text) - _FENCE_TAIL_CHARS))
        kept = tail.start() if tail else len(text)
        self._code.append(text[:kept])
        self._text = text[kept:]
        return ""

    def _clause_end(self, text: str, start: int, at: int, bound: int) -> int | None:
        """Return the end of the first clause before `bound` that is long enough, if any."""
        clause = self._search_clause_break(text, at)
        while clause is not None and clause.start() < bound:
            end = clause.start() if clause[0].isspace() else clause.end()
            chunk = text[start:end]
            length = len(chunk) + 2 * len(NO_SPACE_LETTER.findall(chunk))
            balanced = chunk.count("(") == chunk.count(")") and chunk.count('"') % 2 == 0
            if length >= self._min_clause_chars and balanced and clause.start() > start:
                return end
            clause = self._search_clause_break(text, clause.end())
        return None


def split_sentences(text: str, language: str = ENGLISH) -> list[str]:
    """Split a complete text into sentences, by the rules of `IncrementalSentenceChunker`.

    Args:
        text: Text of any length.
        language: ISO 639-1 code, or a tag that begins with one.

    Returns:
        The sentences, without white space at their edges. Their length has no limit.

    Raises:
        ValueError: `language` is not such a code.
    """
    chunker = IncrementalSentenceChunker(language, max_chars=len(text) + _LEAST_MAX_CHARS)
    # The blank lines after the text decide everything that depends on what follows.
    sentences = chunker.feed(text + "\n" * LOOKAHEAD_CHARS)
    rest = chunker.flush()
    return [*sentences, rest] if rest else sentences


def _after_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _best_break(text: str, start: int, limit: int) -> int:
    """Return the index in `text[start:limit]` at which a break is least noticeable."""
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, (start + limit) // 2, limit)]
        if ends:
            return ends[-1]
    end = limit
    while end > limit - _CLUSTER_CHARS and _joins(text, end):
        end -= 1
    return end


def _joins(text: str, index: int) -> bool:
    """Whether the characters around `index` are displayed as one, such as a composed emoji."""
    after = text[index : index + 1]
    joiners = ("\u200d", "\ufe0f")
    if text[index - 1] == "\u200d" or after in joiners:
        return True
    return after != "" and unicodedata.category(after).startswith("M")
