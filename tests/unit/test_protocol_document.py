"""docs/protocol.md against the code: people write clients from it."""

import re
from pathlib import Path
from typing import get_args

from kokoro_server import messages as speech
from speech_client import errors
from voice_agent import messages as agent
from voice_agent.model import BedrockError

DOCUMENT = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
AGENT, SPEECH = DOCUMENT.split("## Agent ⇄ speech server")


def named(text: str) -> set[str]:
    """Every word in code marks."""
    return {word for code in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", code)}


def test_every_field_and_type_is_documented() -> None:
    """A field that is not in the document is found by reading the server's source, or not."""
    for text, models in [
        (
            AGENT,
            [agent.Prompt, agent.Interrupt, agent.Close, *get_args(agent.ServerEvent.__value__)],
        ),
        (SPEECH, [speech.Speak, speech.Cancel, speech.Close, *get_args(speech.ServerMessage)]),
    ]:
        for model in models:
            assert set(model.model_fields) <= named(text), model.__name__
            types = get_args(model.model_fields["type"].annotation)
            assert set(types) <= named(text), model.__name__


def test_every_error_code_is_documented() -> None:
    """Clients decide by the code whether to try again."""
    assert set(get_args(speech.ErrorCode)) <= named(SPEECH)
    kinds = (errors.SpeechConnectionError, errors.SpeechContainerError, BedrockError)
    codes = {kind.code for kind in kinds} | {errors.SpeechInputError("").code}
    own = {"invalid", "too_long", "unsupported", "busy", "internal"}
    assert codes | own <= named(AGENT)
