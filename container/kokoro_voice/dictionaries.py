"""The dictionaries of Japanese and Mandarin, which take a second and 100 MB to load.

They are modules. If one is loaded before the G2P needs it, the other languages do not wait for it,
except for the half second in which Python reads the largest table and lets no other thread run.
"""

from importlib import import_module

import regex

_MODULES = {"ja": "kokoro_voice.japanese", "cmn": "kokoro_voice.mandarin"}
_KANA, _HAN = regex.compile(r"[\p{Hiragana}\p{Katakana}]"), regex.compile(r"\p{Han}")


class Dictionaries:
    """Loads the dictionaries that texts need."""

    def __init__(self) -> None:
        self._loaded: set[str] = set()

    def missing(self, text: str, language: str) -> frozenset[str]:
        """Return the languages whose dictionaries `text` needs and `load` has not loaded.

        Args:
            text: Any text, possibly with words in another language's script, or links to one.
            language: The voice's language, one of the values of `languages.LANGUAGES`.
        """
        needed = {linked for linked in _MODULES if f"]({linked})" in text} | {language}
        if _KANA.search(text):
            needed.add("ja")
        elif _HAN.search(text) and language != "ja":
            needed.add("cmn")
        return frozenset(needed & _MODULES.keys() - self._loaded)

    def load(self, languages: frozenset[str]) -> None:
        """Load dictionaries. This blocks, and any thread may do it."""
        for language in sorted(languages):
            import_module(_MODULES[language])
        self._loaded |= languages
