"""The Bedrock stand-in's replies, which other tests transcribe and measure."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.bedrock.converse import Pace
from local.bedrock.replies import Reply, choose_reply, load_replies, tokens

REPLIES = load_replies()


def sentences(text: str) -> list[str]:
    return re.findall(r"[^.!?]+[.!?]", text)


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: reply.text[:20])
def test_replies_can_be_compared_with_what_is_heard(reply: Reply) -> None:
    """With digits or unusual sentences, a word error rate would measure spelling, not speech."""
    spoken = sentences(reply.text)
    assert 2 <= len(spoken) <= 8
    assert "".join(spoken) == reply.text
    assert not re.search(r"\d|\n|  ", reply.text)
    assert all(8 <= len(sentence.split()) <= 16 for sentence in spoken)


@pytest.mark.parametrize(
    "reply", [r for r in REPLIES if len(sentences(r.text)) > 2], ids=lambda reply: reply.text[:20]
)
def test_writing_outlasts_the_first_sentences_speech(reply: Reply) -> None:
    """Otherwise speaking early would show no gain.

    It is assumed that speech starts a second after the sentence's last word, at 2.8 words a
    second.
    """
    pace = Pace()
    first = sentences(reply.text)[0]
    first_written_by_s = pace.first_token_s + len(tokens(first)) / pace.tokens_per_s
    spoken_by_s = first_written_by_s + 1.0 + len(first.split()) / 2.8
    written_by_s = pace.first_token_s + len(tokens(reply.text)) / pace.tokens_per_s
    assert written_by_s > spoken_by_s


def test_the_prompts_words_choose_the_reply() -> None:
    harbor = choose_reply(REPLIES, "Tell me about the HARBOR.")
    assert "harbor" in harbor
    assert len(sentences(harbor)) >= 5
    assert choose_reply(REPLIES, "Is there a train?") != harbor
    # A word is not found inside another one: "portrait" has no "port".
    default = choose_reply(REPLIES, "Paint a portrait.")
    assert default == choose_reply(REPLIES, "") == REPLIES[-1].text
    assert 4 <= len(sentences(default)) <= 5


@given(st.text())
def test_tokens_together_are_the_text(text: str) -> None:
    """With a lost space or newline, the reply would differ from the scripted text."""
    assert "".join(tokens(text)) == text


def test_tokens_are_words_with_their_space_and_long_ones_in_two() -> None:
    assert tokens("The lighthouse is on.") == ["The", " ligh", "thouse", " is", " on."]
