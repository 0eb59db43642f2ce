"""The chunker splits any fragmentation alike, early and in bounded time, and loses no text."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentences.chunker import IncrementalSentenceChunker, split_sentences
from sentences.markup import SPAN_CHARS
from sentences.terminators import LOOKAHEAD_CHARS

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "chunker_cases.json").read_text(encoding="utf-8")
)
LANGUAGES = ["en", "es", "fr", "hi", "it", "ja", "pt", "zh", "de", "ru", "el", "ar"]
# Leading spaces glued to pieces of words, punctuation apart: as language models cut text.
TOKEN = re.compile(r"\s?[^\W\d_]{1,6}|\s?\d{1,3}|\n+|\s?[^\w\s]{1,3}|\s|_")


def tokens(text: str) -> list[str]:
    found = TOKEN.findall(text)
    assert "".join(found) == text
    return found


def pieces(text: str, chars: int) -> list[str]:
    return [text[index : index + chars] for index in range(0, len(text), chars)]


def chunks(fragments: list[str], **arguments: Any) -> list[str]:
    chunker = IncrementalSentenceChunker(**arguments)
    found = [chunk for fragment in fragments for chunk in chunker.feed(fragment)]
    rest = chunker.flush()
    return found if rest is None else [*found, rest]


def without_space(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    "fragment",
    [
        list,
        tokens,
        lambda text: pieces(text, 4),
        lambda text: pieces(text, 23),
        lambda text: [text],
    ],
    ids=["characters", "tokens", "fours", "twenty-threes", "whole"],
)
@pytest.mark.parametrize(
    "case", CASES, ids=[f"{n}-{c['category']}-{c['language']}" for n, c in enumerate(CASES)]
)
def test_sentences(case: dict[str, Any], fragment: Any) -> None:
    """Each case guards against the error that its category names, in every fragmentation."""
    assert chunks(fragment(case["text"]), language=case["language"]) == case["sentences"]


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{n}-{c['category']}-{c['language']}" for n, c in enumerate(CASES)]
)
def test_a_complete_text_is_split_alike(case: dict[str, Any]) -> None:
    """Guards against a speech server that pauses where the agent did not end a sentence."""
    split = split_sentences(case["text"], case["language"])
    assert split[: len(case["sentences"]) - 1] == case["sentences"][:-1]
    assert without_space("".join(split)) == without_space("".join(case["sentences"]))


def test_nothing_is_undecided_at_the_end_of_a_complete_text() -> None:
    """Guards against a last sentence that is joined to the one before it."""
    text = "I found it.Go"
    assert chunks([text]) == [text]
    assert split_sentences(text) == ["I found it.", "Go"]


def test_the_cases_cover_every_language_kokoro_speaks() -> None:
    """Guards against cases that are removed unnoticed."""
    languages = [case["language"] for case in CASES]
    assert len(CASES) >= 150
    assert min(languages.count(code) for code in LANGUAGES[:8]) >= 9


# -- When a sentence comes out -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("held", "decider", "sentence"),
    [
        ("It rained.", "\n", "It rained."),
        ("# Weather", "\n", "# Weather"),
        ("You need:", "\n", "You need:"),
        ("- flour", "\n", "- flour"),
        ("A line\n", "\n", "A line"),
        ("今日は晴れです。", "明", "今日は晴れです。"),
        ("वह आया। ", "व", "वह आया।"),
        ("It rained. ", "W", "It rained."),
        ("It rained. ", "(", "It rained."),
        ("Is it open? ", "Y", "Is it open?"),
        ("We sell nuts, etc. ", "T", "We sell nuts, etc."),
        ("We met at 6 p.m. ", "Bo", "We met at 6 p.m."),
        ("She left the U.S. She", " ", "She left the U.S."),
        ("I found it.Let", " m", "I found it."),
    ],
)
def test_a_sentence_comes_out_with_the_character_that_decides_it(
    held: str, decider: str, sentence: str
) -> None:
    """Guards against sentences that are returned later than is safe, or earlier."""
    chunker = IncrementalSentenceChunker("ja" if "。" in held else "hi" if "।" in held else "en")
    assert chunker.feed(held) == []
    found = [chunk for character in decider for chunk in chunker.feed(character)]
    assert found == [sentence]


def test_the_mean_delay_is_about_one_token() -> None:
    """Guards against rules that wait for more context than the sentence's end needs."""
    delays = []
    for case in CASES:
        if case["category"] == "glued":  # a lost space needs the whole next word
            continue
        chunker = IncrementalSentenceChunker(case["language"])
        ends, end = [], 0  # how many characters, white space apart, each sentence ends after
        for sentence in case["sentences"][:-1]:
            ends.append(end := end + len(without_space(sentence)))
        fed, out, ended_at = 0, 0, {}
        for number, token in enumerate(tokens(case["text"])):
            fed += len(without_space(token))
            ended_at |= {end: number for end in ends if end <= fed and end not in ended_at}
            for chunk in chunker.feed(token):
                out += len(without_space(chunk))
                if out in ended_at:
                    delays.append(number - ended_at[out])
    assert len(delays) > 250
    assert sum(delays) / len(delays) <= 1.1


