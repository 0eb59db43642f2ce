"""What holds for the normalizer in every language."""

import pytest

from kokoro_text.normalizer import spoken_chars


@pytest.mark.parametrize(("short", "long"), [("25", "twenty five"), ("7%", "seven percent")])
def test_digits_and_signs_count_as_words(short: str, long: str) -> None:
    """Guards against 240 digits that are admitted as if they took ten seconds to say."""
    assert 0.7 * len(long) <= spoken_chars(short) <= 1.3 * len(long)


def test_letters_count_as_they_are() -> None:
    """Guards against an estimate that refuses ordinary text."""
    assert spoken_chars("The boats leave the bay.") == 24
