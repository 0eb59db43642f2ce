"""Which dictionaries a text needs, and that loading them is enough."""

import subprocess
import sys

import pytest

from kokoro_voice.dictionaries import Dictionaries

PRONOUNCE = """
import sys
from kokoro_voice.dictionaries import Dictionaries
from kokoro_voice.g2p import Pronouncer
text, language = sys.argv[1:]
dictionaries = Dictionaries()
missing = dictionaries.missing(text, language)
dictionaries.load(missing)
before = set(sys.modules)
Pronouncer().words(text, language)
new = set(sys.modules) - before
print(sorted(missing), [name for name in new if "openjtalk" in name or "jieba" in name])
assert not dictionaries.missing(text, language)
"""


@pytest.mark.parametrize(
    ("text", "language", "needed"),
    [
        ("Hello.", "en-us", []),
        ("Hello.", "ja", ["ja"]),
        ("港の朝", "ja", ["ja"]),
        ("港口", "cmn", ["cmn"]),
        ("In Tokyo (東京) it rains.", "en-us", ["cmn"]),
        ("Say さくら.", "es", ["ja"]),
        ("Say 東京の空.", "it", ["ja"]),
        ("Say [Tokyo](ja).", "fr-fr", ["ja"]),
        ("说さくら", "cmn", ["cmn", "ja"]),
    ],
)
def test_a_text_needs_the_dictionaries_of_its_words(
    text: str, language: str, needed: list[str]
) -> None:
    """Guards against a dictionary that is loaded in vain: it takes 100 MB."""
    assert sorted(Dictionaries().missing(text, language)) == needed


@pytest.mark.parametrize(
    ("text", "language", "needed"),
    [("Say 東京の空.", "it", ["ja"]), ("Say 東京.", "it", ["cmn"])],
)
def test_the_g2p_loads_no_dictionary_itself(text: str, language: str, needed: list[str]) -> None:
    """Guards against a text whose dictionary is loaded on the thread that all languages share."""
    output = subprocess.run(
        [sys.executable, "-c", PRONOUNCE, text, language],
        capture_output=True,
        text=True,
        check=True,
    )
    assert output.stdout.strip() == f"{needed} []"
