"""The timeline of one reply, as the client sees it."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from local.playback import Playback
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
"""Rounded to milliseconds."""


class SpokenSentence(BaseModel):
    """One sentence of the reply. A time is None if its event never came.

    Attributes:
        text: The sentence. In mode `batch`, the complete reply is one sentence.
        sent_s: When the agent sent the sentence to be spoken, in seconds since the prompt arrived
            at the agent.
        first_audio_s: When its first audio arrived, in seconds since the prompt was sent.
        audio_s: The duration of its audio in seconds.
        heard_from_s: When a listener who plays the audio as it arrives begins to hear the
            sentence, in seconds since the prompt was sent.
        heard_until_s: When that listener has heard all of it, in seconds since the prompt was sent.
    """

    model_config = ConfigDict(extra="forbid")

    text: str
    sent_s: _Rounded | None = None
    first_audio_s: _Rounded | None = None
    audio_s: _Rounded = 0.0
    heard_from_s: _Rounded | None = None
    heard_until_s: _Rounded | None = None


class Report(BaseModel):
    """The figures of one reply, which `say --json` writes. A time is None if its event never came.

    Attributes:
        mode: `bidi` or `batch`.
        transport: `ws` or `sse`.
        ttft_s: Time to the first text, in seconds since the prompt was sent.
        first_sentence_s: When the first sentence was complete, in seconds since the prompt arrived
            at the agent.
        last_text_s: When the last text arrived, in seconds since the prompt was sent.
        ttfa_s: Time to the first audio, in seconds since the prompt was sent.
        total_s: When the reply was over, in seconds since the prompt was sent.
        audio_s: The duration of the audio in seconds.
        underrun_s: For how many seconds playback stops in all, because the next audio has not
            arrived yet.
        streams_opened: How many speech streams the agent opened for this reply.
        text: The complete reply.
        sentences: The sentences in the order in which they are spoken.
    """

    model_config = ConfigDict(extra="forbid")

    mode: str
    transport: str
    ttft_s: _Rounded | None
    first_sentence_s: _Rounded | None
    last_text_s: _Rounded | None
    ttfa_s: _Rounded | None
    total_s: _Rounded
    audio_s: _Rounded
    underrun_s: _Rounded
    streams_opened: int
    text: str
    sentences: list[SpokenSentence]


class ReplyTimeline:
    """Collects the events of one reply.

    Feed it every event with the seconds since the prompt was sent. Then read `audio` (mono, 16-bit
    little-endian samples), `errors`, `lines()` for people and `report()` for programs.
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
        self._playback = Playback()

    def feed(self, event: Event, at_s: float) -> None:
        """Record one event that arrived `at_s` seconds after the prompt was sent."""
        match event:
            case TextDelta(text=text):
                self.first_text_s = at_s if self.first_text_s is None else self.first_text_s
                self.last_text_s = at_s
                self._text.append(text)
            case AudioStreamStart():
                self.sample_rate_hz = event.sample_rate
            case Sentence(seq=seq, text=text):
                self._speaking = self._sentences[seq] = SpokenSentence(text=text)
            case Audio(data=data):
                self._feed_audio(data, at_s)
            case ErrorEvent():
                self.errors.append(event)
            case AgentEnd(metrics=metrics):
                self.end_s = at_s
                self._metrics = metrics
                for spoken in metrics.sentences:
                    # A sentence that could not be spoken has metrics but no audio.
                    if sentence := self._sentences.get(spoken.seq):
                        sentence.sent_s = spoken.sent_s

    def _feed_audio(self, data: bytes, at_s: float) -> None:
        if self.first_audio_s is None:
            self.first_audio_s = at_s
        self.audio += data
        play_s = self._playback.add(at_s, self._seconds(len(data)))
        if sentence := self._speaking:
            if sentence.first_audio_s is None:
                sentence.first_audio_s = at_s
                sentence.heard_from_s = play_s
            sentence.audio_s += self._seconds(len(data))
            sentence.heard_until_s = self._playback.until_s

    def _seconds(self, size_bytes: int) -> float:
        return size_bytes / (SAMPLE_WIDTH_BYTES * self.sample_rate_hz)

    def report(self, *, mode: str, transport: str) -> Report:
        """Return the figures of the reply, rounded to milliseconds. Call it after `agent_end`."""
        return Report(
            mode=mode,
            transport=transport,
            ttft_s=self.first_text_s,
            first_sentence_s=self._metrics.first_sentence_s,
            last_text_s=self.last_text_s,
            ttfa_s=self.first_audio_s,
            total_s=self.end_s or 0.0,
            audio_s=self._seconds(len(self.audio)),
            underrun_s=self._playback.underrun_s,
            streams_opened=self._metrics.streams_opened,
            text="".join(self._text),
            sentences=[SpokenSentence(**dict(spoken)) for spoken in self._sentences.values()],
        )

    def lines(self) -> list[str]:
        """Return the timeline for people: one line for each event that matters."""
        first_sentence_s = self._metrics.first_sentence_s
        if first_sentence_s is not None and self.first_text_s is not None:
            # The agent counts from the arrival of the prompt, a little later than the client. A
            # sentence that is written at once would otherwise be complete before its first text.
            first_sentence_s = max(first_sentence_s, self.first_text_s)
        # Moments of the same time stay in this order.
        moments: list[tuple[float | None, str]] = [
            (self.first_text_s, "first text"),
            (first_sentence_s, "first sentence complete"),
            (self.last_text_s, "last text"),
        ]
        for number, sentence in enumerate(self._sentences.values(), 1):
            label = "FIRST AUDIO, sentence" if number == 1 else "audio, sentence"
            text = sentence.text if len(sentence.text) <= 60 else sentence.text[:59] + "…"
            moments.append((sentence.first_audio_s, f"{label} {number}: {text}"))
        moments.append((self.end_s, f"done: {self._seconds(len(self.audio)):.1f} s of speech"))
        happened = [(at_s, what) for at_s, what in moments if at_s is not None]
        happened.sort(key=lambda moment: moment[0])
        lines = [f"{at_s:7.2f} s  {what}" for at_s, what in happened]
        if self.first_audio_s is not None and self.last_text_s is not None:
            lead_s = self.last_text_s - self.first_audio_s
            word = "before" if lead_s > 0 else "after"
            lines.append(
                f"           speech began {abs(lead_s):.2f} s {word} the last word was written"
            )
        return lines
