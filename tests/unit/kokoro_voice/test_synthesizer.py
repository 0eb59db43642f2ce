"""The walk from text to samples, with the real model: what must hold whoever takes the steps."""

from pathlib import Path

import numpy as np
import pytest

from bench.hearing import transcribe, word_error_rate
from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples, silence
from kokoro_voice.onnx_model import Cancellation
from kokoro_voice.synthesizer import PreparedSentence, Pronunciation, Synthesizer
from kokoro_voice.text import CLAUSE_PAUSE_S, WORD_PAUSE_S, Segment
from kokoro_voice.timing import WordTime
from kokoro_voice.voices import Voices

TEXT = "The ferry leaves at half past eight, so please bring your ticket and a warm coat."
VOICES = Voices(
    ["af_heart", "af_jessica", "am_eric", "am_onyx", "bf_emma", "bm_fable", "bm_george"], "af_heart"
)


@pytest.fixture(scope="module")
def synthesizer(model_dir: Path) -> Synthesizer:
    return Synthesizer(model_dir, threads=2)


def prepared(
    synthesizer: Synthesizer,
    voice: str = "af_heart",
    text: str = TEXT,
    speed: float = 1.0,
    *,
    windowed: bool = True,
) -> PreparedSentence:
    resolved = VOICES.resolve(voice)
    (sentence,) = synthesizer.pronounce(Segment(text, 0.3), resolved).sentences
    return synthesizer.prepare(sentence, resolved, speed, Cancellation(), windowed=windowed)


def decoded(
    synthesizer: Synthesizer, sentence: PreparedSentence
) -> tuple[list[Samples], list[list[WordTime]]]:
    samples, words = [], []
    while (span := sentence.decoding.next()) is not None:
        chunk = synthesizer.decode(sentence, span, Cancellation())
        samples.append(chunk.samples)
        words.append(list(chunk.words))
    return [*samples, sentence.tail()], words


def test_windows_and_the_whole_are_the_same_words_at_the_same_times(
    synthesizer: Synthesizer,
) -> None:
    """Guards against a granularity that loses a window, a word, or the end of the sentence."""
    windows, words = decoded(synthesizer, prepared(synthesizer))
    whole, words_at_once = decoded(synthesizer, prepared(synthesizer, windowed=False))
    assert len(windows) > 3
    assert len(whole) == 2
    assert abs(len(np.concatenate(windows)) - len(np.concatenate(whole))) <= SAMPLE_RATE_HZ // 50
    (timed,) = [times for times in words if times]
    assert "".join(word.text for word in timed).rstrip() == TEXT
    for one, other in zip(timed, words_at_once[0], strict=True):
        assert one.start_s == pytest.approx(other.start_s, abs=0.02)
        assert one.end_s == pytest.approx(other.end_s, abs=0.02)


def levels_db(audio: Samples) -> Samples:
    """The level of each 0.01 s, relative to the loudest."""
    power = np.square(audio[: len(audio) // 240 * 240]).reshape(-1, 240).mean(axis=1)
    return 10 * np.log10(power / power.max() + 1e-12)


@pytest.mark.parametrize(
    ("voice", "text", "speed"),
    [
        ("af_heart", "tomato", 0.5),
        ("af_heart", "Yes.", 0.5),
        ("bm_george", "Two tickets, please.", 0.7),
        ("bm_george", "Run!", 0.5),
        ("bm_george", 'He said, "No!"', 0.5),
        ("bf_emma", '"Run!"', 1.0),
        ("am_eric", "Yes.", 1.25),
        ("bm_fable", "Two tickets, please.", 2.0),
    ],
)
def test_there_is_no_sound_but_that_of_the_words(
    synthesizer: Synthesizer, voice: str, text: str, speed: float
) -> None:
    """At half speed the model makes a sound before the first word and repeats the last one. At any
    speed some voices click or hum after it."""
    samples, words = decoded(synthesizer, prepared(synthesizer, voice, text, speed))
    levels = levels_db(np.concatenate(samples))
    (timed,) = [times for times in words if times]
    early_s = timed[0].start_s - np.flatnonzero(levels > -35)[0] / 100
    assert early_s <= 0.03 + 0.1 / min(1.0, speed)
    # The last sound may fade for long after the end of the word. What follows a pause is another
    # sound.
    last = levels[round(100 * timed[-1].end_s) :]
    quiet = [block for block in range(len(last) - 7) if last[block : block + 7].max() < -42]
    assert not quiet or last[quiet[0] :].max() <= -38
    assert len(last) / 100 <= 0.65 / min(1.0, speed)


@pytest.mark.parametrize(
    ("voice", "text", "speed"),
    [
        ("bm_george", "Two tickets, please.", 0.5),
        ("af_heart", "Two tickets, please.", 0.7),
        ("af_heart", "The last word is Constantinople.", 2.0),
        ("bm_george", "The last bus leaves at midnight on Fridays.", 2.0),
    ],
)
def test_every_word_is_heard_at_every_speed(
    synthesizer: Synthesizer, voice: str, text: str, speed: float
) -> None:
    """The model alone says "And two tickets", or "The last word is continual"."""
    samples, _ = decoded(synthesizer, prepared(synthesizer, voice, text, speed))
    audio = np.concatenate([silence(0.2), *samples, silence(0.5)])
    heard = transcribe(audio, SAMPLE_RATE_HZ)
    assert word_error_rate(text, heard) == 0, heard


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_words_are_timed_in_slower_and_faster_speech(
    synthesizer: Synthesizer, speed: float
) -> None:
    """Guards against the times of the model's audio, and against windows that are lost."""
    samples, words = decoded(synthesizer, prepared(synthesizer, speed=speed))
    (timed,) = [times for times in words if times]
    audio_s = len(np.concatenate(samples)) / SAMPLE_RATE_HZ
    assert "".join(word.text for word in timed).strip() == TEXT
    assert audio_s - 0.6 / speed <= timed[-1].end_s <= audio_s
    levels = levels_db(np.concatenate(samples))
    # After the comma.
    pause = levels[round(100 * timed[7].end_s) : round(100 * timed[8].start_s)]
    assert pause.min() < -25
    assert abs(timed[0].start_s - np.flatnonzero(levels > -30)[0] / 100) <= 0.1 / speed


def test_voices_that_fail_the_gate_and_unknown_ones_are_decoded_whole(
    synthesizer: Synthesizer,
) -> None:
    """Guards against windows of voices that failed the gate, or were never tested."""
    assert not prepared(synthesizer, "af_jessica").decoding.windowed
    assert not prepared(synthesizer, "af_heart(3)+am_onyx(1)").decoding.windowed
    assert prepared(synthesizer, "am_onyx").decoding.windowed


def test_a_segment_of_too_many_phonemes_is_several_sentences_with_one_pause(
    synthesizer: Synthesizer,
) -> None:
    """Guards against a pause in the middle of a phrase, and against the model's limit."""
    voice = VOICES.default
    sentences = synthesizer.pronounce(Segment("123,456,789 " * 20, CLAUSE_PAUSE_S), voice).sentences
    assert len(sentences) > 1
    assert [sentence.pause_s for sentence in sentences[:-1]] == [WORD_PAUSE_S] * (
        len(sentences) - 1
    )
    assert sentences[-1].pause_s == CLAUSE_PAUSE_S
    assert synthesizer.pronounce(Segment("... !", 0.3), voice) == Pronunciation([], [])
