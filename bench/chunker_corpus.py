"""Print sentences in eight languages from installed packages as JSON; run by ``bench.chunker``.

There are two sources. In both, what a sentence is does not depend on any rule under test:

- utterances of chatterbot-corpus (BSD) whose last character is their only stop before white space;
- Django's translations (BSD) of messages that are one sentence in English, with all abbreviations
  and quotations that the translators put inside.
"""

import gettext
import json
import re
from pathlib import Path

import chatterbot_corpus
import django
import yaml

LANGUAGES = {
    "en": ("english", None),
    "es": ("spanish", "es"),
    "fr": ("french", "fr"),
    "hi": ("hindi", "hi"),
    "it": ("italian", "it"),
    "ja": ("japanese", "ja"),
    "pt": ("portuguese", "pt_BR"),
    "zh": ("chinese", "zh_Hans"),
}
ONE_SENTENCE = re.compile(r"(?:[^.!?…。！？।|\n]|\.(?=[A-Za-z0-9])){12,}[.!?。！？।]")
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]")


def utterances(name: str) -> list[str]:
    """Return the utterances in a language's dialogs that are certainly one sentence."""
    files = sorted((Path(chatterbot_corpus.__file__).parent / "data" / name).glob("*.yml"))
    talks = [yaml.safe_load(file.read_text(encoding="utf-8"))["conversations"] for file in files]
    lines = [" ".join(str(line).split()) for file in talks for talk in file for line in talk]
    return [line for line in lines if ONE_SENTENCE.fullmatch(line)]


def messages(locale: str) -> list[str]:
    """Return the translations of Django's one-sentence messages."""
    found = []
    pattern = f"**/locale/{locale}/LC_MESSAGES/django.mo"
    for file in sorted(Path(django.__file__).parent.glob(pattern)):
        with file.open("rb") as catalog:
            pairs = gettext.GNUTranslations(catalog)._catalog  # type: ignore[attr-defined]
        for message, translation in pairs.items():
            if not (isinstance(message, str) and isinstance(translation, str)):
                continue
            line = PLACEHOLDER.sub("42", translation)
            ended = re.fullmatch(r"[^\n<%。！？।]{12,}[.!?。！？।]", line)
            if ended and ONE_SENTENCE.fullmatch(PLACEHOLDER.sub("42", message)):
                found.append(line)
    return found


if __name__ == "__main__":
    corpus = {
        code: {"utterances": utterances(name), "messages": messages(locale) if locale else []}
        for code, (name, locale) in LANGUAGES.items()
    }
    print(json.dumps(corpus))
