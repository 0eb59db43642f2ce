"""Text before pronunciation: removes what cannot be spoken and splits the rest into segments."""

from collections.abc import Iterator
from dataclasses import dataclass

import regex
import sentencex

MAX_SEGMENT_CHARS = 240
"""The longest text that is spoken in one run, about 15 s of speech. Longer sentences are split."""
_MIN_CLAUSE_CHARS = 60
SENTENCE_PAUSE_S, CLAUSE_PAUSE_S, WORD_PAUSE_S = 0.3, 0.15, 0.0

# Pictographs are dropped, because espeak would read out their names. The signs © ® ™ and keycap
# digits count as pictographs in Unicode but are read as text.
_PICTURES = regex.compile(
    r"[\p{Extended_Pictographic}--[©®™]]|[\p{Emoji_Modifier}\p{Regional_Indicator}]"
    r"|[\uFE0E\uFE0F\u200D\u20E3]",
    regex.VERSION1,
)
_CONTROL = regex.compile(r"[\p{Cc}\p{Cf}\p{Co}\p{Cn}--[\s]]+", regex.VERSION1)
# misaki's notation: [word](/phonemes/). Lengths are bounded, so that the search is always fast.
_LINK = regex.compile(r"\[([^\[\]]{1,100})\]\(([^()]{0,100})\)")
# Stands for a blank inside a link: a private-use character, which `_CONTROL` removes from the text.
_BLANK_IN_LINK = "\ue000"
_PARAGRAPH = regex.compile(r"\s*\n\s*\n\s*")
_ENCLOSING = regex.compile(r"[\p{Quotation_Mark}()\[\]--['’]]", regex.VERSION1)
_CLOSERS = regex.compile(r"[^\s\w]*")
_CLAUSE_END = regex.compile(r"[,;:—–]\s")


@dataclass(frozen=True)
class Segment:
    """Text to speak in one run, and the pause after it in seconds."""

    text: str
    pause_s: float


def segments(
    text: str, language: str, sentence_pause_s: float = SENTENCE_PAUSE_S
) -> Iterator[Segment]:
    """Split `text` into sentences. Split long ones at clauses, or between words if necessary.

    Only emoji and control characters are dropped; white space becomes single blanks. A word with
    explicit phonemes, such as `[Kokoro](/kˈOkəɹO/)`, counts as one word whatever it contains.
    Segments are at most `MAX_SEGMENT_CHARS` long.

    Args:
        text: Text of any length.
        language: The language of the text, one of the values of `languages.LANGUAGES`.
        sentence_pause_s: The pause after a sentence, in seconds.
    """
    text = _CONTROL.sub("", _PICTURES.sub(" ", text))
    text = _LINK.sub(lambda link: _BLANK_IN_LINK.join(link[0].split()), text)
    for paragraph in _PARAGRAPH.split(text):
        for sentence in _sentences(" ".join(paragraph.split()), language[:2]):
            rest = sentence
            while len(rest) > MAX_SEGMENT_CHARS:
                cut, pause_s = _cut(rest)
                yield Segment(_with_blanks(rest[:cut].rstrip()), pause_s)
                rest = rest[cut:].lstrip()
            if rest:
                yield Segment(_with_blanks(rest), sentence_pause_s)


def _with_blanks(segment: str) -> str:
    return segment.replace(_BLANK_IN_LINK, " ")


def _sentences(paragraph: str, language: str) -> Iterator[str]:
    """Split a paragraph into sentences, at white space only.

    sentencex finds the boundaries. It keeps quotations whole, and a long quotation would delay the
    first sound, so quotation marks and brackets are hidden from it. It also splits inside words
    (`Node.JS`) and before lower case; these boundaries are ignored.
    """
    start = seen = 0
    for sentence in sentencex.segment(language, _ENCLOSING.sub(" ", paragraph)):
        seen += len(sentence)
        end = _CLOSERS.match(paragraph, seen - len(sentence) + len(sentence.rstrip())).end()
        follows = paragraph[end : end + 2]
        if end > start and follows[:1] in ("", " ") and not follows[1:].islower():
            yield paragraph[start:end].strip()
            start = end
    if rest := paragraph[start:].strip():
        yield rest


def _cut(sentence: str) -> tuple[int, float]:
    clause_ends = [
        end.end() for end in _CLAUSE_END.finditer(sentence, _MIN_CLAUSE_CHARS, MAX_SEGMENT_CHARS)
    ]
    if clause_ends:
        return clause_ends[-1], CLAUSE_PAUSE_S
    cut = sentence.rfind(" ", 1, MAX_SEGMENT_CHARS)
    return (cut if cut != -1 else MAX_SEGMENT_CHARS), WORD_PAUSE_S
