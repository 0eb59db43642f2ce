"""Pronunciation by the real misaki and espeak-ng."""

import pytest

from kokoro_text.lexicon import Lexicon
from kokoro_voice.g2p import Pronouncer
from kokoro_voice.languages import LANGUAGES


@pytest.fixture(scope="module")
def pronouncer() -> Pronouncer:
    return Pronouncer()


@pytest.mark.parametrize(
    ("text", "phonemes"),
    [
        ("Hello there.", "həlˈO ðˈɛɹ."),
        ("$5.30", "fˈIv dˈɑləɹz ænd θˈɜɹTi sˈɛnts"),
        ("[Kokoro](/kˈOkəɹO/) speaks.", "kˈOkəɹO spˈiks."),
        ("...", "..."),
    ],
)
def test_english_is_pronounced_as_kokoro_was_trained(
    pronouncer: Pronouncer, text: str, phonemes: str
) -> None:
    """Guards against falling back to espeak's alphabet for everything."""
    assert pronouncer.phonemes(text, "en-us") == phonemes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello there.", [("Hello", "həlˈO "), ("there.", "ðˈɛɹ.")]),
        ("Dr. Ox's $5.30, (yes)", [
            ("Dr.", "dˈɑktəɹ "),
            ("Ox's", "ˈɑksᵻz "),
            ("$5.30,", "fˈIv dˈɑləɹz ænd θˈɜɹTi sˈɛnts, "),
            ("(yes)", "(jˈɛs)"),
        ]),
        ("Oh - no", [("Oh", "ˈO "), ("-", "— "), ("no", "nˈO")]),
        ("A [New York](/nu jˈɔɹk/)!", [("A", "ɐ "), ("New York!", "nu jˈɔɹk!")]),
    ],
)  # fmt: skip
def test_english_words_have_their_own_phonemes(
    pronouncer: Pronouncer, text: str, words: list[tuple[str, str]]
) -> None:
    """Guards against times of the wrong word, and words without their punctuation."""
    pronounced = pronouncer.words(text, "en-us")
    assert [(word.text, word.phonemes) for word in pronounced] == words


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("es", "¿Cómo estás? Bien.", [
            ("¿Cómo", "¿kˈomo "), ("estás?", "estˈas? "), ("Bien.", "bjˈen."),
        ]),
        ("es", "[Hola](/xxx/), sí.", [("Hola,", "xxx, "), ("sí.", "sˈi.")]),
        ("fr-fr", "– «Oui», monsieur !", [("– «Oui»,", "“wˈi”, "), ("monsieur !", "məsjˈø !")]),
        ("pt-br", "Custa R$ 20,50.", [
            ("Custa", "kˈustæ "), ("R$ 20,50.", "vˈiŋʧy xeˈIz i sˌiŋkwˈAŋtæ sˌAŋtˈavʊs."),
        ]),
        ("fr-fr", "Qu'est-ce que c'est ?", [
            ("Qu'est-ce", "kɛskˌ"), ("que", "ə s"), ("c'est ?", "ˈɛ ?"),
        ]),
    ],
)  # fmt: skip
def test_other_languages_share_their_phonemes_out(
    pronouncer: Pronouncer, language: str, text: str, words: list[tuple[str, str]]
) -> None:
    """Guards against a shift by one word for a lone dash, and lost words where counts differ."""
    pronounced = pronouncer.words(text, language)
    assert [(word.text, word.phonemes) for word in pronounced] == words


def test_words_in_no_dictionary_are_pronounced_too(pronouncer: Pronouncer) -> None:
    """Guards against silence for words unknown to misaki: espeak-ng is the fallback."""
    assert pronouncer.phonemes("Zyxqwv.", "en-us") != "."


def test_british_and_american_differ(pronouncer: Pronouncer) -> None:
    """Guards against one accent for all English voices."""
    assert pronouncer.phonemes("tomato", "en-gb") != pronouncer.phonemes("tomato", "en-us")


@pytest.mark.parametrize("language", sorted(set(LANGUAGES.values())))
def test_every_served_language_is_there(pronouncer: Pronouncer, language: str) -> None:
    """Guards against a voice whose language espeak does not know by that name."""
    assert len(pronouncer.phonemes("banana", language)) > 4


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en-us", "[WWW](=World Wide Web), yes", [
            ("WWW,", "wˈɜɹld wˈId wˈɛb, "), ("yes", "jˈɛs"),
        ]),
        ("en-us", "[AB](=eh B) Nguyen’s", [("AB", "ˈA bˈi "), ("Nguyen’s", "wˈɪnz")]),
        ("es", "[WWW](=red) es Nguyen.", [("WWW", "rˈeð "), ("es", "ˈes "), ("Nguyen.", "wˈɪn.")]),
        ("en-us", "[12 amis](fr-fr)!", [("12 amis!", "dˈuz amˈi!")]),
    ],
)  # fmt: skip
def test_words_said_in_another_way_keep_their_written_form(
    pronouncer: Pronouncer, language: str, text: str, words: list[tuple[str, str]]
) -> None:
    """Guards against word times of words that nobody wrote."""
    lexicon = Lexicon.of({"Nguyen": "/wˈɪn/"}, language)
    pronounced = pronouncer.words(text, language, [lexicon])
    assert [(word.text, word.phonemes) for word in pronounced] == words


def test_the_names_of_emoji_are_said_on_request(pronouncer: Pronouncer) -> None:
    """Guards against a setting without effect."""
    named = Pronouncer(name_pictures=True).phonemes("I like it 👍.", "en-us")
    assert named == pronouncer.phonemes("I like it thumbs up.", "en-us")
    assert "θ" not in pronouncer.phonemes("I like it 👍.", "en-us")
