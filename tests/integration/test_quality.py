"""Windows against the whole sentence, with the real model: a few voices, or all of them."""

from pathlib import Path

import pytest

from bench.quality import TEXTS, Renderer, Utterance, measure_all, utterances
from bench.quality_gate import Summary, Verdicts
from kokoro_voice.norm_statistics import read_provenance
from kokoro_voice.voices import Voices

PROCESSES = 2


def test_windows_sound_like_the_whole(model_dir: Path) -> None:
    """A table of another model, a norm out of order, too little context: all speak, but worse."""
    voices = Voices.in_directory(model_dir, "af_heart")
    renderer = Renderer(model_dir)
    measured = [
        renderer.measure(Utterance(voice, TEXTS[voice.language][number], speed))
        for voice, number, speed in (
            (voices.resolve("af_heart"), 2, 1.0),
            (voices.resolve("ff_siwis"), 1, 1.3),
        )
    ]
    assert Summary.of(measured).failures() == []
    assert measured[0].heard_words - measured[0].wrong_words >= 9  # of ten


def test_voices_say_different_sentences_and_together_all() -> None:
    """With the same step as there are texts, one voice would be judged by its short ones alone."""
    voices = Voices([f"af_{letter}" for letter in "abcdefghij"], "af_a")
    planned = utterances([voices.resolve(name) for name in voices.names], sentences=3)
    texts = TEXTS["en-us"]
    assert {one.text for one in planned if one.speed == 1.0} == set(texts)
    for name in voices.names:
        said = [texts.index(one.text) for one in planned if one.voice.name == name]
        assert len(set(said)) == 5
        assert min(said) <= 2
        assert max(said) >= 7
    alone = utterances([voices.resolve("af_c")], sentences=3)
    assert {one.text for one in alone if one.speed == 1.0} == set(texts)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_every_voice_keeps_the_gate(model_dir: Path) -> None:
    """A voice that the predictor does not know well enough must be decoded whole."""
    voices = Voices.in_directory(model_dir, "af_heart")
    calibrated = read_provenance().voices
    planned = utterances([voices.resolve(name) for name in calibrated], sentences=4)
    measured = list(measure_all(planned, model_dir, PROCESSES))
    sentence_voices = Renderer(model_dir).sentence_voices
    assert Verdicts.of(measured, sentence_voices).failures() == []
