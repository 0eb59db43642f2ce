"""The walk from text to samples, with the real model: what must hold whoever takes the steps."""

from pathlib import Path

import numpy as np
import pytest

from kokoro_voice.audio import SAMPLE_RATE_HZ, Samples
from kokoro_voice.onnx_model import Cancellation
from kokoro_voice.synthesizer import PreparedSentence, Pronunciation, Synthesizer
from kokoro_voice.text import CLAUSE_PAUSE_S, WORD_PAUSE_S, Segment
from kokoro_voice.timing import WordTime
from kokoro_voice.voices import Voices

TEXT = "The ferry leaves at half past eight, so please bring your ticket and a warm coat."
VOICES = Voices(["af_heart", "af_jessica", "am_onyx"], "af_heart")


@pytest.fixture(scope="module")
def synthesizer(model_dir: Path) -> Synthesizer:
    return Synthesizer(model_dir, threads=2)


def prepared(
    synthesizer: Synthesizer, voice: str = "af_heart", **options: bool
) -> PreparedSentence:
    resolved = VOICES.resolve(voice)
    (sentence,) = synthesizer.pronounce(Segment(TEXT, 0.3), resolved).sentences
    options = {"windowed": True} | options
    return synthesizer.prepare(sentence, resolved, 1.0, Cancellation(), **options)


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
