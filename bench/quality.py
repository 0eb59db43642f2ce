"""Compare speech decoded in windows with speech decoded whole, for every voice.

    python -m bench.quality [--out bench/results/quality.md] [--samples bench/results/quality]
        [--voices NAME …] [--sentences 4] [--processes 2]

Each voice speaks sentences of its language (quality_texts.toml) twice: in windows with predicted
statistics, and whole with exact statistics. `bench.speech_distance` calculates the distances, and
`bench.quality_gate` checks them against its limits. The speech in windows is also compared with
speech decoded whole with the predicted statistics, where only rounding may differ. In English,
the words that Whisper hears in the windows are compared with those that it hears in the whole.
DNSMOS P.808 predicts how listeners would rate both. The exit code is 1 if anything is outside the
limits.
"""

import multiprocessing
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from itertools import count
from math import ceil
from pathlib import Path

import av
import numpy as np

from bench.hearing import spoken_words, transcribe, word_error_rate
from bench.mos import p808
from bench.quality_gate import (
    MAX_DB,
    MAX_MOS_CHANGE,
    MAX_WORD_ERROR_RATE,
    MIN_SCORED,
    MIN_SNR_DB,
    Measured,
    Verdicts,
)
from bench.report import argument_parser, document, publish, table
from bench.speech_distance import (
    beginning,
    join_step_db,
    level_db,
    loudness_difference_db,
    mel_distance_db,
    snr_db,
)
from kokoro_model.manifest import default_model_dir
from kokoro_server.codecs import to_pcm
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples
from kokoro_voice.decoding import FRAME_WORK_S, Decoding, Span
from kokoro_voice.norm_statistics import read_provenance
from kokoro_voice.onnx_model import Cancellation
from kokoro_voice.synthesizer import Synthesizer
from kokoro_voice.text import SENTENCE_PAUSE_S, Segment
from kokoro_voice.timing import last_sound
from kokoro_voice.voices import Voice, Voices
from kokoro_voice.windows import FRAME_S, FRAME_SAMPLES, SpokenFrames, WindowLimits

TEXTS: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "quality_texts.toml").read_text(encoding="utf-8")
)
"""The sentences of each language, by espeak's name of the language."""
BEGINNING_S = 0.6
OTHER_SPEEDS = (0.75, 1.3)
SAMPLE_PAIRS_OF_A_KIND = 3
MAX_SAMPLE_S = 5.0
_TEXT_STEP = 7  # coprime to the numbers of texts, so that no voice speaks a text twice


@dataclass(frozen=True)
class Utterance:
    """One sentence to speak."""

    voice: Voice
    text: str
    speed: float = 1.0


@dataclass(frozen=True)
class Rendering:
    """One utterance decoded in three ways, at 24 kHz, limited to the frames that windows cover.

    Attributes:
        whole: Decoded at once, with exact norm statistics.
        unwindowed: Decoded at once, with predicted norm statistics.
        windowed: Decoded in windows, with predicted norm statistics.
        joins: The index of the first sample of each window after the first.
        left_out_db: The level of the whole outside these frames, see `level_db`.
        cost: The CPU time of the windows divided by that of the whole, both including prosody.
    """

    whole: Samples
    unwindowed: Samples
    windowed: Samples
    joins: list[int]
    left_out_db: float
    cost: float