# -- Flush and reset ---------------------------------------------------------------------------


def test_flush_returns_what_is_left_and_empties() -> None:
    """Guards against text that is lost or spoken twice when a tool call starts."""
    chunker = IncrementalSentenceChunker()
    assert chunker.feed("One. Two") == ["One."]
    assert chunker.flush() == "Two"
    assert chunker.flush() is None
    assert chunker.feed("Three. F") == ["Three."]


def test_blank_text_is_nothing() -> None:
    """Guards against empty requests to the voice."""
    assert chunks(["", " ", "\n\n", "\t"]) == []


def test_reset_forgets_text_and_code() -> None:
    """Guards against an interrupted turn that leaks into the next one."""
    for begun in ("Half a sent", "Dr. ", "```\nx = 1\n", "See [the", "Wait."):
        chunker = IncrementalSentenceChunker()
        chunker.feed(begun)
        chunker.reset()
        assert chunker.feed("New. T") == ["New."]
        assert chunker.flush() == "T"


# -- First clause ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "en",
            "After the rain had stopped, we went out, and then home. It was, all in all, late.",
            [
                "After the rain had stopped,",
                "we went out, and then home.",
                "It was, all in all, late.",
            ],
        ),
        ("en", "Yes, of course. Come in, then.", ["Yes, of course.", "Come in, then."]),
        (
            "en",
            "We looked for the key everywhere but found nothing.",
            ["We looked for the key everywhere", "but found nothing."],
        ),
        ("en", "That is about 1,250,000 dollars in total, give or take.", None),
        (
            "en",
            "The old harbor (built in stone, long ago) is quiet now.",
            ["The old harbor (built in stone, long ago) is quiet now."],
        ),
        (
            "es",
            "El puerto viejo estaba vacío pero tranquilo.",
            ["El puerto viejo estaba vacío", "pero tranquilo."],
        ),
        (
            "zh",
            "雨停了以后我们出去，然后回家。好。",
            ["雨停了以后我们出去，", "然后回家。", "好。"],
        ),
    ],
)
def test_the_first_chunk_may_be_a_clause(
    language: str, text: str, expected: list[str] | None
) -> None:
    """Guards against clauses cut too short, in numbers or brackets, or after the first chunk."""
    if expected is None:
        expected = ["That is about 1,250,000 dollars in total,", "give or take."]
    for fragments in (list(text), tokens(text), [text]):
        assert chunks(fragments, language=language, first_chunk="clause") == expected


def test_flush_ends_the_wish_for_a_clause_and_reset_renews_it() -> None:
    """Guards against a clause after a tool call, and a whole first sentence in the next turn."""
    text = "After the rain had stopped, we went home. "
    chunker = IncrementalSentenceChunker(first_chunk="clause")
    chunker.feed("Checking")
    assert chunker.flush() == "Checking"
    assert chunker.feed(text + "Then") == [text.strip()]
    chunker.reset()
    assert chunker.feed(text)[0] == "After the rain had stopped,"


# -- Bounds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("word " * 40, "word " * 20),
        ("one two three, four five " * 8, "one two three, four five " * 3 + "one two three,"),
        ("alpha; beta gamma delta, eps " * 8, "alpha; beta gamma delta, eps " * 3 + "alpha;"),
        ("x" * 300, "x" * 100),
        ("字" * 300, "字" * 100),
        ("e\u0301" * 150, "e\u0301" * 50),
        ("a" * 99 + "👩\u200d💻" + "b" * 50, "a" * 99),
    ],
    ids=["words", "commas", "semicolons", "letters", "ideographs", "accents", "emoji"],
)
def test_a_run_without_an_end_comes_out_at_its_best_break(text: str, first: str) -> None:
    """Guards against speech that never starts, and against cuts inside a word or a character."""
    for fragments in (list(text), [text]):
        found = chunks(fragments, max_chars=100)
        assert found[0] == first.strip()
        assert all(len(chunk) <= 100 for chunk in found)


def test_fenced_code_is_one_chunk_whatever_its_length() -> None:
    """Guards against code that is split into chunks that would be spoken."""
    code = "```python\n" + "x = 1. \n\n" * 200 + "```"
    for fragments in (list(code + "\nDone."), [code + "\nDone."]):
        assert chunks(fragments, max_chars=100) == [code, "Done."]


LONG_TEXTS = {
    "a sentence without an end": "and then it went on, " * 400,
    "numbers": " ".join(f"{n}.{n % 10}," for n in range(1500)),
    "dots": "." * 8000,
    "an open quotation": '"' + "It went on. " * 700,
    "abbreviations": "Dr. " * 2000,
    "items": "\n".join(f"- item {n}" for n in range(800)),
    "ideographs": "今天天气很好，我们去公园散步吧。" * 500,
    "open brackets": "(" * 8000,
    "an address": "https://a.b/c?d=" + "e.f/" * 2000,
    "backticks": "`a ``b ```c " * 700,
    "tags and links": "<a <b [c [d " * 700,
    "spaces": "Dr. " + " " * 8000,
    "lines": "Wait" + "\n \n" * 3000,
    "code": "```\n" + "x = 1\n" * 1500,
}


