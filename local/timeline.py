"""What happened when in one reply, as seen by the client."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from voice_agent_client import (
    AgentEnd,
    Audio,
    AudioStreamStart,
    ErrorEvent,
    Event,
    Metrics,
    Sentence,
    TextDelta,
)

SAMPLE_WIDTH_BYTES = 2

type _Rounded = Annotated[float, AfterValidator(lambda value: round(value, 3))]
"""To milliseconds."""


class SpokenSentence(BaseModel):
    """One sentence of the reply; times are seconds since the prompt was sent.

    `sent_s` is the agent's figure, from the prompt's arrival there.
    """

    model_config = ConfigDict(extra="forbid")

    text: str
    sent_s: _Rounded | None
    first_audio_s: _Rounded | None
    audio_s: _Rounded


class Report(BaseModel):
    """What `say --json` writes. Seconds since the prompt was sent; None where it never came."""

    model_config = ConfigDict(extra="forbid")

    mode: str
    transport: str
    ttft_s: _Rounded | None
    first_sentence_s: _Rounded | None
    ttfa_s: _Rounded | None
    total_s: _Rounded
    audio_s: _Rounded
    streams_opened: int
    text: str
    sentences: list[SpokenSentence]


class ReplyTimeline:
    """Collects the events of one reply.

    Feed every event with the seconds since the prompt was sent; then read `audio` (s16le mono),
    `errors`, `lines()` for people and `report()` for programs.
    """

    def __init__(self) -> None:
        self.audio = bytearray()
        self.sample_rate_hz = 24000
        self.errors: list[ErrorEvent] = []
        self.first_text_s: float | None = None
        self.last_text_s: float | None = None
        self.first_audio_s: float | None = None
        self.end_s: float | None = None
        self._text: list[str] = []
        self._sentences: dict[int, SpokenSentence] = {}  # by `seq`, in the order spoken
        self._metrics = Metrics()
        self._speaking: SpokenSentence | None = None

    def feed(self, event: Event, at_s: float) -> None:
        """Take one event that arrived `at_s` seconds after the prompt was sent."""
        match event:
            case TextDelta(text=text):
                self.first_text_s = at_s if self.first_text_s is None else self.first_text_s
                self.last_text_s = at_s
                self._text.append(text)
            case AudioStreamStart():
                self.sample_rate_hz = event.sample_rate
            case Sentence(seq=seq, text=text):
                self._speaking = self._sentences[seq] = SpokenSentence(
                    text=text, sent_s=None, first_audio_s=None, audio_s=0
                )
            case Audio(data=data):
                self._feed_audio(data, at_s)
            case ErrorEvent():
                self.errors.append(event)
            case AgentEnd(metrics=metrics):
                self.end_s = at_s
                self._metrics = metrics
                for spoken in metrics.sentences:
                    # A sentence that could not be spoken has figures and no audio.
                    if sentence := self._sentences.get(spoken.seq):
                        sentence.sent_s = spoken.sent_s

    def _feed_audio(self, data: bytes, at_s: float) -> None:
        if self.first_audio_s is None:
            self.first_audio_s = at_s
        self.audio += data
        if sentence := self._speaking:
            if sentence.first_audio_s is None:
                sentence.first_audio_s = at_s
            sentence.audio_s += self._seconds(len(data))

    def _seconds(self, size_bytes: int) -> float:
        return size_bytes / (SAMPLE_WIDTH_BYTES * self.sample_rate_hz)

    def report(self, *, mode: str, transport: str) -> Report:
        """The reply in numbers, rounded to milliseconds; call it after `agent_end`."""
        return Report(
            mode=mode,
            transport=transport,
            ttft_s=self.first_text_s,
            first_sentence_s=self._metrics.first_sentence_s,
            ttfa_s=self.first_audio_s,
            total_s=self.end_s or 0.0,
            audio_s=self._seconds(len(self.audio)),
            streams_opened=self._metrics.streams_opened,
            text="".join(self._text),
            sentences=[SpokenSentence(**dict(spoken)) for spoken in self._sentences.values()],
        )

    def lines(self) -> list[str]:
        """The timeline for people, one line an event that matters."""
        moments: list[tuple[float | None, str]] = [
            (self.first_text_s, "first text"),
            (self._metrics.first_sentence_s, "first sentence complete"),
            (self.last_text_s, "last text"),
            (self.end_s, f"done: {self._seconds(len(self.audio)):.1f} s of speech"),
        ]
        for number, sentence in enumerate(self._sentences.values(), 1):
            label = "FIRST AUDIO, sentence" if number == 1 else "audio, sentence"
            text = sentence.text if len(sentence.text) <= 60 else sentence.text[:59] + "…"
            moments.append((sentence.first_audio_s, f"{label} {number}: {text}"))
        lines = [
            f"{at:7.2f} s  {what}" for at, what in sorted(m for m in moments if m[0] is not None)
        ]
        if self.first_audio_s is not None and self.last_text_s is not None:
            lead_s = self.last_text_s - self.first_audio_s
            word = "before" if lead_s > 0 else "after"
            lines.append(
                f"           speech began {abs(lead_s):.2f} s {word} the last word was written"
            )
        return lines
