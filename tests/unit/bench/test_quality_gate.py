"""The quality gate's verdict on given measurements, and the texts that it is measured with."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from bench.quality_gate import Measured, Summary, Verdicts
from kokoro_text.normalizer import UNSPACED
from kokoro_voice.languages import LANGUAGES
from kokoro_voice.text import segments

ROOT = Path(__file__).parents[3]
GOOD = Measured(
    voice="af_heart",
    language="en-us",
    text="one two three four five six seven eight",
    speed=1.0,
    duration_s=3.0,
    mel_db=0.9,
    beginning_db=0.8,
    loudness_db=0.7,
    left_out_db=-55.0,
    join_step_db=0.0,
    snr_db=110.0,
    heard_words=8,
    wrong_words=0,
    mos_change=0.0,
    cost=1.1,
)


def texts(path: Path) -> dict[str, list[str]]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


GATE_TEXTS = texts(ROOT / "bench" / "quality_texts.toml")


def test_what_keeps_the_limits_passes() -> None:
    """A gate that nothing passes would be switched off."""
    assert Summary.of([GOOD] * 20).failures() == []


@pytest.mark.parametrize(
    ("measure", "value", "problem"),
    [
        ("mel_db", 1.21, "mel_mean_db 1.21 > 1.2"),
        ("beginning_db", 1.3, "beginning_mean_db 1.30 > 1.2"),
        ("loudness_db", 1.1, "loudness_mean_db 1.10 > 1"),
        ("left_out_db", -39.0, "left_out_db -39.00 > -40"),
        ("join_step_db", 0.2, "join_step_db 0.20 > 0.1"),
        ("snr_db", 49.0, "snr_db 49.0 < 50"),
        ("mel_db", float("nan"), "mel_mean_db nan > 1.2"),
        ("snr_db", float("nan"), "snr_db nan < 50"),
    ],
)
def test_each_measure_is_held_to_its_limit(measure: str, value: float, problem: str) -> None:
    """A value that is measured but never judged would let the worst speech through."""
    assert problem in Summary.of([replace(GOOD, **{measure: value})]).failures()


def test_a_few_bad_utterances_fail_the_95th_percentile() -> None:
    """A good mean must not excuse a bad sentence in every ten."""
    bad = replace(GOOD, mel_db=2.0, beginning_db=2.0, loudness_db=2.0)
    assert Summary.of([GOOD] * 18 + [bad] * 2).failures() == [
        "mel_95th_db 2.00 > 1.6",
        "beginning_95th_db 2.00 > 1.6",
        "loudness_95th_db 2.00 > 1.6",
    ]


def test_one_bad_join_fails_however_many_are_good() -> None:
    """Every click is heard, but the mean over all joins would hide it."""
    assert Summary.of([GOOD] * 99 + [replace(GOOD, join_step_db=0.5)]).failures()
    assert Summary.of([GOOD] * 99 + [replace(GOOD, snr_db=30.0)]).failures()


def test_words_are_judged_where_there_are_enough() -> None:
    """One wrong word of eight is 12 % and may be Whisper's error; four of 400 are the limit."""
    wrong = replace(GOOD, wrong_words=1)
    assert Summary.of([wrong] * 3).failures() == []
    assert Summary.of([GOOD] * 46 + [wrong] * 4).failures() == []
    assert Summary.of([GOOD] * 45 + [wrong] * 5).failures() == ["5 of 400 words heard differently"]
    deaf = Summary.of([replace(GOOD, heard_words=0)])
    assert deaf.word_error_rate is None
    assert deaf.failures() == []


def test_a_worse_score_is_judged_where_there_are_enough() -> None:
    """A loss that no distance shows, or NaN from silent audio, would pass unnoticed."""
    worse, better = replace(GOOD, mos_change=-0.06), replace(GOOD, mos_change=0.04)
    assert Summary.of([worse] * 39).failures() == []
    assert Summary.of([worse] * 40).failures() == ["mos_change -0.060 beyond ±0.05"]
    assert Summary.of([worse, better] * 20).failures() == []
    assert Summary.of([replace(GOOD, mos_change=float("nan"))] * 40).failures()


def test_a_voice_that_fails_is_named_though_its_language_passes() -> None:
    """Windows are switched off for single voices, which an average over a language hides."""
    others = [replace(GOOD, voice=f"af_{number}") for number in range(20)]
    verdicts = Verdicts.of([*others, replace(GOOD, voice="af_odd", mel_db=1.5)])
    assert verdicts.failures() == ["af_odd: mel_mean_db 1.50 > 1.2"]
    assert "| af_odd | 1 | 1.50 / 1.50 |" in "\n".join(verdicts.tables())


def test_a_voice_that_is_decoded_whole_may_fail_and_the_table_says_so() -> None:
    """Otherwise the gate would fail because of windows that are never served."""
    others = [replace(GOOD, voice=f"af_{number}") for number in range(20)]
    measured = [*others, replace(GOOD, voice="af_odd", mel_db=1.5)]
    verdicts = Verdicts.of(measured, sentence_voices=["af_odd"])
    assert verdicts.failures() == []
    assert "| decoded whole: mel_mean_db 1.50 > 1.2 |" in "\n".join(verdicts.tables())


def test_other_speeds_are_judged_for_themselves() -> None:
    """In the voices' figures, they would be only a fifth of the mean."""
    slow = replace(GOOD, speed=0.75, mel_db=1.4)
    verdicts = Verdicts.of([GOOD, GOOD, slow])
    assert verdicts.failures() == ["speed 0.75: mel_mean_db 1.40 > 1.2"]
    assert verdicts.voices["af_heart"].utterances == 2


def test_every_served_language_has_sentences_that_windows_are_used_for() -> None:
    """Short sentences and segments of long ones are decoded differently from what is measured."""
    assert GATE_TEXTS.keys() == set(LANGUAGES.values())
    for language, sentences in GATE_TEXTS.items():
        assert len(set(sentences)) == len(sentences) >= 8
        for sentence in sentences:
            assert len(sentence if language in UNSPACED else sentence.split()) >= 8, sentence
            assert len(list(segments(sentence, language))) == 1, sentence


def test_no_sentence_was_calibrated_on() -> None:
    """The predictor predicts well what it was fitted to, which would prove nothing."""
    calibrated = {
        bare(sentence)
        for sentences in texts(ROOT / "container" / "kokoro_calibration" / "texts.toml").values()
        for sentence in sentences
    }
    assert calibrated
    for sentences in GATE_TEXTS.values():
        assert calibrated.isdisjoint(bare(sentence) for sentence in sentences)


def bare(sentence: str) -> str:
    """Drop case and punctuation, which do not make a different sentence."""
    return " ".join(re.findall(r"\w+", sentence.lower()))
