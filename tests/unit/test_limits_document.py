"""docs/limits.md against the code."""

import re

from kokoro_server import app, codecs, messages
from kokoro_server.settings import Settings as SpeechSettings
from kokoro_text import lexicon, spans
from kokoro_voice import voices
from tests.documents import ROOT
from voice_agent.__main__ import MAX_FRAME_BYTES
from voice_agent.messages import MAX_AUDIO_FRAME_BYTES
from voice_agent.settings import Settings as AgentSettings

DOCUMENT = (ROOT / "docs/limits.md").read_text()


def numbers(text: str) -> set[float]:
    return {float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}


def test_every_limit_that_a_variable_changes_is_its_default() -> None:
    """A limit that was raised in the code and not in the document keeps people from using it."""
    rows = re.findall(r"^\| .* \| (.*) \| `(KOKORO|VOICE_AGENT)_(\w+)` \|$", DOCUMENT, re.MULTILINE)
    assert len(rows) == 11
    for limit, prefix, name in rows:
        settings = SpeechSettings if prefix == "KOKORO" else AgentSettings
        default = settings.model_fields[name.lower()].default
        assert default in numbers(limit) or "busy" in limit, name


def test_the_other_limits_are_those_of_the_code() -> None:
    assert app.MAX_BODY_BYTES == 2 << 20
    assert MAX_FRAME_BYTES == 2 << 20
    assert {codecs.MAX_FRAME_BYTES, MAX_AUDIO_FRAME_BYTES} == {16_384}
    assert {voices.MAX_COMPONENTS, voices.MIN_WEIGHT, voices.MAX_WEIGHT} == {8, 0.01, 100}
    assert (spans.MAX_PAUSE_S, spans.MAX_PAUSES_S) == (10, 600)
    assert (messages.MAX_LEXICON_WORDS, lexicon.MAX_WORD_CHARS) == (200, 60)
    assert lexicon.MAX_PRONUNCIATION_CHARS == 100
    for limit in (8, 2, 16_384, 0.01, 100, 10, 600, 200, 60):
        assert limit in numbers(DOCUMENT)
