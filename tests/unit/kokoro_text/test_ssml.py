"""SSML: what each element becomes, and what is refused."""

import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_text.control import spans
from kokoro_text.spans import MarkupError, Span
from kokoro_text.ssml import is_ssml
from kokoro_voice.languages import LANGUAGES


def text_of(ssml: str, language: str = "en-us") -> str:
    """The text of a document that has no pauses and one rate."""
    (span,) = spans(f"<speak>{ssml}</speak>", language)
    assert (span.rate, span.pause_s) == (1.0, None)
    return span.text


@pytest.mark.parametrize(
    ("ssml", "text"),
    [
        ("Hello,\n   you &amp; me &lt;3.", "Hello, you & me <3."),
        ("<s>One</s><s>Two</s>", "\n\nOne\n\n\n\nTwo\n\n"),
        ("<sub alias='World Wide Web'>WWW</sub>!", "[WWW](=World Wide Web)!"),
        ("<sub alias='(see [below])'>x</sub>", "[x](=see below)"),
        (f"<sub alias='{'very ' * 40}'>x</sub>", "very " * 39 + "very"),
        ("<phoneme alphabet='kokoro' ph='kˈOkəɹO'>Kokoro</phoneme>", "[Kokoro](/kˈOkəɹO/)"),
        ("<phoneme ph='təˈmeɪ.toʊ'>tomato</phoneme>", "[tomato](/təˈmAtO/)"),
        (
            "<lang xml:lang='fr-CA'>Bonjour, tout le monde!</lang> Yes.",
            "[Bonjour](fr-fr), [tout le monde](fr-fr)! Yes.",
        ),
        ("<lang xml:lang='en'>Hello</lang>", "Hello"),
        ("<say-as interpret-as='characters'>AB-12</say-as>", "[AB-12](=eh B dash one two)"),
        ("<say-as interpret-as='digits'>907</say-as>", "[907](=nine zero seven)"),
        ("<say-as interpret-as='ordinal'>21</say-as>", "[21](=twenty-first)"),
        (
            "<say-as interpret-as='cardinal'>-1,002</say-as>",
            "[-1,002](=minus one thousand and two)",
        ),
        ("<say-as interpret-as='number'>2.5</say-as>", "2.5"),
        (
            "<say-as interpret-as='telephone'>+1 (555) 12</say-as>",
            "[+1](=plus one), [555](=five five five), [12](=one two)",
        ),
        ("<say-as interpret-as='date' format='dmy'>3/4/25</say-as>", "[3/4/25](=April 3, 2025)"),
        ("<say-as interpret-as='date' format='my'>3/2025</say-as>", "[3/2025](=March 2025)"),
        ("<say-as interpret-as='time'>14:30</say-as>", "14:30"),
        ("<!-- no --><p/>", "\n\n\n\n"),
    ],
)  # fmt: skip
def test_elements_become_text_with_links(ssml: str, text: str) -> None:
    """Guards against elements without effect, and against markup that is read aloud."""
    assert text_of(ssml) == text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "[B2](=B dos)"),
        ("fr-fr", "[B2](=B deux)"),
        ("it", "[B2](=B due)"),
        ("pt-br", "[B2](=B dois)"),
        ("hi", "[B2](=B 2)"),
    ],
)
def test_signs_are_named_in_the_voices_language(language: str, text: str) -> None:
    """Guards against English digits in the middle of another language."""
    assert text_of("<say-as interpret-as='spell-out'>B2</say-as>", language) == text


def test_pauses_and_rates_divide_the_text() -> None:
    """Guards against a rate that reaches too far, and against a pause in the middle of a clause."""
    result = spans(
        "<speak>Hi. <prosody rate='slow'>Very <break time='250ms'/> slow</prosody> now."
        "<break strength='strong'/><prosody rate='+20%'>Fast. </prosody> End[pause:1s]</speak>",
        "en-us",
    )
    assert result == (
        Span("Hi. ", 1.0, None),
        Span("Very ", 0.75, 0.25),
        Span(" slow", 0.75, 0.0),
        Span(" now.", 1.0, 0.6),
        Span("Fast. ", 1.2, None),
        Span(" End", 1.0, 1.0),
    )


@given(st.integers(), st.sampled_from(["cardinal", "ordinal"]))
def test_any_number_has_a_reading_or_an_error(number: int, kind: str) -> None:
    """Guards against a number that a language's library cannot say."""
    for language in set(LANGUAGES.values()):
        try:
            assert spans(
                f"<speak><say-as interpret-as='{kind}'>{number}</say-as></speak>", language
            )
        except MarkupError:
            assert kind == "ordinal"
            assert number < 1 or len(str(number)) > 60


