"""Words in other scripts, marks and signs: they are said as words or not at all."""

import re
import unicodedata

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_text import scripts
from kokoro_text.normalizer import read
from kokoro_text.reading import LINK, spoken_text, words_of
from kokoro_text.scripts import readable
from kokoro_voice.g2p import Pronouncer
from kokoro_voice.languages import LANGUAGES

SERVED = sorted(set(LANGUAGES.values()))
# "letter" or "symbol", with which espeak-ng begins the name of a character that it cannot read.
# OpenJTalk and pypinyin, for Japanese and Mandarin, name no characters.
SPELLED = {
    "en-us": "lɛTəɹ|sɪmbᵊl",
    "en-gb": "lɛtə|sɪmbᵊl",
    "es": "simbolo",
    "fr-fr": "lɛtʁ",
    "hi": "kʂəɾ",
    "it": "letːeːra|lɛtːera",
    "pt-br": "letræ",
}
# All of Unicode would take too long.
SAMPLES_PER_PAGE = 2


@pytest.fixture(scope="module")
def pronouncer() -> Pronouncer:
    return Pronouncer()


def spoken(text: str, language: str) -> str:
    return spoken_text(read(text, language))


def sample_of_unicode() -> list[str]:
    """Characters of every page of 128 code points, without the many pages of Chinese and Hangul."""
    characters: list[str] = []
    for page in range(0x80, 0x1FC00, 0x80):
        if 0x3500 <= page < 0x9F80 or 0xAD00 <= page < 0xD700:
            continue
        assigned = [
            chr(code)
            for code in range(page, page + 0x80)
            if unicodedata.category(chr(code))[0] not in "CZ"
        ]
        step = max(1, len(assigned) // SAMPLES_PER_PAGE)
        characters += assigned[::step][:SAMPLES_PER_PAGE]
    return characters


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("Nguyễn and Łódź", "en-us", "Nguyen and Łódź"),
        ("Dvořák's Müller", "en-gb", "Dvorak's Müller"),
        ("Straße, Đặng", "es", "Strasse, Dang"),
        ("garçon naïf", "fr-fr", "garçon naïf"),
        ("Москва, Αθήνα", "it", "Moskva, Athina"),
        ("שלום مرحبا 한국", "pt-br", "shalom marhaba hangug"),
        ("Say नमस्ते!", "en-us", "Say [नमस्ते](hi)!"),
        ("আমি தமிழ்", "en-us", "[आमि](hi) [तमिऴ्](hi)"),
        ("iPhoneवाला", "hi", "[iPhone](en-us) वाला"),
        ("Jean-Luc's café", "hi", "[Jean-Luc's](en-us) [café](en-us)"),
        ("α, β-carotene, Σ", "en-us", "alpha, beta-carotene, sigma"),
        ("ψ", "pt-br", "psi"),
        ("𝐇𝐞𝐥𝐥𝐨 ⓗⓔⓛⓛⓞ Ｈｅｌｌｏ ʜᴇʟʟᴏ", "en-us", "Hello hello Hello hello"),
        ("Аpple", "en-us", "Apple"),
        ("हाँ। नहीं؟", "en-us", "[हाँ](hi). [नहीं](hi)?"),
        ("「東京」と北京、Ōsaka", "fr-fr", "“[東京](ja)”[と北京](ja),Ōsaka"),
        ("Москваから Dvořák", "ja", "[Moskva](en-us)から [Dvorak](en-us)"),
        ("iPhoneのケース", "ja", "iPhoneのケース"),
        ("Привет和ひらがな, नमस्ते", "cmn", "[Privet](en-us)和[ひらがな](ja), [नमस्ते](hi)"),
    ],
)
def test_words_in_other_scripts_become_words_that_the_voice_can_say(
    text: str, language: str, said: str
) -> None:
    """Guards against names read letter by letter, and against marks lost where they matter."""
    assert spoken(text, language) == said


