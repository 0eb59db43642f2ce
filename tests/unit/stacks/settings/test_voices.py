"""The voices that the settings may name: those of the image."""

import re
import tomllib
from pathlib import Path

from stacks.settings.voices import MODEL_VOICES, voice_problem

ROOT = Path(__file__).parents[4]


def test_the_list_is_that_of_the_model() -> None:
    """Guards against a voice that the image serves and the settings refuse."""
    manifest = tomllib.loads((ROOT / "container/kokoro_model/manifest.toml").read_text())
    assert len(set(MODEL_VOICES)) == manifest["voices"]
    page = (ROOT / "docs" / "voices.md").read_text()
    served = re.findall(r"^\| `([a-z]{2}_[a-z]+)`", page, re.MULTILINE)
    assert served
    assert [name for name in MODEL_VOICES if voice_problem(name) is None] == served


def test_a_mix_of_voices_is_accepted() -> None:
    """Guards against a check of single names only."""
    assert voice_problem("af_bella(2)+af_sky(1)") is None
    assert "mixes the languages" in str(voice_problem("af_bella+bf_emma"))
