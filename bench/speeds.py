"""Measure what is heard at other speeds than 1, and before and after the words.

    python -m bench.speeds [--voices NAME …] [--speeds NUMBER …] [--texts 6] [--alone]

Each voice speaks short sentences of its language at each speed, as the server does. Printed are,
for each voice and speed, the word error rate (English only), the longest sound before the first
word, and the number of sentences after whose last word there is another sound. With `--alone` the
model itself speaks at the speed, and only silence is trimmed.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from bench.hearing import transcribe, word_error_rate
from bench.quality import TEXTS
from bench.report import table
from kokoro_model.manifest import default_model_dir
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples, Trimmer, silence
from kokoro_voice.onnx_model import Cancellation
from kokoro_voice.synthesizer import Sentence, Synthesizer
from kokoro_voice.text import segments
from kokoro_voice.timing import word_times
from kokoro_voice.voices import Voice, Voices

SPEEDS = (0.5, 0.7, 1.0, 1.25, 1.5, 1.75, 2.0)
SHORT_TEXTS = {
    "en": ['"Help!" she cried.', "Run!", 'He said, "No!"', "Yes.", "Two tickets, please."],
    "es": ["«¡Ayuda!», gritó.", 'Dijo: "¡No!"', "Sí.", "¡Qué sorpresa!"],
    "fr": ["Il a dit : « Non ! »", "Oui.", "Quelle surprise !"],
    "hi": ['उसने कहा, "नहीं!"', "हाँ।", "बचाओ!"],
    "it": ["«Aiuto!» gridò.", 'Ha detto: "No!"', "Sì.", "Che sorpresa!"],
    "pt": ['"Socorro!", gritou ela.', 'Ele disse: "Não!"', "Sim.", "Que surpresa!"],
}
"""Quotations, exclamations and single words, by the first letters of the language."""
_LONGEST_TEXT = 110
_HEARD_DB, _QUIET_DB, _QUIET_BLOCKS = -38.0, -42.0, 7
"""Relative to the loudest block of 10 ms: a sound, and a pause with its least number of blocks."""


@dataclass(frozen=True)
class Measured:
    """One sentence. `early_s` is how long before the first word's time something is heard."""

    words: int
    wrong_words: float
    early_s: float
    is_followed: bool


def measure(
    synthesizer: Synthesizer, text: str, voice: Voice, speed: float, alone: bool
) -> list[Measured]:
    """Speak the sentences of `text`, and listen to them."""
    measured = []
    for segment in segments(text, voice.language):
        for sentence in synthesizer.pronounce(segment, voice).sentences:
            speak = _spoken_by_the_model if alone else _spoken
            audio, first_s, last_s = speak(synthesizer, sentence, voice, speed)
            wrong = 0.0
            words = len(segment.text.split())
            if voice.language.startswith("en"):
                heard = transcribe(
                    np.concatenate([silence(0.2), audio, silence(0.5)]), SAMPLE_RATE_HZ
                )
                wrong = words * word_error_rate(segment.text, heard)
            measured.append(Measured(words, wrong, *_edges(audio, first_s, last_s)))
    return measured


def _spoken(
    synthesizer: Synthesizer, sentence: Sentence, voice: Voice, speed: float
) -> tuple[Samples, float, float]:
    """Return the audio, when the first word begins and when the last one ends."""
    prepared = synthesizer.prepare(sentence, voice, speed, Cancellation(), windowed=False)
    span = prepared.decoding.next()
    assert span is not None
    chunk = synthesizer.decode(prepared, span, Cancellation())
    audio = np.concatenate([chunk.samples, prepared.tail()])
    return audio, chunk.words[0].start_s, chunk.words[-1].end_s


def _spoken_by_the_model(
    synthesizer: Synthesizer, sentence: Sentence, voice: Voice, speed: float
) -> tuple[Samples, float, float]:
    engine, trimmer = synthesizer.engine, Trimmer()
    prosody = engine.prosody(sentence.phonemes, voice, speed, Cancellation())
    whole, _ = engine.whole(prosody, Cancellation())
    audio = np.concatenate([trimmer.push(whole), trimmer.end()])
    times = word_times(sentence.words, prosody.token_frames, trimmer.dropped_samples)
    return audio, times[0].start_s, times[-1].end_s


def _edges(audio: Samples, first_s: float, last_s: float) -> tuple[float, bool]:
    blocks = audio[: len(audio) // 240 * 240].reshape(-1, 240)
    power = np.square(blocks).mean(axis=1)
    levels = 10 * np.log10(power / power.max() + 1e-12)
    early_s = first_s - float(np.flatnonzero(levels > _HEARD_DB)[0]) / 100
    last = levels[round(100 * last_s) :]
    for block in range(len(last) - _QUIET_BLOCKS):
        if last[block : block + _QUIET_BLOCKS].max() < _QUIET_DB:
            return early_s, bool(last[block:].max() > _HEARD_DB)
    return early_s, False


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser("python -m bench.speeds", description=__doc__.splitlines()[0])
    parser.add_argument("--voices", nargs="+", default=["af_heart", "bm_george"], metavar="NAME")
    parser.add_argument("--speeds", nargs="+", type=float, default=SPEEDS, metavar="NUMBER")
    parser.add_argument("--texts", type=int, default=6, help="sentences besides the short ones")
    parser.add_argument("--alone", action="store_true", help="the model alone, without stretching")
    arguments = parser.parse_args()
    model_dir = default_model_dir()
    synthesizer, voices = Synthesizer(model_dir, 2), Voices.in_directory(model_dir, "af_heart")
    rows = []
    names = voices.names if arguments.voices == ["all"] else arguments.voices
    for voice in map(voices.resolve, names):
        texts = [text for text in TEXTS[voice.language] if len(text) <= _LONGEST_TEXT]
        texts = SHORT_TEXTS[voice.language[:2]] + texts[: arguments.texts]
        for speed in arguments.speeds:
            found = [
                measured
                for text in texts
                for measured in measure(synthesizer, text, voice, speed, arguments.alone)
            ]
            wrong = sum(one.wrong_words for one in found) / sum(one.words for one in found)
            rows.append(
                f"{voice.name} | {speed:g} | {100 * wrong:.1f} | "
                f"{max(one.early_s for one in found):.2f} | "
                f"{sum(one.is_followed for one in found)} of {len(found)}"
            )
            print(rows[-1], flush=True)
    columns = "voice | speed | word errors, % | earliest sound, s | sound after the last word"
    print(table(columns, rows))


if __name__ == "__main__":
    main()