class Renderer:
    """The model and the predicted norm statistics as the server uses them, on one thread.

    Args:
        model_dir: The model directory, built by `python -m kokoro_model`.

    Raises:
        ModelError: The model directory is damaged.
        ValueError: There are no norm statistics for this model.
    """

    def __init__(self, model_dir: Path) -> None:
        self._synthesizer = Synthesizer(model_dir, threads=1)
        if self._synthesizer.table is None:
            raise ValueError(f"{model_dir}: there are no norm statistics for this model")
        self._table = self._synthesizer.table
        self.sentence_voices = self._table.provenance.sentence_voices
        """The voices that the server decodes whole, although they are calibrated."""

    def render(self, utterance: Utterance) -> Rendering:
        """Decode `utterance` in the three ways.

        Raises:
            ValueError: Its voice is not calibrated.
        """
        engine, cancellation = self._synthesizer.engine, Cancellation()
        segment = Segment(utterance.text, SENTENCE_PAUSE_S)
        (sentence,) = self._synthesizer.pronounce(segment, utterance.voice).sentences
        phonemes = sentence.phonemes
        began_s = time.process_time()
        prosody = engine.prosody(phonemes, utterance.voice, utterance.speed, cancellation)
        prosody_s = time.process_time() - began_s

        began_s = time.process_time()
        whole, _ = engine.whole(prosody, cancellation)
        whole_s = time.process_time() - began_s

        began_s = time.process_time()
        predicted = self._table.predict(prosody, utterance.voice)
        if predicted is None:
            raise ValueError(f"voice {utterance.voice.name!r}: is not calibrated")
        spoken = SpokenFrames.of(prosody.token_frames, prosody.energy, last_sound(phonemes))
        spans = _spans(prosody.frames, spoken)
        windows = [
            engine.window(prosody, predicted, span.start, span.end, cancellation) for span in spans
        ]
        windows_s = time.process_time() - began_s

        unwindowed = engine.window(prosody, predicted, spoken.start, spoken.end, cancellation)
        start, end = FRAME_SAMPLES * spoken.start, FRAME_SAMPLES * spoken.end
        return Rendering(
            whole=whole[start:end],
            unwindowed=unwindowed,
            windowed=np.concatenate(windows),
            joins=[FRAME_SAMPLES * span.start - start for span in spans[1:]],
            left_out_db=max(level_db(rest, whole) for rest in (whole[:start], whole[end:])),
            cost=(prosody_s + windows_s) / (prosody_s + whole_s),
        )

    def measure(self, utterance: Utterance) -> Measured:
        """Decode `utterance` and compare the results, with speech recognition if it is English.

        Raises:
            ValueError: Its voice is not calibrated.
        """
        rendering = self.render(utterance)
        whole, windowed = rendering.whole, rendering.windowed
        heard_words = wrong_words = 0
        if utterance.voice.language.startswith("en-"):
            heard = transcribe(whole, SAMPLE_RATE_HZ)
            heard_words = len(spoken_words(heard))
            wrong_words = round(
                heard_words * word_error_rate(heard, transcribe(windowed, SAMPLE_RATE_HZ))
            )
        return Measured(
            voice=utterance.voice.name,
            language=utterance.voice.language,
            text=utterance.text,
            speed=utterance.speed,
            duration_s=len(whole) / SAMPLE_RATE_HZ,
            mel_db=mel_distance_db(whole, windowed),
            beginning_db=mel_distance_db(*beginning(whole, windowed, BEGINNING_S)),
            loudness_db=loudness_difference_db(whole, windowed),
            left_out_db=rendering.left_out_db,
            join_step_db=join_step_db(rendering.unwindowed, windowed, rendering.joins),
            snr_db=snr_db(rendering.unwindowed, windowed),
            heard_words=heard_words,
            wrong_words=wrong_words,
            mos_change=p808(windowed, SAMPLE_RATE_HZ) - p808(whole, SAMPLE_RATE_HZ),
            cost=rendering.cost,
        )


def _spans(frames: int, spoken: SpokenFrames) -> list[Span]:
    """Return the windows for a single listener on two CPU cores, also for a short sentence."""
    limits = WindowLimits(short_frames=0)
    decoding = Decoding(frames, spoken, windowed=True, limits=limits)
    spans: list[Span] = []
    buffer_s = 0.0
    while (span := decoding.next(buffer_s)) is not None:
        work_s = FRAME_WORK_S * span.work_frames if spans else 0.0
        buffer_s += (span.end - span.start) * FRAME_S - work_s
        spans.append(span)
    return spans


