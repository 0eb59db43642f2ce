"""The benchmark's table: what the README quotes."""

from bench.first_words import COMBINATIONS, report
from local.timeline import Report


def spoken(ttfa_s: float) -> Report:
    return Report(
        mode="bidi", transport="ws", ttft_s=0.4, first_sentence_s=1.0, ttfa_s=ttfa_s, total_s=9.0,
        audio_s=20.0, streams_opened=1, text="One.", sentences=[],
    )  # fmt: skip


def test_ratios_are_taken_pair_by_pair() -> None:
    """The ratio of the medians hides how the machine's speed drifted between rounds."""
    times_s = {"bidi": [1.0, 2.0, 4.0], "batch": [4.0, 10.0, 12.0]}
    reports = {(mode, sort): [spoken(t) for t in times_s[mode]] for mode, sort in COMBINATIONS}
    row = next(line for line in report(reports).splitlines() if line.startswith("| ws"))
    assert row == "| ws | 2.00 (1.00 – 4.00) | 10.00 (4.00 – 12.00) | 4.00 (3.00 – 5.00) |"
