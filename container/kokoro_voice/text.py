"""Text before pronunciation: removes what cannot be spoken and splits the rest into segments."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import regex

from kokoro_text.reading import LINK
from sentences.chunker import split_sentences

MAX_SEGMENT_CHARS = 240
"""The longest text that is spoken in one run, about 15 s of speech. Longer sentences are split.

A character of a script without spaces counts three times.
"""
_CHARS_OF_A_WIDE_CHARACTER = 3
SENTENCE_PAUSE_S, CLAUSE_PAUSE_S, WORD_PAUSE_S = 0.3, 0.15, 0.0

_CONTROL = regex.compile(r"[\p{Cc}\p{Cf}\p{Co}\p{Cn}--[\s]]+", regex.VERSION1)
# Stands for a blank inside a link: a private-use character, which `_CONTROL` removes from the text.
_BLANK_IN_LINK = "\ue000"
_PARAGRAPH = regex.compile(r"\s*\n\s*\n\s*")
_CLAUSE_END = regex.compile(r"[,;:—–]\s|[，、；：]")
_WIDE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
# espeak's codes of languages whose ISO 639-1 code is not their beginning.
_ISO_CODES = {"cmn": "zh", "yue": "zh"}


@dataclass(frozen=True)
class Segment:
    """Text to speak in one run, and the pause after it in seconds."""

    text: str
    pause_s: float


def segments(
    text: str,
    language: str,
    sentence_pause_s: float = SENTENCE_PAUSE_S,
    *,
    is_sentence: bool = False,
) -> Iterator[Segment]:
    """Split `text` into sentences. Split long ones at clauses, or between words if necessary.

    Only control characters are dropped; white space becomes single blanks. A word with
    explicit phonemes, such as `[Kokoro](/kˈOkəɹO/)`, counts as one word whatever it contains.
    Segments are at most `MAX_SEGMENT_CHARS` long, in Japanese and Mandarin less.

    Args:
        text: Text of any length.
        language: The language of the text, one of the values of `languages.LANGUAGES`.
        sentence_pause_s: The pause after a sentence, in seconds.
        is_sentence: Whether the text is one sentence. It is then split only if it is too long for
            one segment.
    """
    text = _CONTROL.sub("", text)
    text = LINK.sub(lambda link: _BLANK_IN_LINK.join(link[0].split()), text)
    whole = " ".join(text.split())
    if is_sentence and _fitting(whole) == len(whole):
        sentences = [whole] if whole else []
    else:
        sentences = _sentences(text, language)
    for sentence in sentences:
        rest = sentence
        while (limit := _fitting(rest)) < len(rest):
            cut, pause_s = _cut(rest, limit)
            yield Segment(_with_blanks(rest[:cut].rstrip()), pause_s)
            rest = rest[cut:].lstrip()
        if rest:
            yield Segment(_with_blanks(rest), sentence_pause_s)


def _with_blanks(segment: str) -> str:
    return segment.replace(_BLANK_IN_LINK, " ")


def _sentences(text: str, language: str) -> list[str]:
    code = language.partition("-")[0]
    return [
        " ".join(sentence.split())
        for paragraph in _PARAGRAPH.split(text)
        for sentence in split_sentences(paragraph, _ISO_CODES.get(code, code))
    ]


def _fitting(text: str) -> int:
    """Return how many characters of `text` fit into one segment."""
    sizes = (
        _CHARS_OF_A_WIDE_CHARACTER if _WIDE.match(character) else 1
        for character in text[: MAX_SEGMENT_CHARS + 1]
    )
    return sum(size <= MAX_SEGMENT_CHARS for size in accumulate(sizes))


def _cut(sentence: str, limit: int) -> tuple[int, float]:
    """Return where to cut the sentence, at `limit` at the latest, and the pause there."""
    clause_ends = [end.end() for end in _CLAUSE_END.finditer(sentence, limit // 4, limit)]
    if clause_ends:
        return clause_ends[-1], CLAUSE_PAUSE_S
    cut = sentence.rfind(" ", 1, limit)
    return (cut if cut != -1 else limit), WORD_PAUSE_S