def utterances(voices: Sequence[Voice], sentences: int) -> list[Utterance]:
    """Plan at least `sentences` utterances of every voice at speed 1, and one at each other speed.

    The voices of a language together speak all of its texts, so each voice speaks more of them if
    there are few voices. Each voice begins with another text and goes on in steps of `_TEXT_STEP`.
    The texts are roughly sorted by length, so every voice speaks short and long ones.
    """
    planned = []
    speakers = Counter(voice.language for voice in voices)
    begun: Counter[str] = Counter()
    for voice in voices:
        texts = TEXTS[voice.language]
        usual = max(sentences, ceil(len(texts) / speakers[voice.language]))
        planned += [
            Utterance(voice, texts[(begun[voice.language] + place) % len(texts)], speed)
            for place, speed in zip(
                count(step=_TEXT_STEP), [1.0] * usual + list(OTHER_SPEEDS), strict=False
            )
        ]
        begun[voice.language] += 1
    return planned


def measure_all(
    planned: Sequence[Utterance], model_dir: Path, processes: int
) -> Iterator[Measured]:
    """Measure every utterance, in order, in `processes` processes."""
    # With fork, a speech recognizer that the parent has loaded would hang in its children.
    pool = ProcessPoolExecutor(
        processes, multiprocessing.get_context("spawn"), initializer=_start, initargs=(model_dir,)
    )
    with pool:
        yield from pool.map(_measure, planned)


_renderer: Renderer  # exists in the processes that `measure_all` starts


def _start(model_dir: Path) -> None:
    global _renderer
    _renderer = Renderer(model_dir)


def _measure(utterance: Utterance) -> Measured:
    return _renderer.measure(utterance)


def sample_choice(measured: Sequence[Measured]) -> dict[str, Measured]:
    """Choose the pairs to listen to, by name: the largest distances, and ordinary ones.

    There is at most one pair of a kind in each language. None is longer than `MAX_SAMPLE_S`.
    """
    ranked = sorted(
        (one for one in measured if one.speed == 1.0 and one.duration_s <= MAX_SAMPLE_S),
        key=lambda one: -one.mel_db,
    )
    middle = len(ranked) // 2
    chosen: dict[str, Measured] = {}
    for kind, candidates in (("worst", ranked), ("median", ranked[middle:])):
        of_language: dict[str, Measured] = {}
        for one in candidates:
            of_language.setdefault(one.language, one)
        for one in list(of_language.values())[:SAMPLE_PAIRS_OF_A_KIND]:
            chosen[f"{kind}-{one.voice}"] = one
    return chosen


def write_flac(path: Path, samples: Samples) -> None:
    """Write 24 kHz samples as 16-bit FLAC."""
    with av.open(str(path), "w") as file:
        stream = file.add_stream("flac", rate=SAMPLE_RATE_HZ, layout="mono")
        pcm = np.frombuffer(to_pcm(samples), "<i2")
        frame = av.AudioFrame.from_ndarray(pcm[np.newaxis], format="s16", layout="mono")
        frame.sample_rate = SAMPLE_RATE_HZ
        file.mux([*stream.encode(frame), *stream.encode(None)])


