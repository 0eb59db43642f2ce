"""The voices in a model directory and the language each speaks."""

from pathlib import Path

from kokoro_server.messages import ProtocolError

# Kokoro names a voice by language, sex and name: af_heart. The values are espeak's language names.
LANGUAGES = {
    "a": "en-us",
    "b": "en-gb",
    "e": "es",
    "f": "fr-fr",
    "h": "hi",
    "i": "it",
    "p": "pt-br",
}
_NOT_SERVED = {"j": "Japanese", "z": "Mandarin"}


class Voices:
    """The names of the voices that are served.

    Args:
        names: all voices there are; those whose language is not served are left out.
        default: the voice of a request that names none.
    """

    def __init__(self, names: list[str], default: str) -> None:
        self.names = sorted(name for name in names if name[0] in LANGUAGES)
        self._known = frozenset(names)
        self.default = self.resolve(default)

    @classmethod
    def in_directory(cls, model_dir: Path, default: str) -> "Voices":
        """The voices that `model_dir/voices` holds."""
        return cls([path.stem for path in (model_dir / "voices").glob("*.bin")], default)

    def resolve(self, name: str | None) -> str:
        """The voice to use for `name`.

        Raises:
            ProtocolError: `unknown_voice`; the message lists the voices.
        """
        if name is None:
            return self.default
        if name in self.names:
            return name
        problem = f"voice: no voice {name[:60]!r}"
        if name in self._known and name[0] in _NOT_SERVED:
            problem = f"voice: {name!r} speaks {_NOT_SERVED[name[0]]}, which is not served"
        raise ProtocolError("unknown_voice", f"{problem}; the voices are {', '.join(self.names)}")


def language_of(voice: str) -> str:
    """The language that `voice` speaks, as espeak names it."""
    return LANGUAGES[voice[0]]
