"""Does speech in windows sound like speech decoded whole? Every voice is asked.

    python -m bench.quality [--out bench/results/quality.md] [--samples bench/results/quality]
        [--voices NAME …] [--sentences 4] [--processes 2]

Each voice says sentences of its language (quality_texts.toml) in windows, with predicted
statistics, and whole, with exact ones. Their distances (`bench.speech_distance`) are held to the
limits of `bench.quality_gate`. The windows are also held against the predicted statistics without
windows, where nothing but rounding may differ, and, in English, whisper's words against those it
hears in the whole. Ends with 1 if anything is outside the limits.
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
from bench.quality_gate import MAX_DB, MAX_WORD_ERROR_RATE, MIN_SNR_DB, Measured, Verdicts
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
from kokoro_voice.onnx_model import Cancellation
from kokoro_voice.synthesizer import Synthesizer
from kokoro_voice.text import SENTENCE_PAUSE_S, Segment
from kokoro_voice.timing import last_sound
from kokoro_voice.voices import Voice, Voices
from kokoro_voice.windows import FRAME_S, FRAME_SAMPLES, SpokenFrames, WindowLimits

TEXTS: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "quality_texts.toml").read_text(encoding="utf-8")
)
"""Language, as espeak names it, to sentences."""
BEGINNING_S = 0.6
OTHER_SPEEDS = (0.75, 1.3)
SAMPLE_PAIRS_OF_A_KIND = 3
MAX_SAMPLE_S = 5.0
_TEXT_STEP = 7  # shares no factor with the numbers of texts, so no voice says one twice


@dataclass(frozen=True)
class Utterance:
    """One sentence to say."""

    voice: Voice
    text: str
    speed: float = 1.0


@dataclass(frozen=True)
class Rendering:
    """One utterance decoded in three ways, 24 kHz, each of the frames that windows are cut from.

    Attributes:
        whole: with exact norm statistics.
        unwindowed: with predicted ones, at once.
        windowed: with the same, in windows.
        joins: the first samples of the windows after the first.
        left_out_db: how loud the whole is outside of these frames, see `level_db`.
        cost: CPU time of the windows as a share of the whole's, prosody included in both.
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
        model_dir: what `python -m kokoro_model` built.

    Raises:
        ModelError: the model directory is damaged.
        ValueError: the table is of another model.
    """

    def __init__(self, model_dir: Path) -> None:
        self._synthesizer = Synthesizer(model_dir, threads=1)
        if self._synthesizer.table is None:
            raise ValueError(f"{model_dir}: there are no norm statistics of this model")
        self._table = self._synthesizer.table
        self.sentence_voices = self._table.provenance.sentence_voices
        """Those that the server decodes whole all the same."""

    def render(self, utterance: Utterance) -> Rendering:
        """Decode `utterance` in the three ways.

        Raises:
            ValueError: its voice is not calibrated.
        """
        engine, cancellation = self._synthesizer.engine, Cancellation()
        segment = Segment(utterance.text, SENTENCE_PAUSE_S)
        (sentence,) = self._synthesizer.pronounce(segment, utterance.voice)
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
            raise ValueError(f"voice: {utterance.voice.name} is not calibrated")
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
        """Decode `utterance`, compare, and listen if it is English.

        Raises:
            ValueError: its voice is not calibrated.
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
            cost=rendering.cost,
        )


def _spans(frames: int, spoken: SpokenFrames) -> list[Span]:
    """The windows of a listener who is alone, on two CPU cores; of a short sentence, too."""
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
    """`sentences` or more at speed 1, and one at each of `OTHER_SPEEDS`, from every voice.

    The voices of a language together say all of its texts, so more each where they are few. Each
    begins at another text and goes on in steps of `_TEXT_STEP`: the texts are sorted by length, or
    nearly, and every voice is to say short and long ones.
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
    """Measure every utterance, in order, on `processes` cores."""
    # Not forked: a recognizer that the parent has loaded would hang in its children.
    pool = ProcessPoolExecutor(
        processes, multiprocessing.get_context("spawn"), initializer=_start, initargs=(model_dir,)
    )
    with pool:
        yield from pool.map(_measure, planned)


_renderer: Renderer  # of a process that `measure_all` started


def _start(model_dir: Path) -> None:
    global _renderer
    _renderer = Renderer(model_dir)


def _measure(utterance: Utterance) -> Measured:
    return _renderer.measure(utterance)


def sample_choice(measured: Sequence[Measured]) -> dict[str, Measured]:
    """The pairs worth listening to, by name: the furthest apart, and ordinary ones.

    No two are of the same language and kind; none is longer than `MAX_SAMPLE_S`.
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
    """The results as Markdown."""
    speech_s = sum(one.duration_s for one in measured)
    limits = ", ".join(f"{name} ≤ {limit:g}" for name, limit in MAX_DB.items())
    paragraphs = [
        "# Windows against the whole sentence",
        f"`{command}`, {date.today()}; {len(measured)} utterances, {speech_s:.0f} s of speech, "
        f"measured in {took_s / 60:.0f} minutes. Sentences of 8 words or more in windows with "
        "predicted statistics, against the whole sentence with exact ones.",
        "Two numbers are the mean over the utterances and the 95th percentile over them. Loudness "
        "is, of one utterance, the 95th percentile of the difference in steps of 50 ms. Left out "
        "is how loud the whole is where no window is decoded: its loudest 10 ms there against the "
        "loudest of all. Join (the largest step) and SNR (the smallest) hold the windows against "
        "the same statistics without windows. WER holds what whisper hears against what it hears "
        "in the whole (English). CPU is what the windows take more than the whole, the median.",
        f"Limits: {limits}, SNR ≥ {MIN_SNR_DB:g} dB, WER ≤ {MAX_WORD_ERROR_RATE:.0%}.",
        *verdicts.tables(),
    ]
    if pairs:
        paragraphs += [
            "Pairs to listen to, each as whole and as windows: the furthest apart of all that are "
            f"at most {MAX_SAMPLE_S:g} s long, and ordinary ones.",
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
    """Measure, print the tables, and write them, and the pairs, where the arguments say."""
    parser = argument_parser("quality", __doc__)
    parser.add_argument("--voices", nargs="+", help="instead of all that are served")
    parser.add_argument(
        "--sentences", type=int, default=4, help="of each voice at speed 1, at least"
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--samples", type=Path, help="a folder for pairs to listen to")
    arguments = parser.parse_args()

    model_dir = default_model_dir("packages")
    served = Voices.in_directory(model_dir, "af_heart")
    voices = [served.resolve(name) for name in arguments.voices or served.names]
    planned = utterances(voices, arguments.sentences)
    began_s = time.monotonic()
    measured = []
    for one in measure_all(planned, model_dir, arguments.processes):
        measured.append(one)
        print(
            f"{len(measured)}/{len(planned)} {one.voice} speed {one.speed:g} {one.words} words: "
            f"mel {one.mel_db:.2f} beginning {one.beginning_db:.2f} loudness {one.loudness_db:.2f} "
            f"dB, {one.wrong_words} wrong words",
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