def report(
    measured: Sequence[Measured],
    verdicts: Verdicts,
    pairs: dict[str, Measured],
    command: str,
    took_s: float,
) -> str:
    """Return the results as Markdown."""
    speech_s = sum(one.duration_s for one in measured)
    limits = ", ".join(f"{name} ≤ {limit:g}" for name, limit in MAX_DB.items())
    paragraphs = [
        "# Windows against the whole sentence",
        f"`{command}`, {date.today()}; {len(measured)} utterances, {speech_s:.0f} s of speech, "
        f"measured in {took_s / 60:.0f} minutes. Sentences of 8 words or more, decoded in windows "
        "with predicted statistics, are compared with the same sentences decoded whole with exact "
        "statistics.",
        "Where a cell has two numbers, they are the mean and the 95th percentile over the "
        "utterances. Loudness: for each utterance, the 95th percentile of the difference in level, "
        "in steps of 50 ms. Left out: the level of the whole where no window is decoded; the "
        "loudest 10 ms there, relative to the loudest 10 ms of all. Join (the largest step) and "
        "SNR (the smallest) compare the windows with speech decoded whole with the same predicted "
        "statistics. WER: the words that Whisper hears in the windows, compared with those in the "
        "whole; English only. MOS: the score from 1 to 5 that DNSMOS P.808 predicts for the "
        "windows, minus that for the whole; the mean. CPU: the median of the additional CPU time "
        "of the windows, relative to the whole.",
        f"Limits: {limits}, SNR ≥ {MIN_SNR_DB:g} dB, WER ≤ {MAX_WORD_ERROR_RATE:.0%}, "
        f"MOS within ±{MAX_MOS_CHANGE:g} where there are at least {MIN_SCORED} utterances.",
        *verdicts.tables(),
    ]
    if pairs:
        paragraphs += [
            "These pairs can be listened to, each decoded whole and in windows. Of the utterances "
            f"of at most {MAX_SAMPLE_S:g} s, they are the ones with the largest distance, and "
            "ordinary ones.",
            table(
                "pair | mel, dB | first 0.6 s, dB | loudness, dB | text",
                (
                    f"{name} | {one.mel_db:.2f} | {one.beginning_db:.2f} | {one.loudness_db:.2f} "
                    f"| {one.text}"
                    for name, one in pairs.items()
                ),
            ),
        ]
    return document(*paragraphs)


def main() -> int:
    """Measure, print the report, and write it and the pairs if the arguments ask for them.

    Returns:
        The exit code: 1 if anything is outside the limits, otherwise 0.
    """
    parser = argument_parser("quality", __doc__)
    parser.add_argument(
        "--voices", nargs="+", help="the voices to measure (default: all that are calibrated)"
    )
    parser.add_argument(
        "--sentences", type=int, default=4, help="minimum of each voice at speed 1 (default: 4)"
    )
    parser.add_argument(
        "--processes", type=int, default=2, help="processes that decode in parallel"
    )
    parser.add_argument("--samples", type=Path, help="the folder for the pairs to listen to")
    arguments = parser.parse_args()

    model_dir = default_model_dir("packages")
    served = Voices.in_directory(model_dir, "af_heart")
    voices = [served.resolve(name) for name in arguments.voices or read_provenance().voices]
    planned = utterances(voices, arguments.sentences)
    began_s = time.monotonic()
    measured = []
    for one in measure_all(planned, model_dir, arguments.processes):
        measured.append(one)
        print(
            f"{len(measured)}/{len(planned)} {one.voice} speed {one.speed:g} {one.words} words: "
            f"mel {one.mel_db:.2f} beginning {one.beginning_db:.2f} loudness {one.loudness_db:.2f} "
            f"dB, {one.wrong_words} wrong words, MOS {one.mos_change:+.3f}",
            file=sys.stderr,
            flush=True,
        )
    took_s = time.monotonic() - began_s

    renderer = Renderer(model_dir)
    pairs: dict[str, Measured] = {}
    if arguments.samples:
        pairs = sample_choice(measured)
        arguments.samples.mkdir(parents=True, exist_ok=True)
        for name, one in pairs.items():
            rendering = renderer.render(Utterance(served.resolve(one.voice), one.text))
            write_flac(arguments.samples / f"{name}-whole.flac", rendering.whole)
            write_flac(arguments.samples / f"{name}-windows.flac", rendering.windowed)

    command = f"python -m bench.quality --sentences {arguments.sentences}"
    if arguments.voices:
        command += f" --voices {' '.join(arguments.voices)}"
    verdicts = Verdicts.of(measured, renderer.sentence_voices)
    publish(report(measured, verdicts, pairs, command, took_s), arguments.out)
    return 1 if verdicts.failures() else 0


if __name__ == "__main__":
    sys.exit(main())
