"""The voices in a model directory, their mixes and their languages."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kokoro_voice.errors import InvalidMixError, UnknownVoiceError
from kokoro_voice.languages import LANGUAGES

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
"""The voices of the model. The server serves all of them."""

MAX_COMPONENTS = 8
MIN_WEIGHT, MAX_WEIGHT = 0.01, 100.0
_WEIGHTED = re.compile(r"([^()]*)\((.*)\)", re.DOTALL)
_WEIGHT = re.compile(r"\d{1,3}(\.\d{1,3})?", re.ASCII)  # Numbers that `:g` prints without loss.


@dataclass(frozen=True)
class Voice:
    """The voice of a request: one of the model's voices, or a mix of several."""

    name: str
    """The name in requests and events; for a mix, such as `af_bella(2)+af_sky(1)`."""
    components: tuple[tuple[str, float], ...]
    """The names and shares of the model's voices in it. The shares add up to 1."""

    @property
    def language(self) -> str:
        """The language of all components, in espeak's notation."""
        return LANGUAGES[self.name[0]]


class Voices:
    """The voices that are served.

    Args:
        names: All voices of the model. Those in an unknown language are left out.
        default: The voice, or mix, for requests that name none.

    Raises:
        VoiceError: `default` cannot be resolved, see `resolve`.
    """

    def __init__(self, names: list[str], default: str) -> None:
        self.names = sorted(name for name in names if name[0] in LANGUAGES)
        self.default = self.resolve(default)

    @classmethod
    def in_directory(cls, model_dir: Path, default: str, own: Iterable[str] = ()) -> "Voices":
        """Return the voices in `model_dir/voices`, and a deployment's own ones."""
        return cls([*(path.stem for path in (model_dir / "voices").glob("*.bin")), *own], default)

    def resolve(self, name: str | None) -> Voice:
        """Return the voice called `name`, or the mix that it describes: `af_bella(2)+af_sky(1)`.

        A mix has at most `MAX_COMPONENTS` components, each with a weight in brackets. The weight
        is 1 by default. If a voice is named twice, its weights are added.

        Raises:
            UnknownVoiceError: A voice of that name is not served.
            InvalidMixError: The mix has too many components, a weight out of range, or more than
                one language.
        """
        if name is None:
            return self.default
        components = name.split("+")
        if len(components) > MAX_COMPONENTS:
            raise InvalidMixError(
                f"the mix has {len(components)} components; give at most {MAX_COMPONENTS}"
            )
        weights: dict[str, float] = {}
        for component in components:
            weighted = _WEIGHTED.fullmatch(component)
            voice, weight = (weighted[1], weighted[2]) if weighted else (component, "1")
            self._check(voice)
            if not _WEIGHT.fullmatch(weight) or not MIN_WEIGHT <= float(weight) <= MAX_WEIGHT:
                raise InvalidMixError(
                    f"invalid weight in {component[:60]!r}; give a number from {MIN_WEIGHT:g} to "
                    f"{MAX_WEIGHT:g} with at most three decimals, such as NAME(0.5)"
                )
            weights[voice] = weights.get(voice, 0.0) + float(weight)
        languages = {voice[0]: LANGUAGES[voice[0]] for voice in weights}
        if len(languages) > 1:
            raise InvalidMixError(
                f"{name[:60]!r} mixes the languages {' and '.join(languages.values())}; use voices "
                "of one language, whose names begin with the same letter"
            )
        return _mix(weights)

    def _check(self, name: str) -> None:
        if name in self.names:
            return
        problem = f"unknown voice {name[:60]!r}"
        if not self.names:
            raise UnknownVoiceError(f"{problem}; the model directory contains no voices")
        raise UnknownVoiceError(
            f"{problem}; use one of {', '.join(self.names)}, or a mix of them such as "
            "NAME(2)+NAME(1)"
        )


def _mix(weights: dict[str, float]) -> Voice:
    if len(weights) == 1:
        (name,) = weights
    else:
        name = "+".join(f"{voice}({weight:g})" for voice, weight in weights.items())
    total = sum(weights.values())
    return Voice(name, tuple((voice, weight / total) for voice, weight in weights.items()))
