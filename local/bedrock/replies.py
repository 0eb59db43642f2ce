"""What the Bedrock stand-in says, and how it is cut into tokens."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

_REPLIES_FILE = Path(__file__).with_name("replies.toml")
_LONG_WORD_CHARACTERS = 9  # the space before it counted


@dataclass(frozen=True)
class Reply:
    """A reply for prompts with one of its words; without words, for every prompt."""

    words: frozenset[str]
    text: str


def load_replies() -> list[Reply]:
    """Read `replies.toml`, in its order: the last one fits every prompt."""
    with _REPLIES_FILE.open("rb") as file:
        entries = tomllib.load(file)["reply"]
    return [Reply(frozenset(entry["words"]), entry["text"].strip()) for entry in entries]


def choose_reply(replies: list[Reply], prompt: str) -> str:
    """Return the text of the first reply that has a word of the prompt, or has no words."""
    spoken = set(re.findall(r"[a-z]+", prompt.lower()))
    return next(reply.text for reply in replies if not reply.words or reply.words & spoken)


def tokens(text: str) -> list[str]:
    """Cut a text as a model writes it: words with the space before them, long ones in two.

    The tokens together are the text.
    """
    cut: list[str] = []
    for word in re.findall(r"\s*\S+|\s+$", text):
        if len(word) > _LONG_WORD_CHARACTERS:
            middle = len(word) // 2
            cut += [word[:middle], word[middle:]]
        else:
            cut.append(word)
    return cut
