"""The scripted replies of the Bedrock stand-in, and their division into tokens."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

_REPLIES_FILE = Path(__file__).with_name("replies.toml")
_LONG_WORD_CHARACTERS = 9  # including the space before the word


@dataclass(frozen=True)
class Reply:
    """A reply for prompts that contain one of its words.

    Attributes:
        words: The words, in lower case. A reply without words is for every prompt.
        text: The reply's text.
    """

    words: frozenset[str]
    text: str


def load_replies() -> list[Reply]:
    """Read `replies.toml`. The replies keep their order; the last one is for every prompt."""
    with _REPLIES_FILE.open("rb") as file:
        entries = tomllib.load(file)["reply"]
    return [Reply(frozenset(entry["words"]), entry["text"].strip()) for entry in entries]


def choose_reply(replies: list[Reply], prompt: str) -> str:
    """Return the text of the first reply that has a word of the prompt, or that has no words."""
    spoken = set(re.findall(r"[a-z]+", prompt.lower()))
    return next(reply.text for reply in replies if not reply.words or reply.words & spoken)


def tokens(text: str) -> list[str]:
    """Divide a text into tokens, as a model writes it.

    A token is a word with the space before it, or one half of a long word. Joined together, the
    tokens are the text.
    """
    divided: list[str] = []
    for word in re.findall(r"\s*\S+|\s+$", text):
        if len(word) > _LONG_WORD_CHARACTERS:
            middle = len(word) // 2
            divided += [word[:middle], word[middle:]]
        else:
            divided.append(word)
    return divided
