"""`docs/voices.md` and its samples: current, complete, and nothing besides."""

import re

import numpy as np
import pytest

from bench.hearing import peak
from bench.samples import FOLDER, REPLIES, read_mp3
from bench.voices import PATH, Sample, page, samples, served
from kokoro_voice.audio import SAMPLE_RATE_HZ
from kokoro_voice.norm_statistics import read_provenance
from kokoro_voice.voices import MODEL_VOICES

SAMPLES = samples(served())


def test_the_page_is_current() -> None:
    """Guards against a voice that is no longer served, or that is not listed yet."""
    current = PATH.read_text(encoding="utf-8") == page(served())
    assert current, "docs/voices.md differs from the code: run make docs"


def test_the_page_lists_every_voice_that_is_served_once() -> None:
    """A generator that drops a language would write a page that is current and incomplete."""
    rows = re.findall(r"^\| `([a-z]{2}_[a-z]+)`(.*)$", page(served()), re.MULTILINE)
    assert sorted(name for name, _ in rows) == list(MODEL_VOICES)
    assert [name for name, rest in rows if "(default)" in rest] == ["af_heart"]
    whole = {name for name, rest in rows if "whole sentences" in rest}
    provenance = read_provenance()
    assert whole == {*provenance.sentence_voices}
    sexes = {name[1]: {" female " in rest, " male " in rest} for name, rest in rows}
    assert sexes == {"f": {True, False}, "m": {False, True}}


def test_there_is_a_sample_behind_every_link_and_no_other_file() -> None:
    """Links rot, and samples of voices that are gone stay in the repository."""
    linked = set(re.findall(r"\]\(samples/([^)]+)\)", PATH.read_text(encoding="utf-8")))
    assert linked == {sample.path.name for sample in SAMPLES}
    assert {path.name for path in FOLDER.iterdir()} == linked | set(REPLIES.values())


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.voice)
def test_a_sample_is_a_sentence_at_a_plausible_level(sample: Sample) -> None:
    """A file that is cut off, empty or clipped is a link to a voice that seems broken."""
    audio = read_mp3(sample.path)
    assert 2 < len(audio) / SAMPLE_RATE_HZ < 6
    assert 0.3 < peak(audio) < 1.05
    assert -30 < 20 * np.log10(np.sqrt(np.square(audio).mean())) < -12
    thirds = np.array_split(audio, 3)
    assert min(peak(third) for third in thirds) > 0.1 * peak(audio)


def test_a_name_with_phonemes_reads_in_plain_words() -> None:
    """The page shows the text of a sample; phonemes belong to the request alone."""
    (aoede,) = (sample for sample in SAMPLES if sample.voice == "af_aoede")
    assert aoede.text.startswith("Hello, I am Aoede, and")
    assert aoede.request.startswith("Hello, I am [Aoede](/Aˈidi/), and")
