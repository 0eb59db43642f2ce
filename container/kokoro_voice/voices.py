"""The voices in a model directory, mixes of them, and the language each speaks."""

import re
from dataclasses import dataclass
from pathlib import Path

from kokoro_voice.errors import InvalidMixError, UnknownVoiceError
from kokoro_voice.languages import LANGUAGES, UNSERVED_LANGUAGES

MAX_COMPONENTS = 8
MIN_WEIGHT, MAX_WEIGHT = 0.01, 100.0
_WEIGHTED = re.compile(r"([^()]*)\((.*)\)", re.DOTALL)
_WEIGHT = re.compile(r"\d{1,3}(\.\d{1,3})?", re.ASCII)  # what `:g` writes without loss


@dataclass(frozen=True)
class Voice:
    """What a request is spoken with: a voice of the model, or a mix of several."""

    name: str
    """As a client sees it, and as a request may name it: `af_bella(2)+af_sky(1)` for a mix."""
    components: tuple[tuple[str, float], ...]
    """The model's voices in it, each with its share; the shares add up to 1."""

    @property
    def language(self) -> str:
        """The language that all components speak, as espeak names it."""
        return LANGUAGES[self.name[0]]


class Voices:
    """The voices that are served.

    Args:
        names: all voices there are; those whose language is not served are left out.
        default: the voice, or mix, of a request that names none.

    Raises:
        VoiceError: see `resolve`, of `default`.
    """

    def __init__(self, names: list[str], default: str) -> None:
        self.names = sorted(name for name in names if name[0] in LANGUAGES)
        self._known = frozenset(names)
        self.default = self.resolve(default)

    @classmethod
    def in_directory(cls, model_dir: Path, default: str) -> "Voices":
        """The voices that `model_dir/voices` holds."""
        return cls([path.stem for path in (model_dir / "voices").glob("*.bin")], default)

    def resolve(self, name: str | None) -> Voice:
        """The voice to use for `name`: a voice, or several as `af_bella(2)+af_sky(1)`.

        A mix has at most `MAX_COMPONENTS` components, each with a weight in brackets, 1 if there is
        none; a voice that is named twice has the sum of its weights.

        Raises:
            UnknownVoiceError: a voice of that name is not served.
            InvalidMixError: the mix cannot be spoken.
        """
        if name is None:
            return self.default
        components = name.split("+")
        if len(components) > MAX_COMPONENTS:
            raise InvalidMixError(
                f"a mix of {len(components)}, at most {MAX_COMPONENTS} are accepted"
            )
        weights: dict[str, float] = {}
        for component in components:
            weighted = _WEIGHTED.fullmatch(component)
            voice, weight = (weighted[1], weighted[2]) if weighted else (component, "1")
            self._check(voice)
            if not _WEIGHT.fullmatch(weight) or not MIN_WEIGHT <= float(weight) <= MAX_WEIGHT:
                raise InvalidMixError(
                    f"{component[:60]!r} is not accepted, give a weight from {MIN_WEIGHT:g} "
                    f"to {MAX_WEIGHT:g} with at most three decimals"
                )
            weights[voice] = weights.get(voice, 0.0) + float(weight)
        languages = {voice[0]: LANGUAGES[voice[0]] for voice in weights}
        if len(languages) > 1:
            raise InvalidMixError(
                f"{name[:60]!r} mixes {' and '.join(languages.values())}, all parts of a "
                "mix must speak one language (their names begin with the same letter)"
            )
        return _mix(weights)

    def _check(self, name: str) -> None:
        if name in self.names:
            return
        problem = f"no voice {name[:60]!r}"
        if name in self._known and name[0] in UNSERVED_LANGUAGES:
            problem = f"{name!r} speaks {UNSERVED_LANGUAGES[name[0]]}, which is not served"
        raise UnknownVoiceError(
            f"{problem}; the voices are {', '.join(self.names)}, and mixes of them as "
            "NAME(2)+NAME(1)"
        )


def _mix(weights: dict[str, float]) -> Voice:
    if len(weights) == 1:
        (name,) = weights
    else:
        name = "+".join(f"{voice}({weight:g})" for voice, weight in weights.items())
    total = sum(weights.values())
    return Voice(name, tuple((voice, weight / total) for voice, weight in weights.items()))
