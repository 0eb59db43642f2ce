"""The samples in `docs/samples` say what the page and the stand-in's reply say."""

from pathlib import Path

import numpy as np
import pytest

from bench.first_words import PROMPT
from bench.hearing import transcribe, word_error_rate
from bench.samples import FOLDER, REPLIES, read_mp3
from bench.voices import MIX, THREADS, samples, served, speak
from kokoro_voice.audio import SAMPLE_RATE_HZ
from kokoro_voice.synthesizer import Synthesizer
from local.bedrock.replies import choose_reply, load_replies

SAMPLES = {sample.voice: sample for sample in samples(served())}


@pytest.mark.parametrize("voice", ["af_bella", "am_echo", "bf_emma", "bm_george", MIX])
def test_an_english_sample_says_its_sentence(voice: str) -> None:
    """A sample that says something else was made from an old text or for another voice."""
    sample = SAMPLES[voice]
    heard = transcribe(read_mp3(sample.path), SAMPLE_RATE_HZ)
    assert word_error_rate(sample.text, heard) == 0.0, heard


def test_a_sample_in_another_language_is_what_the_synthesizer_says(model_dir: Path) -> None:
    """The recognizer knows English only, so a sample of an old text would go unnoticed."""
    sample = SAMPLES["hf_beta"]
    spoken = speak(Synthesizer(model_dir, THREADS), served().resolve(sample.voice), sample.request)
    committed = read_mp3(sample.path)
    assert len(committed) == pytest.approx(len(spoken), abs=0.05 * SAMPLE_RATE_HZ)
    length = min(len(committed), len(spoken))
    assert np.corrcoef(spoken[:length], committed[:length])[0, 1] > 0.9


@pytest.mark.parametrize("mode", ["bidi", "batch"])
def test_a_recorded_reply_is_complete(mode: str) -> None:
    """Playback that drops or repeats a chunk would be heard as the product's fault."""
    reply = choose_reply(load_replies(), PROMPT)
    heard = transcribe(read_mp3(FOLDER / REPLIES[mode]), SAMPLE_RATE_HZ)
    assert word_error_rate(reply, heard) <= 0.08, heard
