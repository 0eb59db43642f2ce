"""The client's timeline, which `say` prints and writes."""

from local.timeline import ReplyTimeline
from voice_agent_client import (
    AgentEnd,
    AgentStart,
    Audio,
    AudioStreamStart,
    ErrorEvent,
    Metrics,
    Sentence,
    SentenceMetrics,
    TextDelta,
)

SECOND = b"\0\0" * 24_000
METRICS = Metrics(
    first_sentence_s=0.9,
    streams_opened=1,
    sentences=(
        SentenceMetrics(seq=0, text="One.", sent_s=1.0),
        SentenceMetrics(seq=1, text="Two.", sent_s=2.0),
    ),
)


def two_sentences() -> ReplyTimeline:
    timeline = ReplyTimeline()
    for at_s, event in [
        (0.01, AgentStart(mode="bidi")),
        (0.4, TextDelta(seq=0, text="One. ")),
        (1.5, AudioStreamStart(format="pcm16", voice="af_heart", sample_rate=24_000)),
        (1.5, Sentence(seq=0, text="One.", start_s=0.0)),
        (1.6, Audio(data=SECOND)),
        (1.7, Audio(data=SECOND)),
        (2.1, TextDelta(seq=1, text="Two.")),
        (2.5, Sentence(seq=1, text="Two.", start_s=2.0)),
        (2.6, Audio(data=SECOND)),
        (3.0, AgentEnd(metrics=METRICS)),
    ]:
        timeline.feed(event, at_s)
    return timeline


def test_audio_belongs_to_the_sentence_before_it() -> None:
    """Audio that is counted for the wrong sentence makes the figures of two sentences wrong."""
    report = two_sentences().report(mode="bidi", transport="ws")
    assert [s.audio_s for s in report.sentences] == [2.0, 1.0]
    assert [s.first_audio_s for s in report.sentences] == [1.6, 2.6]
    assert [s.sent_s for s in report.sentences] == [1.0, 2.0]


def test_a_listener_hears_each_sentence_when_the_one_before_is_over() -> None:
    """Audio arrives ahead of its playback; if it arrives late, the listener waits."""
    timeline = ReplyTimeline()
    for at_s, event in [
        (1.0, Sentence(seq=0, text="One.", start_s=0.0)),
        (1.0, Audio(data=SECOND)),
        (1.5, Sentence(seq=1, text="Two.", start_s=1.0)),
        (1.5, Audio(data=SECOND)),  # heard from 2.0 s
        (3.5, Audio(data=SECOND)),  # due at 3.0 s
        (4.0, Sentence(seq=2, text="Three.", start_s=3.0)),
        (4.75, Audio(data=SECOND)),  # due at 4.5 s
    ]:
        timeline.feed(event, at_s)
    report = timeline.report(mode="bidi", transport="ws")
    heard = [(s.heard_from_s, s.heard_until_s) for s in report.sentences]
    assert heard == [(1.0, 2.0), (2.0, 4.5), (4.75, 5.75)]
    assert report.underrun_s == 0.75


def test_a_sentence_that_was_not_spoken_moves_no_figures() -> None:
    """The container refuses a sentence without words: it has a number and a time, but no audio."""
    timeline = ReplyTimeline()
    timeline.feed(Sentence(seq=1, text="Two.", start_s=0.0), 2.5)
    timeline.feed(Audio(data=SECOND), 2.6)
    timeline.feed(AgentEnd(metrics=METRICS), 3.0)
    (two,) = timeline.report(mode="bidi", transport="ws").sentences
    assert (two.text, two.sent_s, two.audio_s) == ("Two.", 2.0, 1.0)


def test_the_clients_clock_is_the_one_reported() -> None:
    """The agent's own figures do not include the connection to the client."""
    report = two_sentences().report(mode="bidi", transport="ws")
    assert (report.ttft_s, report.ttfa_s, report.total_s) == (0.4, 1.6, 3.0)
    assert report.last_text_s == 2.1
    assert (report.text, report.audio_s, report.streams_opened) == ("One. Two.", 3.0, 1)


def test_a_reply_without_audio_has_no_first_audio() -> None:
    """A failed reply must not report a time of zero."""
    timeline = ReplyTimeline()
    timeline.feed(ErrorEvent(code="bedrock", message="gone"), 0.2)
    timeline.feed(AgentEnd(metrics=Metrics()), 0.3)
    report = timeline.report(mode="bidi", transport="ws")
    assert (report.ttft_s, report.ttfa_s, report.audio_s) == (None, None, 0.0)
    assert timeline.errors[0].code == "bedrock"


def test_the_lines_are_in_the_order_of_time() -> None:
    """People read the timeline from top to bottom."""
    lines = two_sentences().lines()
    times = [float(line.split(" s ")[0]) for line in lines[:-1]]
    assert times == sorted(times)
    assert any("FIRST AUDIO, sentence 1: One." in line for line in lines)
    assert "0.50 s before the last word was written" in lines[-1]


def test_a_sentence_is_complete_after_its_first_text() -> None:
    """The agent's clock starts later than the client's: the sentence seemed to come first."""
    timeline = ReplyTimeline()
    timeline.feed(TextDelta(seq=0, text="One."), 0.92)
    timeline.feed(Sentence(seq=0, text="One.", start_s=0.0), 0.95)
    timeline.feed(Audio(data=SECOND), 0.95)
    timeline.feed(AgentEnd(metrics=METRICS), 0.95)
    words = [line.split(" s  ")[1].split(",")[0].split(":")[0] for line in timeline.lines()[:-1]]
    assert words == ["first text", "first sentence complete", "last text", "FIRST AUDIO", "done"]