@pytest.mark.parametrize("language", ["en-us", "es"])
def test_chinese_and_japanese_are_linked_once_they_can_be_read(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against Japanese read as Chinese, and links to languages without a G2P."""
    monkeypatch.setattr(scripts, "READABLE_LANGUAGES", frozenset({"en-us", "hi", "es"}))
    assert readable("北京", language) == "beijing"
    monkeypatch.setattr(scripts, "READABLE_LANGUAGES", frozenset({"en-us", "hi", "ja", "cmn"}))
    assert readable("北京", language) == "[北京](cmn)"
    assert readable("東京、", language, japanese=True) == "[東京](ja),"
    assert readable("中" * 250, language).count("](cmn)") == 9


def test_links_are_kept_with_words_that_their_language_can_read() -> None:
    """Guards against phonemes that are changed, and links that a G2P would spell."""
    assert readable("[x](/həlˈO/) ok", "es") == "[x](/həlˈO/) ok"
    assert readable("[Nguyễn](fr-fr)", "es") == "[Nguyen](fr-fr)"
    assert readable("[Москва](ru)", "es") == "Moskva"
    assert readable("[नमस्ते](fr-fr)", "es") == "[नमस्ते](hi)"


def test_emoji_are_silent_and_keycaps_are_digits() -> None:
    """Guards against espeak reading out 'smiling face with smiling eyes'."""
    text = "Hello 😊👍🏽 🇫🇷 1️⃣ © ❤️ Ⓜ️ 👨\u200d👩\u200d👧 really⁉️"
    assert spoken(text, "fr-fr") == "Hello un M really!?"


@pytest.mark.parametrize("language", SERVED)
def test_what_has_no_sound_is_left_out(language: str) -> None:
    """Guards against the names of symbols and emoji."""
    assert spoken("★ 😊 👍🏽 🇫🇷 ❤️ 𒀀 ▓ ⠿", language) == ""


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en-us", "I love it, thumbs up medium skin tone."),
        ("fr-fr", "I cœur rouge it, pouce vers le haut peau légèrement mate."),
    ],
)
def test_emoji_are_named_on_request(language: str, said: str) -> None:
    """Guards against names after the punctuation or twice, and against English names elsewhere."""
    readings = read("I ❤️ it, 👍🏽.", language, name_pictures=True)
    assert " ".join(reading.spoken for reading in readings) == said


@pytest.mark.parametrize("language", SPELLED)
def test_no_character_of_any_script_is_named(pronouncer: Pronouncer, language: str) -> None:
    """Guards against "letter one E C five", "Chinese letter" and other names of characters."""
    characters = sample_of_unicode()
    assert len(characters) > 500
    named = []
    for begin in range(0, len(characters), 20):
        text = " ".join(characters[begin : begin + 20])
        phonemes = re.sub("[ˈˌ]", "", pronouncer.phonemes(text, language))
        if re.search(SPELLED[language], phonemes):
            named.append(text)
    assert not named


@pytest.mark.parametrize("language", SPELLED)
def test_espeak_reads_every_letter_that_is_left_to_it(
    pronouncer: Pronouncer, language: str
) -> None:
    """Guards against a letter of the language that its G2P spells."""
    foreign = scripts._foreign(language)
    own = r"\p{Devanagari}" if language == "hi" else r"\p{Latin}"
    letters = [
        chr(code)
        for code in range(0x80, 0x2000)
        if not foreign.search(chr(code)) and regex.match(rf"[{own}]", chr(code))
    ]
    assert len(letters) > 50
    around = ("क", "क") if language == "hi" else ("na", "no")
    named = [
        letter
        for letter in letters
        if re.search(
            SPELLED[language],
            re.sub("[ˈˌ]", "", pronouncer.phonemes(letter.join(around), language)),
        )
    ]
    assert not named


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=120), language=st.sampled_from(SERVED))
def test_any_text_is_read_and_its_words_come_back(text: str, language: str) -> None:
    """Guards against exceptions, lost words, and characters that no G2P can read."""
    readings = read(text, language)
    written = "".join(reading.written + reading.after for reading in readings)
    assert words_of(written) == words_of(text)
    for reading in readings:
        assert not scripts._foreign(language).search(LINK.sub("", reading.spoken))


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=60), language=st.sampled_from(SERVED))
def test_any_text_is_pronounced(text: str, language: str) -> None:
    """Guards against exceptions in the G2P."""
    PRONOUNCER.phonemes(text, language)


PRONOUNCER = Pronouncer()
