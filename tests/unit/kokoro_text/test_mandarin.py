"""How Mandarin is read: the cases, and what must not be read as something that it is not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kokoro_text.normalizer import read
from kokoro_voice.g2p import Pronouncer
from tests.said_right import is_said_right, load


def said(text: str) -> str:
    return "".join(reading.spoken + reading.after for reading in read(text, "cmn"))


def test_the_cases_are_said_as_a_careful_reader_says_them() -> None:
    """Guards against readings that are wrong, or that leave digits and signs to chance."""
    phonemes = Pronouncer().phonemes
    wrong = [case.text for case in load("cmn") if not is_said_right(case, phonemes)]
    assert not wrong


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("2个人住2楼", "两个人住二楼"),
        ("第2次", "第二次"),
        ("2两", "二两"),
        ("22个", "二十二个"),
        ("10,500", "一万零五百"),
        ("1050", "一千零五十"),
        ("2,000元", "两千元"),
        ("12点，2位", "十二点，两位"),
        ("2000年前", "两千年前"),
        ("1949年后", "一九四九年后"),
        ("10年前", "十年前"),
        ("90后", "九零后"),
        ("90年代", "九十年代"),
        ("8:05", "八点零五分"),
        ("3:2", "三比二"),
        ("以21:19获胜", "以二十一比十九获胜"),
        ("2024-05-01", "二零二四年五月一日"),
        ("10-20岁", "十到二十岁"),
        ("电话：110", "电话:幺幺零"),
        ("共110人", "共一百一十人"),
        ("验证码是1234，", "验证码是一二三四，"),
        ("618大促", "六一八大促"),
        ("618元", "六百一十八元"),
        ("-5℃", "零下五摄氏度"),
        ("-5元", "负五元"),
        ("100%", "百分之百"),
        ("3%~5%", "百分之三到百分之五"),
        ("1/2", "二分之一"),
        ("24/7", "二十四/七"),
        ("¥12.50", "十二点五元"),
        ("a@b.cn。", "a [at](en-us) b 点 cn。"),
        ("Ⅱ期", "二期"),
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
    readings = read(text, "cmn")
    assert "".join(reading.written + reading.after for reading in readings).split() == text.split()
    assert not any(sign.isdecimal() for sign in said(text))
