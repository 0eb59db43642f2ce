"""The voices of this repository's speech image, which the settings may name."""

import difflib

from kokoro_voice.errors import UnknownVoiceError, VoiceError
from kokoro_voice.voices import Voices

MODEL_VOICES = (
    "af_alloy", "af_aoede", "af_bella", "af_heart", "af_jessica", "af_kore", "af_nicole",
    "af_nova", "af_river", "af_sarah", "af_sky", "am_adam", "am_echo", "am_eric", "am_fenrir",
    "am_liam", "am_michael", "am_onyx", "am_puck", "am_santa", "bf_alice", "bf_emma",
    "bf_isabella", "bf_lily", "bm_daniel", "bm_fable", "bm_george", "bm_lewis", "ef_dora",
    "em_alex", "em_santa", "ff_siwis", "hf_alpha", "hf_beta", "hm_omega", "hm_psi", "if_sara",
    "im_nicola", "jf_alpha", "jf_gongitsune", "jf_nezumi", "jf_tebukuro", "jm_kumo", "pf_dora",
    "pm_alex", "pm_santa", "zf_xiaobei", "zf_xiaoni", "zf_xiaoxiao", "zf_xiaoyi", "zm_yunjian",
    "zm_yunxi", "zm_yunxia", "zm_yunyang",
)  # fmt: skip
"""All voices of the model, including those in languages that the server does not serve."""

_VOICES = Voices(list(MODEL_VOICES), "af_heart")


def voice_problem(name: str) -> str | None:
    """Return what is wrong with a voice or a mix of voices, or None if the image serves it."""
    try:
        _VOICES.resolve(name)
    except VoiceError as error:
        close = difflib.get_close_matches(name, _VOICES.names, 1)
        if isinstance(error, UnknownVoiceError) and name not in MODEL_VOICES and close:
            return f"unknown voice {name!r}; did you mean {close[0]!r}? docs/voices.md lists them"
        return str(error)
    return None
