"""What the model writes for itself is removed from a reply, however it arrives."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voice_agent.thoughts import THOUGHT_TAGS, ThoughtFilter, without_thoughts

TOKEN = st.sampled_from(
    [
        *(f"<{name}>" for name in THOUGHT_TAGS),
        *(f"</{name}>" for name in THOUGHT_TAGS),
        *("<Think kind='x'>", "</THINK >", "<think/>", "<b>", "</b>", "<", ">", "/", " ", "\n"),
        *("t", "th", "think", "thinking", "ing", "Yes.", "a", "<<think>", "</", "<thinkers>"),
    ]
)
TEXTS = st.lists(TOKEN, max_size=20).map("".join)


def filtered(fragments: list[str]) -> str:
    thoughts = ThoughtFilter()
    passed = [thoughts.feed(fragment) for fragment in fragments]
    return "".join([*passed, thoughts.flush()])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<thinking>The caller is angry.</thinking>\n\nGood day. How are you?", None),
        ("<think>\nA < B, so <b>no</b>.\n</think> Good day. How are you?", None),
        ("<THINKING>Hm.</Thinking>Good day. How are you?", None),
        ('<reasoning effort="low">Hm.</reasoning >Good day. How are you?', None),
        ("<analysis><scratchpad>1</scratchpad> 2</analysis>Good day. How are you?", None),
        ("<think><think>1</think> 2</think>Good day. How are you?", None),
        ("<thinking>I use <scratchpad> here.</thinking>Good day. How are you?", None),
        ("Good day.<thinking>Hm.</thinking>How are you?", None),
        ("Good day. <reflection>Hm.</reflection> How are you?", None),
        ("Good <thought>Hm.</thought>day. How are you?", None),
        ("</think>\n\nGood day. How are you?", None),
        ("<think/>Good day. How are you?", None),
        ("Good day. How are you?<thinking>I wonder whether", None),
        ("Good day. How are you?<think></think>", None),
        ("Good day<think>Hm.</think>. How are you?", None),
        ("<thinking>nothing else", ""),
        ("a < b, <b>bold</b>, <thinks>, <t", "a < b, <b>bold</b>, <thinks>, <t"),
        ("if x <think or y", "if x <think or y"),
    ],
)  # fmt: skip
def test_thoughts_are_removed(text: str, expected: str | None) -> None:
    """Guards against thoughts that are read aloud, and against text that is lost with them."""
    wanted = "Good day. How are you?" if expected is None else expected
    assert filtered([text]) == filtered(list(text)) == without_thoughts(text) == wanted


@settings(max_examples=500, deadline=None)
@given(TEXTS, st.lists(st.integers(1, 7), min_size=1, max_size=30))
def test_any_fragmentation_gives_the_same_text(text: str, sizes: list[int]) -> None:
    """Guards against a tag that is missed because it arrived in two deltas."""
    fragments, rest = [], text
    for size in sizes:
        fragments.append(rest[:size])
        rest = rest[size:]
    assert filtered([*fragments, rest]) == filtered([text]) == filtered(list(text))


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_what_is_passed_on_has_no_tag_and_nothing_new(text: str) -> None:
    """Guards against tags that remain in the text, and characters that the model did not write."""
    passed = filtered([text])
    letters = iter(text)
    assert all(letter in letters for letter in passed if not letter.isspace())
    if "<" not in text:
        assert passed == text


@pytest.mark.parametrize(
    ("text", "withheld"),
    [
        ("a <", "<"), ("a < ", ""), ("<b", ""), ("</d", ""), ("<", "<"), ("</", "</"),
        ("a <thi", "<thi"), ("a <thx", ""), ("<think", "<think"), ("<thinki", "<thinki"),
        ("<thinkx", ""), ("a <think " + 80 * "x", ""), ("1 < 2 and 3 <4", ""),
    ],
)  # fmt: skip
def test_nothing_is_withheld_that_cannot_become_a_tag(text: str, withheld: str) -> None:
    """Guards against a delay of the speech after a `<` in mathematics or HTML."""
    thoughts = ThoughtFilter()
    assert thoughts.feed(text) == text.removesuffix(withheld)
    assert thoughts.flush() == withheld


def test_it_tells_when_a_sentence_can_be_spoken_before_the_thought_ends() -> None:
    """Guards against a sentence that waits for the end of a long thought."""
    thoughts = ThoughtFilter()
    thoughts.feed("Let me see. <thinking>Hm")
    assert thoughts.is_thinking
    assert thoughts.ends_sentence
    thoughts.feed("</thinking>The shop <thinking>")
    assert thoughts.is_thinking
    assert not thoughts.ends_sentence


def test_a_flush_ends_the_thought() -> None:
    """Guards against a thought without an end that swallows the text after a tool call."""
    thoughts = ThoughtFilter()
    assert thoughts.feed("<thinking>Hm") + thoughts.flush() == ""
    assert thoughts.feed("Good day.") == "Good day."


def test_the_time_grows_with_the_text_only() -> None:
    """Guards against text that takes quadratic time."""
    begun = time.perf_counter()
    for text in ("<" * 100_000, "<think " * 20_000, "<think " + "x " * 50_000, "<think>" * 20_000):
        filtered([text])
        filtered(re.findall(".{1,3}", text, re.DOTALL))
    assert time.perf_counter() - begun < 5
