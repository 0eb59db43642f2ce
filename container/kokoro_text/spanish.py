"""How Spanish is read aloud."""

from kokoro_text.reading import Rewriter


def rules(rewriter: Rewriter, language: str) -> None:
    """Apply the rules to the text of `rewriter`."""
