"""A reasoning model's thoughts are never spoken, however the server divides its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.bedrock.thinking import ThoughtFilter


def passed(*deltas: str) -> str:
    thoughts = ThoughtFilter()
    return "".join(thoughts.feed(delta) for delta in deltas) + thoughts.flush()


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Hello.", "Hello."),
        ("<think>Hm.</think>Hello.", "Hello."),
        ("<think>\nHm.\n</think>\n\nHello. ", "Hello. "),
        ("<think></think>\n\nHello.", "Hello."),
        ("One. <think>Hm.</think> Two. <think>Hm.</think> Three.", "One. Two. Three."),
        ("<think>Hm. 1 < 2 </b", ""),
        ("1 <thin", "1 <thin"),
        ("a < b, <<think>x</think>c", "a < b, <c"),
        ("", ""),
    ],
)
def test_thoughts_are_left_out(text: str, spoken: str) -> None:
    assert passed(text) == spoken
    assert passed(*text) == spoken


@given(st.text(alphabet="<think>/ a"), st.integers(0, 20))
def test_the_division_into_deltas_changes_nothing(text: str, cut: int) -> None:
    assert passed(text[:cut], text[cut:]) == passed(text)


@given(st.text().filter(lambda text: "<think>" not in text))
def test_text_without_thoughts_is_not_changed(text: str) -> None:
    assert passed(*text) == text


def test_text_is_passed_on_at_once() -> None:
    thoughts = ThoughtFilter()
    assert thoughts.feed("Hello <") == "Hello "
    assert thoughts.feed("3 you") == "<3 you"
