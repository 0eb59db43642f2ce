"""The lexicon: which words it matches, what is said for them, and which entries are refused."""

import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_text.lexicon import Lexicon, LexiconError
from kokoro_text.normalizer import read
from kokoro_text.reading import words_of

ENTRIES = {
    "nginx": "engine x",
    "Nguyen": "/wˈɪn/",
    "New York": "/nu jˈɔɹk/",
    "York": "/jˈɔɹk/",
    "fax": "/fˈæks/",
    "Node.js": "node jay ess",
    "o'brien": "oh brian",
    "API": "/ˌApiˈI/",
}


def said(text: str, language: str = "en-us", entries: dict[str, str] = ENTRIES) -> str:
    lexicon = Lexicon.of(entries, language)
    return " ".join(reading.spoken for reading in read(text, language, [lexicon]))


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("NGINX, nginx or Nginx!", "engine x, engine x or engine x!"),
        ("nguyen and NGUYEN", "nguyen and NGUYEN"),
        ("(Nguyen)", "([Nguyen](/wˈɪn/))"),
        ("Nguyen’s", "[Nguyen's](/wˈɪnz/)"),
        ("The fax's fax", "The [fax's](/fˈæksᵻz/) [fax](/fˈæks/)"),
        ("nginx's", "engine x's"),
        ("in New\nYork, York", "in [New York](/nu jˈɔɹk/), [York](/jˈɔɹk/)"),
        ("New Yorkers in Yorkshire", "New Yorkers in Yorkshire"),
        ("Node.js, O’Brien", "node jay ess, oh brian"),
        ("a fax2 xfax o'fax fax't", "a fax two xfax o'fax fax't"),
        ("pre-nginx", "pre-engine x"),
        ("[Nguyen](/xɪn/)", "[Nguyen](/xɪn/)"),
    ],
)
def test_whole_words_match(text: str, spoken: str) -> None:
    """Guards against a name that changes the words that contain it."""
    assert said(text) == spoken


def test_other_languages_have_their_own_boundaries() -> None:
    """Guards against a French article that hides a word, and against scripts without blanks."""
    assert said("L'API", "fr-fr", {"API": "/apei/"}) == "L'[API](/apei/)"
    assert "[東京](/tokjo/)" in said("私は東京に", "en-us", {"東京": "/tokjo/"})


def test_the_first_lexicon_counts() -> None:
    """Guards against a request that cannot correct the deployment's lexicon."""
    first, second = (Lexicon.of({"nginx": word}, "en-us") for word in ("one", "two"))
    assert [reading.spoken for reading in read("nginx", "en-us", [first, second])] == ["one"]


def test_a_file_has_tables_of_languages() -> None:
    """Guards against the accent of one English for both."""
    lexicon = Lexicon.parse(
        '# A comment\r\n\n[en]\nvase = "vayz"  # so\n"New Delhi" = "new delly"\n'
        '[en-gb]\nvase = "vahz"\n[fr-fr]\napi = "a p i"\n'
    )
    spoken = {
        language: " ".join(reading.spoken for reading in read("vase api", language, [lexicon]))
        for language in ("en-us", "en-gb", "fr-fr", "es")
    }
    assert spoken["en-us"].startswith("vayz ")
    assert spoken["en-gb"].startswith("vahz ")
    assert spoken["fr-fr"].endswith("a p i")
    assert spoken["es"].startswith("vase ")


@pytest.mark.parametrize(
    ("toml", "mentions"),
    [
        ('[en]\nx = "y"\nz = y', ["line 3", "TOML"]),
        ('x = "y"', ["line 1", "[en]"]),
        ("[de]", ["line 1", "[de]", "[fr-fr]"]),
        ("[en.us]", ["line 1", "[en]"]),
        ("[[en]]", ["line 1", "[en]"]),
        ('[en]\n\nNode.js = "node"', ["line 3", "Node", "quot"]),
        ("[en]\nx = 5", ["line 2", "x"]),
        ('[en]\nx = "/t€/"', ["line 2", "€", "/t€/"]),
        ('[en]\nx = "/t"', ["line 2", "/t", "/phonemes/"]),
        ('[en]\nx = "//"', ["line 2", "//"]),
        ('[en]\nx = ""', ["line 2", "''"]),
        ('[en]\nx = "a (b)"', ["line 2", "brackets"]),
        ('[en]\n"--" = "dash"', ["line 2", "--"]),
        (f'[en]\n{"x" * 61} = "y"', ["line 2", "60"]),
        (f'[en]\nx = "{"y" * 101}"', ["line 2", "100"]),
        ('[en]\nx = "y"\nx = "z"', ["line 3", "x", "already"]),
    ],
)
def test_a_wrong_line_is_named_with_its_number(toml: str, mentions: list[str]) -> None:
    """Guards against a lexicon of a thousand words with an error somewhere."""
    with pytest.raises(LexiconError) as caught:
        Lexicon.parse(toml)
    assert [word for word in mentions if word not in str(caught.value)] == []


def test_the_images_lexicon_and_its_examples_are_valid() -> None:
    """Guards against an image that does not start, and against an example that is refused."""
    toml = (Path(__file__).parents[3] / "container" / "lexicon.toml").read_text()
    Lexicon.parse(toml)
    _, _, example = toml.partition("For example:")
    assert "[en]" in example
    Lexicon.parse("\n".join(line.removeprefix("# ") for line in example.splitlines()))


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=8)),
    st.text(),
    st.sampled_from(["en-us", "fr-fr", "hi"]),
)
def test_written_words_stay_whatever_the_entries(
    entries: dict[str, str], text: str, language: str
) -> None:
    """Guards against lost words, and against exceptions other than LexiconError."""
    try:
        lexicon = Lexicon.of(entries, language)
    except LexiconError:
        return
    text = f"{text} {' '.join(entries)}"
    written = [reading.written for reading in read(text, language, [lexicon])]
    assert " ".join(written) == " ".join(words_of(text))


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_file_is_a_lexicon_or_an_error(toml: str) -> None:
    """Guards against a traceback at the start of the server."""
    with suppress(LexiconError):
        Lexicon.parse(f"[en]\n{toml}")


def test_a_large_lexicon_is_fast() -> None:
    """Guards against a cost for each sentence that grows with the number of words."""
    lexicon = Lexicon.of({f"word{'a' * (n % 40)}{n}": "thing" for n in range(5000)}, "en-us")
    sentence = "worda worda1 word word word " * 9
    began_s = time.perf_counter()
    for _ in range(20):
        read(sentence, "en-us", [lexicon])
    assert (time.perf_counter() - began_s) / 20 < 0.02
