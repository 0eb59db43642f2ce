"""Control of the speech server in a model's text: what is well-formed stays, the rest is dropped.

The speech server refuses a text with wrong control, such as `[pause:dramatic]`. A model does not
know the rules, and a refusal would lose its sentence.
"""

import re

MAX_PAUSE_S, MAX_PAUSES_S = 10.0, 600.0
"""The longest pause, and the longest time of all pauses in a text, that the server accepts."""

_PAUSE = re.compile(r"\[pause:(?:([^\[\]]*)\])?")
_DURATION = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*(ms|s)?\s*")
_SSML = re.compile(r"\s*<(?=speak\b)")
_LINK = re.compile(r"\](?=\()")


def with_valid_control(text: str) -> str:
    """Return text that the speech server accepts and never takes for SSML.

    Pauses such as `[pause:0.5s]` stay. Whatever else begins with `[pause:` is dropped, and so are
    pauses that are too long. `[word](/phonemes/)` becomes plain text.
    """
    pauses_s = 0.0

    def kept(mark: re.Match[str]) -> str:
        nonlocal pauses_s
        duration = _DURATION.fullmatch(mark[1] or "")
        pause_s = float(duration[1]) / (1000 if duration[2] == "ms" else 1) if duration else None
        if pause_s is None or pause_s > MAX_PAUSE_S or pauses_s + pause_s > MAX_PAUSES_S:
            return " "
        pauses_s += pause_s
        return mark[0]

    text = _PAUSE.sub(kept, _LINK.sub("] ", text))
    return _SSML.sub("", text, count=1) if _SSML.match(text) else text
