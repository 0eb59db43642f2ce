"""Sentences out of streamed text, as early as is safe.

A pure scanner: text in, sentences out; no I/O, clock or thread.
"""

import re

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st jr sr inc ltd co corp vs etc e.g i.e a.m p.m no fig approx dept".split()
)
_END = re.compile(
    r"[.!?…]+[\"'”’»)\]*_]*(?=\s)|[。！？｡।॥]+[」』”’）】》]*(?=[^」』”’）】》。！？])|\n\s*\n"
)
_LAST_WORD = re.compile(r"[^\s(\"'“‘«]*$")


class IncrementalSentenceChunker:
    """Cuts streamed text into sentences.

    Args:
        language: ISO 639-1 code of the text, such as ``"en"``.
    """

    def __init__(self, language: str = "en") -> None:
        self.language = language
        self._text = ""

    def feed(self, fragment: str) -> list[str]:
        """Take the next piece of text and return the sentences it completes, stripped."""
        self._text += fragment
        sentences: list[str] = []
        start = 0
        for match in _END.finditer(self._text):
            sentence = self._text[start : match.end()].strip()
            if match.group().startswith(".") and self._abbreviation(sentence):
                continue
            start = match.end()
            if sentence:
                sentences.append(sentence)
        self._text = self._text[start:]
        return sentences

    def flush(self) -> str | None:
        """Return what is left, stripped, or None when nothing is; the chunker is empty after."""
        rest, self._text = self._text.strip(), ""
        return rest or None

    def reset(self) -> None:
        """Forget all text held."""
        self._text = ""

    @staticmethod
    def _abbreviation(sentence: str) -> bool:
        match = _LAST_WORD.search(sentence)
        word = match.group().removesuffix(".").lower() if match else ""
        return word in _ABBREVIATIONS or (len(word) == 1 and word != "i") or word.isdigit()


_CODE_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LINE_MARKER = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|>\s*)", re.MULTILINE)


def speakable(text: str) -> str:
    """Return the words of ``text`` without markup, or ``""`` when there is nothing to say."""
    text = _CODE_FENCE.sub(" ", text)
    text = _LINK.sub(r"\1", text)
    text = _TAG.sub(" ", text)
    text = _LINE_MARKER.sub("", text)
    text = re.sub(r"[*_`~]+", "", text)
    text = " ".join(text.split())
    return text if any(character.isalnum() for character in text) else ""
