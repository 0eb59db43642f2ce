"""The benchmark's table, which the README quotes."""

import datetime
from pathlib import Path

from bench.first_words import COMBINATIONS, Result, report
from local.supervisor import ROOT
from local.timeline import Report


def turn(mode: str, transport: str, ttfa_s: float) -> Report:
    return Report(
        mode=mode, transport=transport, ttft_s=0.4, first_sentence_s=1.0, last_text_s=6.0,
        ttfa_s=ttfa_s, total_s=9.0, audio_s=20.0, underrun_s=0.0, streams_opened=1, text="One.",
        sentences=[],
    )  # fmt: skip


def result(times_s: dict[str, list[float]]) -> Result:
    rounds = range(len(times_s["bidi"]))
    turns = [turn(*key, times_s[key[0]][number]) for number in rounds for key in COMBINATIONS]
    today = datetime.date(2026, 1, 2)
    return Result(command="a command", date=today, machine="a machine", turns=turns)


def test_ratios_are_taken_within_a_round() -> None:
    """The ratio of the medians hides how the machine's speed drifted between rounds."""
    measured = result({"bidi": [1.0, 2.0, 4.0], "batch": [4.0, 10.0, 12.0]})
    row = next(line for line in report(measured).splitlines() if line.startswith("| ws"))
    assert row == "| ws | 2.00 (1.00 – 4.00) | 10.00 (4.00 – 12.00) | 4.00 (3.00 – 5.00) |"


def test_the_report_says_what_was_measured_when_and_where() -> None:
    """A report from a file must name the day and machine of the measurement, not of its making."""
    text = report(result({"bidi": [1.0], "batch": [4.0]}))
    assert "`a command`, 2026-01-02, a machine." in text


def test_the_committed_report_and_figures_belong_together() -> None:
    """The picture and the table are made from one measurement."""
    results = Path(ROOT, "bench/results")
    figures = Result.model_validate_json((results / "first_words.json").read_text("utf-8"))
    assert report(figures) == (results / "first_words.md").read_text("utf-8")
