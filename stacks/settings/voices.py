"""The voices of this repository's speech image, which the settings may name."""

import difflib
from pathlib import Path

from kokoro_voice.errors import UnknownVoiceError, VoiceError
from kokoro_voice.voices import MODEL_VOICES, Voices

_OWN = Path(__file__).parents[2] / "container" / "voices"
_VOICES = Voices([*MODEL_VOICES, *(path.stem for path in _OWN.glob("*.npy"))], "af_heart")


def voice_problem(name: str) -> str | None:
    """Return what is wrong with a voice or a mix of voices, or None if the image serves it."""
    try:
        _VOICES.resolve(name)
    except VoiceError as error:
        close = difflib.get_close_matches(name, _VOICES.names, 1)
        if isinstance(error, UnknownVoiceError) and close:
            return f"unknown voice {name!r}; did you mean {close[0]!r}? docs/voices.md lists them"
        return str(error)
    return None
