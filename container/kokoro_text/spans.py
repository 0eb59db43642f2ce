"""Spans: the text of a request, divided where its control changes the rate or makes a pause."""

from collections.abc import Callable
from dataclasses import dataclass, field

import regex

MAX_PAUSE_S = 10.0
"""The longest pause that one mark, or one element, may ask for."""
MAX_PAUSES_S = 600.0
"""The longest time of all pauses of a text together. Pauses cost no work, but occupy a session."""

_PAUSE = regex.compile(r"\[pause:([^\[\]]{0,40})\](?!\()")
_DURATION = regex.compile(r"\s*(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s*(ms|s)?\s*")
_SENTENCE_END = regex.compile(r"[.!?…。！？।]\W{0,3}\s*$|\n\s*$")


class MarkupError(Exception):
    """The control in a text is wrong. The message names it and says what is accepted."""


@dataclass(frozen=True)
class Span:
    """Text that is spoken at one rate, and the pause after it.

    Attributes:
        text: Text as the normalizer takes it. Blank if the pause is at the start of the request.
        rate: A factor on the speed of the request.
        pause_s: The pause after the text in seconds, whatever the speed. None if the text is
            followed by its own pause only, which is that of a sentence.
    """

    text: str
    rate: float = 1.0
    pause_s: float | None = None


@dataclass
class _OpenSpan:
    rate: float
    texts: list[str] = field(default_factory=list)
    pause_s: float | None = None


class Spans:
    """Collects the spans of a text in order."""

    def __init__(self) -> None:
        self._spans: list[_OpenSpan] = []
        self._pauses_s = 0.0

    def add_text(
        self, text: str, rate: float = 1.0, form: Callable[[str], str] = lambda text: text
    ) -> None:
        """Add text in which `[pause:0.5s]` stands for a pause.

        Args:
            text: The text.
            rate: A factor on the speed of the request.
            form: Returns the text to speak for the text between two pauses.

        Raises:
            MarkupError: A pause has a duration that is not accepted.
        """
        text, *rest = _PAUSE.split(text)
        self._append(form(text), rate)
        for pause, following in zip(rest[::2], rest[1::2], strict=True):
            self.add_pause(duration_s(pause, f"[pause:{pause}]"))
            self._append(form(following), rate)

    def add_pause(self, pause_s: float) -> None:
        """Add a pause. Pauses that follow each other add up.

        Raises:
            MarkupError: All pauses together are too long.
        """
        self._pauses_s += pause_s
        if self._pauses_s > MAX_PAUSES_S:
            raise MarkupError(
                f"its pauses take more than {MAX_PAUSES_S:g} s together; split it into several "
                "requests"
            )
        if not self._spans:
            self._spans.append(_OpenSpan(1.0))
        self._spans[-1].pause_s = (self._spans[-1].pause_s or 0.0) + pause_s

    def closed(self) -> tuple[Span, ...]:
        """Return the spans. Only the last one may have neither text nor pause."""
        return tuple(Span("".join(span.texts), span.rate, span.pause_s) for span in self._spans)

    def _append(self, text: str, rate: float) -> None:
        if not text:
            return
        last = self._spans[-1] if self._spans else None
        if last is None or last.pause_s is not None:
            self._spans.append(_OpenSpan(rate, [text]))
        elif last.rate == rate or not text.strip():
            last.texts.append(text)
        elif not any(map(str.strip, last.texts)):
            last.rate = rate
            last.texts.append(text)
        else:
            if not _SENTENCE_END.search("".join(last.texts)[-10:]):
                last.pause_s = 0.0  # The rate changes inside a sentence.
            self._spans.append(_OpenSpan(rate, [text]))


def shown(text: str) -> str:
    """Return `text` for a message, in at most 60 characters."""
    return text if len(text) <= 60 else f"{text[:59]}…"


def duration_s(duration: str, where: str) -> float:
    """Return a duration in seconds.

    Args:
        duration: A number with the unit `s` or `ms`. Without a unit it is a number of seconds.
        where: The duration with its surroundings, for the error.

    Raises:
        MarkupError: It is not a duration, or not one from 0 to `MAX_PAUSE_S`.
    """
    match = _DURATION.fullmatch(duration)
    seconds = float(match[1]) / (1000 if match[2] == "ms" else 1) if match else -1.0
    if not 0 <= seconds <= MAX_PAUSE_S:
        raise MarkupError(
            f"{where} is not accepted; give a pause of 0 to {MAX_PAUSE_S:g} s, such as 0.5s or "
            "500ms"
        )
    return seconds
