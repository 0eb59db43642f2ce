"""Control by the text: pauses, given pronunciations, and what is refused before any audio."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_text.control import said, spans
from kokoro_text.spans import MAX_PAUSES_S, MarkupError, Span


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello.", [("Hello.", None)]),
        ("[pause:1s]Hello", [("", 1.0), ("Hello", None)]),
        ("One [pause:500ms] two[pause:0.25]", [("One ", 0.5), (" two", 0.25)]),
        ("One.[pause:1s][pause: 2 s] Two.", [("One.", 3.0), (" Two.", None)]),
        ("[pause:0s]", [("", 0.0)]),
        ("你好[pause:1s]世界", [("你好", 1.0), ("世界", None)]),
        (
            "The pause [pause] and [pause:1s](/x/)",
            [("The pause [pause] and [pause:1s](/x/)", None)],
        ),
    ],
)
def test_marks_are_pauses(text: str, expected: list[tuple[str, float | None]]) -> None:
    """Guards against marks that are read aloud."""
    assert spans(text, "en-us") == tuple(Span(text, 1.0, pause_s) for text, pause_s in expected)


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("Wait [pause:11s] now", ["[pause:11s]", "0 to 10 s"]),
        ("Wait [pause:dramatic] now", ["[pause:dramatic]", "500ms"]),
        ("Wait [pause:-1s] now", ["[pause:-1s]"]),
        ("Wait [pause:] now", ["[pause:]"]),
        ("Hi [pause:10s]" * 61, ["600 s"]),
        ("Say [word](/wœ€d7/).", ["[word](/wœ€d7/)", "€, 7"]),
    ],
)
def test_what_is_refused_is_named(text: str, mentions: list[str]) -> None:
    """Guards against an error that does not say which of many marks is wrong."""
    with pytest.raises(MarkupError) as caught:
        spans(text, "en-us")
    assert all(word in str(caught.value) for word in mentions)


def test_the_cost_is_that_of_what_is_said() -> None:
    """Guards against a long transcription of a short word that is refused for its length."""
    assert said("[Kokoro](/kˈOkəɹO/) and [nginx](=engine x)") == "Kokoro and engine x"


PIECES = st.lists(
    st.sampled_from(["Hello", " ", ". ", "[pause:1s]", "[pause:250ms]", "[", "](", "[a](/b/)", "é"])
)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), PIECES.map("".join)))
def test_only_marks_disappear(text: str) -> None:
    """Guards against lost or repeated words around marks, and against any other exception."""
    if text.lstrip().startswith("<speak"):
        return
    try:
        result = spans(text, "en-us")
    except MarkupError:
        return
    rest = re.sub(r"\[pause:(1s|250ms)\](?!\()", "", text)
    if "[pause:" not in rest:
        assert "".join(span.text for span in result) == rest
    assert sum(span.pause_s or 0 for span in result) <= MAX_PAUSES_S
    assert all(span.pause_s is not None for span in result[:-1])
