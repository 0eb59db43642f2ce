"""The times of the events in one reply. The caller passes the times, so the module has no clock."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from voice_agent.messages import BYTES_PER_SECOND, Metrics, SentenceMetrics

# A word, or a character of a script without blanks, with the punctuation and blanks around it.
_CHARACTER = "\u3040-\u30ff\u3400-\u9fff"
_OPENERS = "「『（《“"
_WORD = re.compile(
    rf"[{_OPENERS}]*(?:[{_CHARACTER}]|[^\s{_CHARACTER}{_OPENERS}]+)[^\s\w{_OPENERS}]*\s*|\S\s*"
)
_NO_BLANK_AFTER = "。！？」』）"


@dataclass
class _SentenceRecord:
    text: str
    sent_s: float
    first_audio_s: float | None = None
    start_s: float = 0.0
    audio_bytes: int = 0

    @property
    def audio_s(self) -> float:
        return self.audio_bytes / BYTES_PER_SECOND


class TurnRecord:
    """Records when the text, the sentences and the audio of one reply arrived.

    All times are in seconds, by the same clock.

    Args:
        mode: `bidi` or `batch`.
        prompted_at: The time at which the prompt arrived.
    """

    def __init__(self, mode: str, prompted_at: float) -> None:
        self._mode = mode
        self._prompted_at = prompted_at
        self._ttft_s: float | None = None
        self._first_sentence_s: float | None = None
        self._sentences: list[_SentenceRecord] = []
        self._audio_bytes = 0

    @property
    def audio_s(self) -> float:
        """Duration of the audio so far, in seconds."""
        return self._audio_bytes / BYTES_PER_SECOND

    def text_written(self, now: float) -> None:
        """Record that the model has written text."""
        if self._ttft_s is None:
            self._ttft_s = now - self._prompted_at

    def sentence_complete(self, now: float) -> None:
        """Record that a sentence is complete and can be spoken."""
        if self._first_sentence_s is None:
            self._first_sentence_s = now - self._prompted_at

    def sentence_sent(self, text: str, now: float) -> int:
        """Record that a sentence was sent to be spoken. Return its number, from 0."""
        self._sentences.append(_SentenceRecord(text, now - self._prompted_at))
        return len(self._sentences) - 1

    def audio_arrived(self, seq: int, size_bytes: int, now: float) -> bool:
        """Record audio of sentence `seq`. Return whether it is the sentence's first audio."""
        sentence = self._sentences[seq]
        first = sentence.first_audio_s is None
        if first:
            sentence.first_audio_s = now - self._prompted_at
            sentence.start_s = self.audio_s
        sentence.audio_bytes += size_bytes
        self._audio_bytes += size_bytes
        return first

    def start_s(self, seq: int) -> float:
        """Return the position of sentence `seq` in the audio of this reply, in seconds."""
        return self._sentences[seq].start_s

    def heard_text(self, played_s: float) -> str:
        """Return the text that a listener has heard after `played_s` seconds of the audio.

        The text consists of the sentences that have been played completely, and the first words of
        the sentence that is being played. The share of its words equals the share of its audio. In
        Japanese and Chinese, characters count as words.
        """
        heard: list[str] = []
        for sentence in self._sentences:
            if sentence.audio_bytes == 0 or sentence.start_s >= played_s:
                continue
            share = (played_s - sentence.start_s) / sentence.audio_s
            words = _WORD.findall(sentence.text)
            if share > 1 - 1e-6:
                heard.append(sentence.text)
            elif count := int(share * len(words)):
                heard.append("".join(words[:count]).rstrip())
        return joined(heard)

    def metrics(self, now: float, streams_opened: int) -> Metrics:
        """Return the figures of the reply at the time `now`."""
        first_audio = [s.first_audio_s for s in self._sentences if s.first_audio_s is not None]
        return Metrics(
            mode=self._mode,
            ttft_s=self._ttft_s,
            first_sentence_s=self._first_sentence_s,
            ttfa_s=min(first_audio, default=None),
            total_s=now - self._prompted_at,
            audio_s=self.audio_s,
            streams_opened=streams_opened,
            sentences=[
                SentenceMetrics(
                    seq=seq,
                    text=sentence.text,
                    sent_s=sentence.sent_s,
                    first_audio_s=sentence.first_audio_s,
                    audio_s=sentence.audio_s,
                )
                for seq, sentence in enumerate(self._sentences)
            ],
        )


def joined(sentences: Iterable[str]) -> str:
    """Join sentences by blanks, but not after a full stop of a script without blanks."""
    text = ""
    for sentence in sentences:
        text += " " if text and text[-1] not in _NO_BLANK_AFTER else ""
        text += sentence
    return text
