"""Rules for markup: line breaks, code fences, code spans, links and tags.

`line_break` and `span` have the same result as `sentences.rules.SentenceRules.judge`.
"""

import re

from sentences.terminators import (
    CONTINUING,
    DASHES,
    LINE_BREAKS,
    LOOKAHEAD_CHARS,
    OPENERS,
    Judgement,
    Verdict,
)

SPAN_CHARS = 256
"""Greatest length of a code span, link or tag. An opener with a closer farther away is ignored."""

_WRAPPED_LINE_CHARS = 40
"""Least length of a list item that continues on the next line. A shorter one ends at its line."""

_HEADING = re.compile(r"#{1,6}[ \t]")
_LIST_ITEM = re.compile(r"[-*+•–—◦▪‣·][ \t]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{1,5})[.)][ \t]|[|>]")
_LETTER_MARKER = re.compile(r"(?:[a-z]|[ivx]{1,5})[.)][ \t]")
_PARTIAL_LETTER_MARKER = re.compile(r"(?:[a-z]|[ivx]{1,5})[.)]?")
_FENCE = re.compile(r"(`+|~+)[^`\n]*(\n?)")
_LINK = re.compile(r"\[[^\]\n]*\](?:(?=[^(])|\((?:[^()\n]|\([^()\n]*\))*\))")
_TAG = re.compile(r"<(?:/?[A-Za-z][\w:-]*(?:\s[^<>\n]*)?|[^\s<>]+|!--[^\n]*?--)>")
_PARTIAL_TAG = re.compile(r"<(?:/?[A-Za-z][\w:-]*(?:\s[^<>\n]*)?|[^\s<>]*|!--[^\n]*)")


def line_break(text: str, start: int, at: int, limit: int) -> Judgement:
    """Judge a line break without a terminator before it.

    The sentence ends there unless it continues on the next line.
    """
    ends, continues = (Verdict.ENDS, at), (Verdict.CONTINUES, at + 1)
    if _HEADING.match(text, start):
        return ends
    last = text[start:at].rstrip()[-1:]
    item = _LIST_ITEM.match(text, start) is not None
    if last in ":：" or (item and at - start < _WRAPPED_LINE_CHARS):
        return ends
    horizon = min(at + LOOKAHEAD_CHARS, limit)
    complete = len(text) >= horizon
    limit = min(len(text), horizon)
    place = at + 1
    while place < limit and text[place] in " \t\r":
        place += 1
    if place == limit:
        return ends if complete else (Verdict.UNDECIDED, at)
    first = text[place]
    indented = place - at > 2
    if first in LINE_BREAKS or (item and not indented):
        return ends
    if first.islower():
        if _PARTIAL_LETTER_MARKER.fullmatch(text, place, limit) and not complete:
            return Verdict.UNDECIDED, at
        return ends if _LETTER_MARKER.match(text, place, limit) else continues
    if first in CONTINUING:
        return continues
    if first in DASHES:  # a list marker, a rule, or a dash within the sentence
        if place + 1 == limit and not complete:
            return Verdict.UNDECIDED, at
        second = text[place + 1 : place + 2]
        return ends if second.isspace() or second == first else continues
    if last in ",，、" and (first.isalpha() or first in OPENERS):
        return continues
    return ends


def fence_at(text: str, start: int) -> str | None:
    """Return the backticks or tildes of the code fence that opens at `text[start]`.

    Returns:
        `""` if no fence opens there; None if that cannot be decided yet.
    """
    match = _FENCE.match(text, start, start + SPAN_CHARS)
    if match is None:
        return ""
    if len(match[1]) < 3:
        return "" if match.end(1) < len(text) else None
    if match[2]:  # the line ends, and no backtick has closed a code span
        return match[1]
    return None if match.end() == len(text) < start + SPAN_CHARS else ""


def span(text: str, start: int, at: int, limit: int) -> Judgement:
    """Judge the opener of a code span, link or tag. The sentence continues after its closer."""
    undecided = Verdict.UNDECIDED, at
    horizon = min(at + SPAN_CHARS, limit)
    complete = len(text) >= horizon
    limit = min(len(text), horizon)
    if text[at] == "`":
        ticks = at
        while ticks < limit and text[ticks] == "`":
            ticks += 1
        if ticks == len(text):
            return undecided
        if ticks == at + 1 and text[ticks].isspace():  # opens nothing; may close a very long span
            return Verdict.CONTINUES, ticks
        fence = text[at:ticks]
        closer = re.compile(rf"(?<!`){fence}(?!`)|\n").search(text, ticks, limit)
        if closer is None:
            return (Verdict.CONTINUES, ticks) if complete else undecided
        if closer[0] == "\n":
            fenced = len(fence) >= 3 and at > start
            return (Verdict.ENDS, at) if fenced else (Verdict.CONTINUES, ticks)
        if closer.end() == len(text):  # more backticks may come
            return undecided
        return Verdict.CONTINUES, closer.end()
    if text[at] == "<":
        if (tag := _TAG.match(text, at, limit)) is not None:
            return Verdict.CONTINUES, tag.end()
        open_ended = _PARTIAL_TAG.fullmatch(text, at, limit) is not None
    else:
        if (link := _LINK.match(text, at, limit)) is not None:
            return Verdict.CONTINUES, link.end() if link[0].endswith(")") else at + 1  # [brackets]
        open_ended = text.find("\n", at, limit) < 0
    return undecided if open_ended and not complete else (Verdict.CONTINUES, at + 1)
