"""The limits for the difference between windows and the whole, and the verdict on measurements."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from bench.report import table


@dataclass(frozen=True)
class Measured:
    """How far one utterance in windows is from the whole. See `bench.speech_distance`.

    Attributes:
        voice, language, text, speed: The utterance.
        duration_s: Its duration in seconds.
        mel_db: The distance of the mel spectra.
        beginning_db: The distance of the mel spectra of the first 0.6 s.
        loudness_db: The 95th percentile of the difference in level, in steps of 50 ms.
        left_out_db: The level of the whole where no window is decoded.
        join_step_db: The largest step at a join, compared with the same statistics without windows.
        snr_db: The signal-to-noise ratio, compared with the same statistics without windows.
        heard_words: How many words Whisper hears in the whole; 0 if the language is not English.
        wrong_words: How many words it hears differently in the windows.
        mos_change: The score that DNSMOS P.808 predicts for the windows, minus that for the whole.
        cost: The CPU time of the windows divided by that of the whole.
    """

    voice: str
    language: str
    text: str
    speed: float
    duration_s: float
    mel_db: float
    beginning_db: float
    loudness_db: float
    left_out_db: float
    join_step_db: float
    snr_db: float
    heard_words: int
    wrong_words: int
    mos_change: float
    cost: float

    @property
    def words(self) -> int:
        """The number of words in the text."""
        return len(self.text.split())


MAX_DB = {
    "mel_mean_db": 1.2,
    "mel_95th_db": 1.6,
    "beginning_mean_db": 1.2,
    "beginning_95th_db": 1.6,
    "loudness_mean_db": 1.0,
    "loudness_95th_db": 1.6,
    "left_out_db": -40.0,
    "join_step_db": 0.1,
}
MIN_SNR_DB = 50.0
MAX_WORD_ERROR_RATE = 0.01
MIN_HEARD_WORDS = 300
MAX_MOS_CHANGE = 0.05
MIN_SCORED = 40


@dataclass(frozen=True)
class Summary:
    """The summary of several utterances.

    Mel distance, beginning and loudness are means and 95th percentiles. The level left out, the
    step at a join and the SNR are the worst values, the words are sums, the change of the MOS is
    the mean, and the cost is the median.
    """

    utterances: int
    mel_mean_db: float
    mel_95th_db: float
    beginning_mean_db: float
    beginning_95th_db: float
    loudness_mean_db: float
    loudness_95th_db: float
    left_out_db: float
    join_step_db: float
    snr_db: float
    heard_words: int
    wrong_words: int
    mos_change: float
    cost: float

    @classmethod
    def of(cls, measured: Sequence[Measured]) -> "Summary":
        """Summarise one or more utterances."""
        distances: dict[str, float] = {}
        for name in ("mel", "beginning", "loudness"):
            values = [getattr(one, f"{name}_db") for one in measured]
            distances[f"{name}_mean_db"] = float(np.mean(values))
            distances[f"{name}_95th_db"] = float(np.percentile(values, 95))
        return cls(
            **distances,
            utterances=len(measured),
            left_out_db=max(one.left_out_db for one in measured),
            join_step_db=max(one.join_step_db for one in measured),
            snr_db=min(one.snr_db for one in measured),
            heard_words=sum(one.heard_words for one in measured),
            wrong_words=sum(one.wrong_words for one in measured),
            mos_change=float(np.mean([one.mos_change for one in measured])),
            cost=float(np.median([one.cost for one in measured])),
        )

    @property
    def word_error_rate(self) -> float | None:
        """Wrong words divided by the words heard in the whole, or None if none were heard."""
        return self.wrong_words / self.heard_words if self.heard_words else None

    def failures(self) -> list[str]:
        """List the values that are outside the limits, each with its limit.

        Wrong words are checked only if at least `MIN_HEARD_WORDS` were heard, and the change of the
        MOS only for at least `MIN_SCORED` utterances. In fewer, it is chance: that of a single
        utterance is up to 0.1 in either direction.
        """
        # `not … <=` lets NaN fail, too.
        problems = [
            f"{name} {getattr(self, name):.2f} > {limit:g}"
            for name, limit in MAX_DB.items()
            if not getattr(self, name) <= limit
        ]
        if not self.snr_db >= MIN_SNR_DB:
            problems.append(f"snr_db {self.snr_db:.1f} < {MIN_SNR_DB:g}")
        if self.heard_words >= MIN_HEARD_WORDS and (
            self.wrong_words > MAX_WORD_ERROR_RATE * self.heard_words
        ):
            problems.append(f"{self.wrong_words} of {self.heard_words} words heard differently")
        if self.utterances >= MIN_SCORED and not abs(self.mos_change) <= MAX_MOS_CHANGE:
            problems.append(f"mos_change {self.mos_change:+.3f} beyond ±{MAX_MOS_CHANGE:g}")
        return problems


def groups(measured: Sequence[Measured], key: Callable[[Measured], str]) -> dict[str, Summary]:
    """Return a summary for every value of `key`, in order of first appearance."""
    members: dict[str, list[Measured]] = {}
    for one in measured:
        members.setdefault(key(one), []).append(one)
    return {name: Summary.of(group) for name, group in members.items()}


@dataclass(frozen=True)
class Verdicts:
    """The verdict on everything that was measured.

    Languages and voices are judged at speed 1. The other speeds are judged over all voices.
    """

    languages: dict[str, Summary]
    voices: dict[str, Summary]
    speeds: dict[str, Summary]
    lengths: dict[str, Summary]
    """For information only: how much the distances depend on the number of words."""
    sentence_voices: Collection[str] = ()
    """Voices that the server decodes whole. The figures of their windows are for information."""

    @classmethod
    def of(cls, measured: Sequence[Measured], sentence_voices: Collection[str] = ()) -> "Verdicts":
        """Judge utterances, at least one of them at speed 1."""
        usual = [one for one in measured if one.speed == 1.0]
        return cls(
            languages=groups(usual, lambda one: one.language) | {"all": Summary.of(usual)},
            voices=groups(usual, lambda one: one.voice),
            speeds=groups(measured, lambda one: f"speed {one.speed:g}"),
            lengths=groups(sorted(usual, key=lambda one: one.words), _length),
            sentence_voices=sentence_voices,
        )

    def failures(self) -> list[str]:
        """List the languages, voices and speeds outside the limits, each with the reason."""
        return [
            f"{name}: {problem}"
            for name, summary in (self.languages | self.voices | self.speeds).items()
            for problem in summary.failures()
            if name not in self.sentence_voices
        ]

    def tables(self) -> list[str]:
        """Return all summaries as tables in Markdown."""
        return [
            table(
                f"{title} | n | mel, dB | first 0.6 s, dB | loudness, dB | left out, dB "
                "| join, dB | SNR, dB | WER, % | MOS | CPU | gate",
                (
                    _row(name, summary, decoded_whole=name in self.sentence_voices)
                    for name, summary in summaries.items()
                ),
            )
            for title, summaries in (
                ("language", self.languages),
                ("voice", self.voices),
                ("speed", self.speeds),
                ("length", self.lengths),
            )
        ]


def _length(one: Measured) -> str:
    for low, high in ((8, 9), (10, 14), (15, 19), (20, 29)):
        if one.words <= high:
            return f"{low}–{high} words"
    return "30 words or more"


def _row(name: str, summary: Summary, *, decoded_whole: bool) -> str:
    gate = "; ".join(summary.failures()) or "kept"
    word_errors = summary.word_error_rate
    cells = [
        name,
        str(summary.utterances),
        f"{summary.mel_mean_db:.2f} / {summary.mel_95th_db:.2f}",
        f"{summary.beginning_mean_db:.2f} / {summary.beginning_95th_db:.2f}",
        f"{summary.loudness_mean_db:.2f} / {summary.loudness_95th_db:.2f}",
        f"{summary.left_out_db:.0f}",
        f"{summary.join_step_db:.3f}",
        f"{summary.snr_db:.0f}",
        "–" if word_errors is None else f"{100 * word_errors:.1f}",
        f"{summary.mos_change:+.3f}",
        f"{100 * (summary.cost - 1):+.0f} %",
        f"decoded whole: {gate}" if decoded_whole else gate,
    ]
    return " | ".join(cells)
