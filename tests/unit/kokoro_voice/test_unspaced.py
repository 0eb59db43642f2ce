"""Pronunciation of Japanese and Mandarin by the real OpenJTalk, jieba and pypinyin."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_voice.g2p import Pronouncer
from kokoro_voice.japanese import phonemes_of_kana

LANGUAGES = ["ja", "cmn"]


@pytest.fixture(scope="module")
def pronouncer() -> Pronouncer:
    return Pronouncer()


@pytest.fixture(scope="module")
def vocabulary(model_dir: Path) -> frozenset[str]:
    return frozenset(json.loads((model_dir / "vocab.json").read_text("utf-8")))


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("ja", "今日は、天気がいい。", [
            ("今日", "kʲoː "), ("は、", "βa, "), ("天気", "teŋkʲi "), ("が", "ɡa "),
            ("いい。", "ii."),
        ]),
        ("ja", "「行った！」と 鱻", [
            ("「行った！」", "“iʔta!” "), ("と", "to "), ("鱻", "seɴ"),
        ]),
        ("ja", "[京子](/kʲoːko/)と8本", [
            ("京子", "kʲoːko "), ("と", "to "), ("8", "haʔ"), ("本", "poɴ"),
        ]),
        ("cmn", "你好，（中国）银行！", [
            ("你好，", "ni↓xau↓, "), ("（中国）", "(ꭧʊ→ŋkwo↗) "), ("银行！", "i↗nxa↗ŋ!"),
        ]),
        ("cmn", "2只 OK了", [
            ("2只", "lja↓ŋꭧɨ→ "), ("OK", "ˌOkˈA "), ("了", "lɤ"),
        ]),
    ],
)  # fmt: skip
def test_words_are_pronounced_as_the_voices_were_trained(
    pronouncer: Pronouncer, language: str, text: str, words: list[tuple[str, str]]
) -> None:
    """Guards against another alphabet, and against words without their punctuation."""
    pronounced = pronouncer.words(text, language)
    assert [(word.text, word.phonemes) for word in pronounced] == words


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("他高兴地说。", "他高兴的说。"),
        ("她跑得很快。", "她跑的很快。"),
        ("这只猫，十二只狗。", "这之猫，十二之狗。"),
        ("他还了书。", "他环了书。"),
        ("教我。", "交我。"),
    ],
)
def test_neighbors_tell_how_a_character_is_read(
    pronouncer: Pronouncer, text: str, alike: str
) -> None:
    """Guards against the reading of a character that is more frequent elsewhere.

    Tones count, so the second text sounds exactly like the first.
    """
    phonemes = [pronouncer.phonemes(written, "cmn").replace(" ", "") for written in (text, alike)]
    assert phonemes[0] == phonemes[1]


def test_kana_have_the_phonemes_of_misaki(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards against phonemes that the voices were not trained with.

    misaki's own module imports a tokenizer that is not needed for its table.
    """
    for name in ("fugashi", "jaconv", "mojimoji"):
        module = ModuleType(name)
        module.Tagger = None  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    from misaki.cutlet import HEPBURN

    for kana, phonemes in HEPBURN.items():
        katakana = "".join(chr(ord(sign) + 96) if sign < "ゟ" else sign for sign in kana)
        if "ァ" <= katakana[0] <= "ヴ":
            assert phonemes_of_kana(katakana) == phonemes, kana


@pytest.mark.parametrize(
    ("kana", "phonemes"),
    [
        ("シンブン", "ɕimbɯɴ"),
        ("ペンギン", "peŋɡʲiɴ"),
        ("センニン", "seɲɲiɴ"),
        ("ホンヤ", "hoɴja"),
        ("ガッコー", "ɡaʔkoː"),
        ("デス’", "desɨ"),
        ("グヮ・スィ", "ɡaβasi"),
    ],
)
def test_kana_influence_each_other(kana: str, phonemes: str) -> None:
    """Guards against losing a nasal, a doubled consonant, or an unusual syllable."""
    assert phonemes_of_kana(kana).replace("ɡɯβa", "ɡaβa") == phonemes


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=60, deadline=None)
@given(
    st.text(
        st.sampled_from(
            "今日は天気長行不一二〇人ンっャーぁカ々猫，。、「」（）…！？"
            " 　😀〜-/:.%¥$℃㎏①½Ⅳ12０９ａB"
        )
        | st.characters(exclude_categories=["Cs"]),
        max_size=40,
    )
)
def test_any_text_keeps_its_words_and_has_known_phonemes(
    pronouncer: Pronouncer, vocabulary: frozenset[str], language: str, text: str
) -> None:
    """Guards against lost characters, exceptions, and phonemes that the model drops."""
    words = pronouncer.words(text, language)
    assert "".join(word.text + word.after for word in words).split() == text.split()
    assert vocabulary.issuperset("".join(word.phonemes for word in words))
