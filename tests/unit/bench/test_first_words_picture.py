"""The picture of one turn in both modes."""

import datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.first_words import Result
from bench.first_words_picture import PICTURE, RESULT, median_turn, picture
from local.supervisor import ROOT
from local.timeline import Report, SpokenSentence

SVG = "{http://www.w3.org/2000/svg}"


def sentence(sent_s: float, from_s: float, until_s: float) -> SpokenSentence:
    return SpokenSentence(
        text="One.", sent_s=sent_s, first_audio_s=from_s, audio_s=until_s - from_s,
        heard_from_s=from_s, heard_until_s=until_s,
    )  # fmt: skip


def turn(mode: str, ttfa_s: float | None, sentences: list[SpokenSentence]) -> Report:
    return Report(
        mode=mode, transport="ws", ttft_s=0.5, first_sentence_s=1.0, last_text_s=6.0,
        ttfa_s=ttfa_s, total_s=20.0, audio_s=6.0, underrun_s=0.0, streams_opened=1, text="One.",
        sentences=sentences,
    )  # fmt: skip


BIDI = turn("bidi", 1.26, [sentence(1.0, 1.26, 4.26), sentence(6.0, 6.26, 9.26)])
BATCH = turn("batch", 12.0, [sentence(6.0, 12.0, 18.0)])


def result(*turns: Report) -> Result:
    today = datetime.date(2026, 1, 2)
    return Result(command="a command", date=today, machine="<8> cores", turns=list(turns))


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in parsed(svg).iter(f"{SVG}text")]


def test_the_figures_are_those_of_the_result() -> None:
    """The picture must not say anything else than the table."""
    shown = texts(picture(result(BIDI, BATCH)))
    assert "first audio 1.3 s" in shown
    assert "first audio 12.0 s" in shown
    assert "speech begins 10.7 s sooner" in shown
    assert "A reply of 2 sentences, 6.0 s of speech; <8> cores" in shown


def test_the_bars_are_where_the_axis_says() -> None:
    """A bar is as wrong in the wrong place as a wrong figure."""
    svg = parsed(picture(result(BIDI, BATCH)))
    marks = {
        element.text: float(element.attrib["x"])
        for element in svg.iter(f"{SVG}text")
        if element.get("class") == "quiet" and (element.text or "").isdigit()
    }
    assert list(marks) == ["0", "5", "10", "15", "20"]

    def seconds(x: float) -> float:
        return (x - marks["0"]) / (marks["20"] - marks["0"]) * 20

    bars = {
        name: [
            (seconds(left), seconds(left + float(element.attrib["width"])))
            for element in svg.iter(f"{SVG}rect")
            if element.get("class") == name
            for left in [float(element.attrib["x"])]
        ]
        for name in ("written", "heard")
    }
    # A bar ends one pixel early: 0.03 s.
    expected = {
        "written": [(0.5, 1.0), (1.0, 6.0), (0.5, 6.0)],
        "heard": [(1.26, 4.26), (6.26, 9.26), (12.0, 18.0)],
    }
    for name, times_s in expected.items():
        for bar, wanted in zip(bars[name], times_s, strict=True):
            assert bar == pytest.approx(wanted, abs=0.04)


def test_it_is_readable_without_eyes_and_in_the_dark() -> None:
    """Screen readers take title and description; GitHub shows pictures in two colour schemes."""
    svg = parsed(picture(result(BIDI, BATCH)))
    labels = (svg.get("aria-labelledby") or "").split()
    named = {element.get("id"): element.text or "" for element in svg.iter() if element.get("id")}
    assert all(named[label] for label in labels)
    assert "10.7 seconds sooner" in named["description"]
    style = svg.find(f"{SVG}style")
    assert style is not None
    assert "@media (prefers-color-scheme: dark)" in (style.text or "")


def test_the_turn_of_median_first_audio_is_shown() -> None:
    """The best round would flatter one mode."""
    turns = [turn("bidi", at_s, []) for at_s in (3.0, 1.0, 2.0)]
    assert median_turn(turns).ttfa_s == 2.0
    assert median_turn(turns[:2]).ttfa_s == 1.0


def test_a_turn_without_audio_is_refused() -> None:
    """A picture of a failed turn shows nothing."""
    with pytest.raises(ValueError, match="bidi over ws has no audio"):
        picture(result(turn("bidi", None, []), BATCH))


def test_the_committed_picture_shows_the_committed_figures() -> None:
    """After a new measurement the picture has to be drawn again."""
    figures = Result.model_validate_json(Path(ROOT, RESULT).read_text("utf-8"))
    assert Path(ROOT, PICTURE).read_text("utf-8") == picture(figures)