@pytest.mark.parametrize(
    ("ssml", "mentions"),
    [
        ("<emphasis>x</emphasis>", ["<emphasis>", "prosody", "line 1, column 8"]),
        ("Hi\n <voice name='x'>x</voice>", ["<voice>", "line 2, column 2"]),
        ("<prosody pitch='high'>x</prosody>", ["pitch", "<prosody>", "rate"]),
        ("<prosody>x</prosody>", ["<prosody>", "rate"]),
        ("<prosody rate='300%'>x</prosody>", ["300%", "50% to 200%"]),
        ("<break time='11s'/>", ['<break time="11s">', "0 to 10 s"]),
        ("<break strength='huge'/>", ["huge", "x-strong"]),
        ("<break>x</break>", ["<break>", "empty"]),
        ("<say-as interpret-as='address'>x</say-as>", ["address", "telephone"]),
        ("<say-as interpret-as='ordinal'>first</say-as>", ["first", "21"]),
        ("<say-as interpret-as='digits'>none</say-as>", ["none", "digits"]),
        ("<say-as interpret-as='date' format='mdy'>31/1/2025</say-as>", ["31/1/2025", "3/14/2025"]),
        ("<say-as interpret-as='date' format='x'>1</say-as>", ['format="x"', "mdy"]),
        ("<say-as interpret-as='time' format='hms12'>1:00</say-as>", ["format", "date"]),
        ("<sub alias='x'><break/></sub>", ["<break>", "<sub>", "text only"]),
        ("<sub alias='x'> </sub>", ["<sub>", "empty"]),
        ("<phoneme ph='ŧ€'>x</phoneme>", ["ŧ, €"]),
        ("<phoneme alphabet='x-sampa' ph='x'>x</phoneme>", ["x-sampa", "kokoro"]),
        ("<lang xml:lang='de-DE'>x</lang>", ["de-de", "fr-fr"]),
        ("<speak>x</speak>", ["<speak>"]),
        ("a & b", ["line 1, column 11", "&amp;"]),
        ("&nbsp;", ["undefined entity"]),
        ("<!DOCTYPE x [<!ENTITY a 'aaaa'>]>&a;", ["line 1, column"]),
        ("<p>", ["mismatched tag"]),
    ],
)
def test_what_is_refused_is_named(ssml: str, mentions: list[str]) -> None:
    """Guards against markup without effect, and against errors that do not say where."""
    with pytest.raises(MarkupError) as caught:
        spans(f"<speak>{ssml}</speak>", "en-us")
    assert [word for word in mentions if word not in str(caught.value)] == []


@pytest.mark.parametrize(
    "ssml",
    [
        f"<{'x' * 9000}/>",
        f"<p {'x' * 9000}=''/>",
        f"<break time='{'x' * 9000}'/>",
        f"<prosody rate='{'x' * 9000}'/>",
        f"<phoneme ph='{'€' * 9000}'>x</phoneme>",
        f"<phoneme ph='{'a' * 9000}'>x</phoneme>",
        f"<lang xml:lang='{'x' * 9000}'/>",
        f"<say-as interpret-as='{'x' * 9000}'>1</say-as>",
        f"<say-as interpret-as='ordinal'>{'x' * 9000}</say-as>",
    ],
)
def test_messages_stay_short(ssml: str) -> None:
    """Guards against an error that sends the whole text back."""
    with pytest.raises(MarkupError) as caught:
        spans(f"<speak>{ssml}</speak>", "en-us")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("text", ["I like <speak>.", "<speaker>", "<b>bold</b>", "&lt;speak>"])
def test_other_text_is_not_ssml(text: str) -> None:
    """Guards against errors for ordinary text with an angle bracket."""
    assert not is_ssml(text)
    assert spans(text, "en-us") == (Span(text),)


TAGS = [
    "<p>", "</p>", "<s>", "</s>", "<break/>", "<break time='1s'/>", "<prosody rate='slow'>",
    "</prosody>", "<sub alias='a b'>", "</sub>", "<lang xml:lang='fr'>", "</lang>",
    "<say-as interpret-as='characters'>", "<say-as interpret-as='telephone'>",
    "<say-as interpret-as='cardinal'>", "</say-as>", "A1", " ", "é", "12", ".", "[x](/y/)", "&lt;",
    "<phoneme ph='a'>", "</phoneme>", "[pause:1s]", "(", "]",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(st.text(), st.lists(st.sampled_from(TAGS)).map("".join)),
    st.sampled_from(sorted(set(LANGUAGES.values()))),
)
def test_any_document_is_spans_or_an_error(body: str, language: str) -> None:
    """Guards against exceptions that would be reported as a fault of the server."""
    try:
        result = spans(f"<speak>{body}</speak>", language)
    except MarkupError:
        return
    assert all(span.text.strip() or span.pause_s is not None for span in result[:-1])


@pytest.mark.parametrize(
    "body",
    [
        "<s>" * 2500 + "</s>" * 2500,
        "a&lt;" * 4000,
        "[" * 20_000,
        "<p/>x. " * 2800,
        "<prosody rate='slow'>x</prosody>y" * 600,
        f"<lang xml:lang='fr'>a{'-' * 20_000}a</lang>",
        f"<say-as interpret-as='digits'>{'7 8' * 6000}</say-as>",
        f"<say-as interpret-as='cardinal'>{'1,' * 9000}</say-as>",
        f"<break time='1s{' ' * 20_000}x'/>",
    ],
)
def test_long_documents_take_little_time(body: str) -> None:
    """Guards against time that grows with the square of the length, or with nesting."""
    began_s = time.perf_counter()
    with suppress(MarkupError):
        spans(f"<speak>{body}</speak>", "en-us")
    assert time.perf_counter() - began_s < 1