@pytest.mark.parametrize("text", LONG_TEXTS.values(), ids=LONG_TEXTS.keys())
def test_no_text_makes_the_scanner_look_back_further_and_further(text: str) -> None:
    """Guards against quadratic time. The text that `feed` scans again must not grow."""
    chunker = IncrementalSentenceChunker("zh" if "今" in text else "en")
    bound = 600 + SPAN_CHARS + LOOKAHEAD_CHARS
    for fragment in pieces(text, 4):
        chunker.feed(fragment)
        assert len(chunker._text) + sum(map(len, chunker._plain)) <= bound


# -- Properties --------------------------------------------------------------------------------

PARTS = st.sampled_from(
    [
        *" \n.!?,;:'\"“”«»()[]<>`*_#-—|/@。！？、，「」…।🎉ß1A",
        *["Dr.", "e.g.", "U.S.", "a.m.", "etc.", "J. ", "3.5", "1. ", "- ", "\n\n", "```", "```\n"],
        *[
            "Hello",
            " world",
            "the ",
            "I ",
            " No. ",
            "字",
            "と",
            "says",
            "<b>",
            "</b>",
            "](",
            "https://",
        ],
        *["It's", "Q, ", "p.m.", "12", "min.", "<br/>", "<a b='", "<!--", "[^1]", "## ", "NASA."],
        *["。」", "だ", "です", "と", "ても", "は", "彼", "她", "说", "って"],
        *["\u00a0»", " ?", "...", "?!", "\r\n", "\u2028", "\u200d", "\u0301", "क", "¿"],
    ]
)
TEXTS = st.one_of(st.lists(PARTS, max_size=40).map("".join), st.text(max_size=60))


@st.composite
def fragmented(draw: st.DrawFn) -> tuple[str, list[str]]:
    text = draw(TEXTS)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    edges = [0, *cuts, len(text)]
    return text, [text[a:b] for a, b in itertools.pairwise(edges)]


@settings(max_examples=400, deadline=None)
@given(fragmented(), st.sampled_from(LANGUAGES), st.sampled_from(["sentence", "clause"]))
def test_any_fragmentation_gives_the_same_chunks_and_loses_nothing(
    sample: tuple[str, list[str]], language: str, first_chunk: str
) -> None:
    """Guards against decisions that depend on where the text happened to be cut."""
    text, fragments = sample
    arguments = {"language": language, "first_chunk": first_chunk, "min_clause_chars": 8}
    whole = chunks([text], **arguments)
    assert chunks(fragments, **arguments) == whole
    assert chunks(list(text), **arguments) == whole
    assert without_space("".join(whole)) == without_space(text)
    assert all(chunk and chunk == chunk.strip() for chunk in whole)


@settings(max_examples=150, deadline=None)
@given(st.lists(PARTS.filter(lambda part: "`" not in part), max_size=300).map("".join))
def test_no_chunk_is_longer_than_the_limit(text: str) -> None:
    """Guards against a chunk above the limit, and a split that depends on the fragments."""
    whole = chunks([text], max_chars=80)
    assert all(len(chunk) <= 80 for chunk in whole)
    assert chunks(list(text), max_chars=80) == whole
    assert without_space("".join(whole)) == without_space(text)


@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS)
def test_reset_and_flush_leave_nothing(before: str, after: str) -> None:
    """Guards against state that outlives the text it belongs to."""
    expected = chunks([after])
    for end in (IncrementalSentenceChunker.reset, IncrementalSentenceChunker.flush):
        chunker = IncrementalSentenceChunker()
        chunker.feed(before)
        end(chunker)
        rest = chunker.feed(after)
        last = chunker.flush()
        assert rest + ([] if last is None else [last]) == expected


# -- Arguments ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"language": ""}, ["language", "''"]),
        ({"language": "English, please"}, ["language", "English, please"]),
        ({"first_chunk": "word"}, ["first_chunk", "word", "sentence", "clause"]),
        ({"min_clause_chars": 0}, ["min_clause_chars", "0", "1"]),
        ({"max_chars": 79}, ["max_chars", "79", "80"]),
    ],
)
def test_arguments_out_of_range_are_named(arguments: dict[str, Any], words: list[str]) -> None:
    """Guards against settings that are silently ignored."""
    with pytest.raises(ValueError, match=words[0]) as error:
        IncrementalSentenceChunker(**arguments)
    assert all(word in str(error.value) for word in words)


@pytest.mark.parametrize("language", ["EN", "en-US", "pt_BR", "zh-Hant-TW", "xx"])
def test_language_tags_and_unknown_languages_are_fine(language: str) -> None:
    """Guards against refusing a tag with a region or a language without rules."""
    assert chunks(["Fine. Go on."], language=language) == ["Fine.", "Go on."]
