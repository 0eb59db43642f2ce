"""Removes thoughts from a reply: text in tags such as `<thinking>` that is not for the listener.

The filter has no I/O, clock or thread. Its output depends on its input only.
"""

import re

THOUGHT_TAGS = (
    "analysis", "reasoning", "reflection", "scratchpad", "think", "thinking", "thought",
)  # fmt: skip
"""The names of the tags that enclose thoughts, in lower case."""

_ATTRIBUTES = r"(?:\s[^<>]{0,64})?"
_NAMES = "|".join(THOUGHT_TAGS)
_TAG = re.compile(rf"<(/?)({_NAMES}){_ATTRIBUTES}(/?)>", re.IGNORECASE)
_PREFIXES = sorted({name[:length] for name in THOUGHT_TAGS for length in range(len(name))})
_PARTIAL_TAG = re.compile(
    rf"</?(?:{'|'.join(_PREFIXES)})|</?(?:{_NAMES}){_ATTRIBUTES}/?", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?:…。！？：।][\"'”’»)\]）」』*_]*\s*\Z")
_SENTENCE_END_CHARS = 16


class ThoughtFilter:
    """Removes thoughts from streamed text.

    The result does not depend on how the text is divided into fragments. Text is withheld only
    while it may become a tag in `THOUGHT_TAGS`. The `<` in "a < b" or `<b>` is therefore withheld
    until the next character arrives.

    Tags may be in capitals, have attributes and be nested. A thought without a closing tag extends
    to the end of the text. A closing tag without a thought is removed. White space is adjusted
    where a thought was, so that the words around it stay apart and no blanks precede the reply.
    """

    def __init__(self) -> None:
        self._withheld = ""  # text that may be the beginning of a tag
        self._open: list[str] = []  # the names of the open tags
        self._end = ""  # the end of the text for the listener
        self._after_tag = False  # whether a tag was removed after that text

    @property
    def is_thinking(self) -> bool:
        """Whether the text so far ends within a thought."""
        return bool(self._open)

    @property
    def ends_sentence(self) -> bool:
        """Whether the text for the listener ends with the end of a sentence so far."""
        return _SENTENCE_END.search(self._end) is not None

    def feed(self, fragment: str) -> str:
        """Take the next fragment of the text. Return the next text for the listener."""
        text = self._withheld + fragment
        self._withheld = ""
        kept: list[str] = []
        start = 0
        for tag in _TAG.finditer(text):
            kept.append(self._for_listener(text[start : tag.start()]))
            self._take(tag)
            start = tag.end()
        end = text.rfind("<", start)
        if end >= 0 and _PARTIAL_TAG.fullmatch(text, end):
            self._withheld = text[end:]
        else:
            end = len(text)
        kept.append(self._for_listener(text[start:end]))
        return "".join(kept)

    def flush(self) -> str:
        """Return the rest of the text for the listener, at the end of a block, and start anew."""
        rest = self._for_listener(self._withheld)
        self._withheld = self._end = ""
        self._open.clear()
        self._after_tag = False
        return rest

    def _take(self, tag: re.Match[str]) -> None:
        """Open or close a thought."""
        closes, name, empty = tag[1], tag[2].lower(), tag[0].endswith("/>")
        self._after_tag = True
        if not closes and not empty:
            self._open.append(name)
        elif closes and name in self._open:
            while self._open.pop() != name:
                pass

    def _for_listener(self, text: str) -> str:
        if self._open:
            return ""
        if self._after_tag:
            if not self._end or self._end[-1].isspace():
                text = text.lstrip()
            elif text[:1].isalnum():
                text = " " + text
        if text:
            self._after_tag = False
            self._end = (self._end + text)[-_SENTENCE_END_CHARS:]
        return text


def without_thoughts(text: str) -> str:
    """Return a complete text without its thoughts."""
    thoughts = ThoughtFilter()
    return thoughts.feed(text) + thoughts.flush()
