"""How Japanese is read: the cases, and what must not be read as something that it is not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_text.normalizer import read
from kokoro_voice.g2p import Pronouncer
from tests.said_right import is_said_right, load


def said(text: str) -> str:
    return "".join(reading.spoken + reading.after for reading in read(text, "ja"))


def test_the_cases_are_said_as_a_careful_reader_says_them() -> None:
    """Guards against readings that are wrong, or that leave digits and signs to chance."""
    phonemes = Pronouncer().phonemes
    wrong = [case.text for case in load("ja") if not is_said_right(case, phonemes)]
    assert not wrong


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("合計は10,500円", "合計は一万五百円"),
        ("1億3,000万円", "一億三千万円"),
        ("100-200円", "百から二百円"),
        ("03-1234-5678", "ゼロサン、イチニーサンヨン、ゴーロクナナハチ"),
        ("会議は10:30,200円", "会議は十時三十分,二百円"),
        ("1/4の確率", "四分の一の確率"),
        ("12/24の夜", "十二月二十四日の夜"),
        ("3/15(金)", "三月十五日（金曜日）"),
        ("4月1日", "四月ついたち"),
        ("1日", "一日"),
        ("2〜3日", "二、三日"),
        ("2〜5日", "二から五日"),
        ("すごい〜！", "すごい〜!"),
        ("東京〜大阪", "東京から大阪"),
        ("7-2=5", "七引く二イコール五"),
        ("第II章とIT", "第二章とIT"),
        ("2人と2人前", "ふたりと二人前"),
        ("B1Fの3F", "地下一階の三階"),
        ("-5℃", "マイナス五度"),
        ("2.0.1", "二点ゼロ点一"),
        ("3:1の割合", "三対一の割合"),
        ("注文番号は0123", "注文番号はゼロイチニーサン"),
        ("1" * 21, "一" * 21),
        ("", ""),
    ],
)
def test_forms_are_told_apart(written: str, spoken: str) -> None:
    """Guards against rules that take what looks alike, or only a part of it."""
    assert said(written) == spoken


@settings(deadline=None)
@given(
    st.text(
        st.sampled_from("1209０,.:/-+=~〜¥$%°CkmgB()年月日時分点个人第周番号电话の，。 A@一"),
        max_size=60,
    )
)
def test_any_text_is_read_and_keeps_its_words(text: str) -> None:
    """Guards against exceptions, lost words, and digits that nobody reads."""
    readings = read(text, "ja")
    assert "".join(reading.written + reading.after for reading in readings).split() == text.split()
    assert not any(sign.isdecimal() for sign in said(text))
