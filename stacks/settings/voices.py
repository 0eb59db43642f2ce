"""The voices of this repository's speech image, which the settings may name."""

import difflib

from kokoro_voice.errors import UnknownVoiceError, VoiceError
from kokoro_voice.voices import MODEL_VOICES, Voices

_VOICES = Voices(list(MODEL_VOICES), "af_heart")


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
