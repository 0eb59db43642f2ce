"""Removes the thoughts of a reasoning model from its text, without I/O.

Most servers send thoughts in a separate field. Some leave them in the text, between `<think>` and
`</think>`.
"""

_OPENING = "<think>"
_CLOSING = "</think>"


class ThoughtFilter:
    """Takes a text delta by delta and removes the thoughts."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._after_thought = False

    def feed(self, text: str) -> str:
        """Take a delta and return the text to pass on. The start of a possible tag is held back."""
        self._held += text
        passed = ""
        while True:
            tag = _CLOSING if self._thinking else _OPENING
            before, found, after = self._held.partition(tag)
            if not found:
                break
            passed += self._spoken(before)
            self._held = after
            self._after_thought = self._thinking
            self._thinking = not self._thinking
        keep = _tag_start_length(self._held, tag)
        passed += self._spoken(self._held[: len(self._held) - keep])
        self._held = self._held[len(self._held) - keep :]
        return passed

    def flush(self) -> str:
        """Return the text that was held back. Call this at the end of the text."""
        rest = self._spoken(self._held)
        self._held = ""
        return rest

    def _spoken(self, text: str) -> str:
        if self._thinking:
            return ""
        if self._after_thought:  # the blank lines after a thought belong to it
            text = text.lstrip()
            self._after_thought = not text
        return text


def _tag_start_length(text: str, tag: str) -> int:
    """Return the length of the longest end of `text` that `tag` begins with."""
    longest = min(len(text), len(tag) - 1)
    return next((n for n in range(longest, 0, -1) if tag.startswith(text[-n:])), 0)
