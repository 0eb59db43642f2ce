"""A voice speaks the words of a chunk, but not its markup."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_text import ssml
from kokoro_text.control import spans
from sentences import control
from sentences.speakable import speakable


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("It rained. It stopped.", "It rained. It stopped."),
        ("**Careful.** It is *very* __hot__ and ~~cold~~.", "Careful. It is very hot and cold."),
        ("***Both*** and **one _in_ another**.", "Both and one in another."),
        ("un**believ**able", "unbelievable"),
        ("# Forecast", "Forecast"),
        ("- flour", "flour"),
        ("* [x] bread", "bread"),
        ("• milk", "milk"),
        ("> Said she.", "Said she."),
        ("1. Open it.", "1. Open it."),
        ("See [the page](https://example.com/a_(b).html).", "See the page."),
        ("![A cat](cat.png) sleeps.", "A cat sleeps."),
        ("Read <https://example.com/a> now.", "Read https://example.com/a now."),
        ("It is proven.[2] And [^3] more.", "It is proven. And more."),
        ("Type `pip install x` or ``a`b``.", "Type pip install x or ab."),
        ("Run this:\n```sh\nmake all\n```\nThen wait.", "Run this: Then wait."),
        ("Say <b>this</b><br/>now.", "Say this now."),
        ('<break time="0.5s"/>Hello <!-- not this --> there.', "Hello there."),
        ("| Day | Rain |", "Day, Rain"),
        ("Salt &amp; pepper", "Salt & pepper"),
        (r"Five \* three", "Five * three"),
        (r"\*not soft\* and item \#1\.", "*not soft* and item #1."),
        ("Call `f(*a, *b)` or `_x_`.", "Call f(*a, *b) or _x_."),
        ("**Bold**ly, **bold *soft* bold**, (**x**)", "Boldly, bold soft bold, (x)"),
        ("这是**重点**和*要点*。", "这是重点和要点。"),
        ("## Wind ##\nStrong", "Wind Strong"),
        ("- one\n  - two\n    1. three", "one two 1. three"),
        ("> > Twice.", "Twice."),
        ("| `a|b` | **2** |\n|:--|--:|\n| Oslo | 5 |", "a|b, 2 Oslo, 5"),
        ("Day | Rain", "Day, Rain"),
        ('See [the page](https://example.com "A title") and [that][1].', "See the page and that."),
        ("[![status](s.svg)](https://example.com)", "status"),
        ("It holds.[^1][^long-note]\n\n[^1]: Not read.", "It holds."),
        ("<details><summary>More</summary>Less</details>", "More Less"),
        ("It rains<!-- not this -->!", "It rains!"),
        (r"So $x^2 + y$ and $$a_1$$ and \(b\).", "So x^2 + y and a_1 and b."),
        ("One\\\ntwo", "One two"),
        ("Two\n\nlines\tand   more", "Two lines and more"),
    ],
)
def test_markup_goes_and_words_stay(text: str, spoken: str) -> None:
    """Guards against a voice that says asterisks, link targets or code."""
    assert speakable(text) == spoken


@pytest.mark.parametrize(
    "text",
    [
        "If 3 < 5 and 7 > 2.",
        "a snake_case_name",
        "2 * 3 * 4",
        "2*3*4",
        "It is $5 here and $6 there, or $HOME and $PATH.",
        "C# and F#",
        "It costs $5, -3 degrees, 50% off.",
        "Mail jo@example.com or see https://example.com/a_b_c?d=1.",
        "So good 😋.",
        "«¿Vienes?» 「はい。」",
    ],
)
def test_what_only_looks_like_markup_stays(text: str) -> None:
    """Guards against words, numbers and addresses that are removed as markup."""
    assert speakable(text) == text


@pytest.mark.parametrize("text", ["**Bold that goes", "on**.", "*Soft that goes", "on*.", "`a"])
def test_markup_that_another_chunk_closes_goes_too(text: str) -> None:
    """Guards against stray asterisks when emphasis spans two sentences."""
    assert speakable(text) == text.replace("*", "").replace("`", "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "---",
        "***",
        "|---|:-:|",
        "```py\nx = 1\n```",
        "```\nunfinished",
        "...",
        "🎉",
        "<br>",
    ],
)
def test_a_chunk_with_nothing_to_say_is_empty(text: str) -> None:
    """Guards against requests that the voice would answer with silence or an error."""
    assert speakable(text) == ""


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([*"aB1 \n*_`~[]()<>#|-!&;\\", "```", "word "])).map("".join))
def test_only_characters_of_the_text_come_out(text: str) -> None:
    """Guards against inserted words. Only the commas of a table are new."""
    spoken = speakable(text)
    assert spoken == " ".join(spoken.split())
    assert set(spoken) <= set(text) | {",", " "}


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Wait. [pause:0.5s] Now.", "Wait. [pause:0.5s] Now."),
        ("Wait. [pause: 250 ms] Now.", "Wait. [pause: 250 ms] Now."),
        ("And the winner is [pause:dramatic] Ann.", "And the winner is Ann."),
        ("Wait [pause:11s] for it.", "Wait for it."),
        ("Wait [pause:] for [pause:-1s] it.", "Wait for it."),
        ("Wait [pause: for it.", "Wait for it."),
        ("Wait [pause:[pause:x]99s] for it.", "Wait 99s] for it."),
        ("[pause:x]`<speak>` is an element.", "speak> is an element."),
        ("Say [hello](/h€lo/) twice.", "Say hello twice."),
        ("Say [hello](/həlˈO/ twice.", "Say [hello] (/həlˈO/ twice."),
        ("Write `[hello](/h€lo/)` twice.", "Write [hello] (/h€lo/) twice."),
        ("Wait <break time='99s'/> for it.", "Wait for it."),
        ("<speak>Hello <emphasis>there</emphasis>.</speak>", "Hello there."),
        ("&lt;speak&gt;Hello", "speak>Hello"),
        ("`<speak> and <audio>` are elements.", "speak> and <audio> are elements."),
    ],
)
def test_control_of_a_model_never_costs_a_sentence(text: str, spoken: str) -> None:
    """Guards against a refusal by the speech server, which loses the sentence and ends the turn."""
    assert speakable(text) == spoken
    spans(spoken, "en-us")


CONTROL = st.sampled_from(
    [
        "[pause:", "1s", "10s", "0.5", "99s", "1e3", "١s", ".5s", "]", "[", "(", ")", "](", "/h€/)",
        "`", "&lt;", "<", "speak", ">", "<speak>", "<break/>", "[word](/bad", "[a](b)",
        "\\", " ", "word", "[pause:10s]" * 40, "(/x/)", "(=y)", "(fr-fr)", "![", "\n",
        "\u2028", "[pause:1s](x)",
    ]
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(CONTROL | st.text(max_size=4), max_size=12).map("".join))
def test_whatever_a_model_writes_the_server_accepts(text: str) -> None:
    """Guards against rules of the agent that are not those of the server."""
    spoken = speakable(text)
    assert not ssml.is_ssml(spoken)
    result = spans(spoken, "en-us")
    assert sum(span.pause_s or 0 for span in result) <= control.MAX_PAUSES_S
