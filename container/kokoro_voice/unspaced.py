"""What the G2P of languages without blanks between words shares."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest

from kokoro_text.reading import LINK
from kokoro_voice.timing import PronouncedWord

_OPENERS = "“("
_GLOTTAL_STOP = "ʔ"


def words_between_links(
    text: str, words: Callable[[str], list[PronouncedWord]]
) -> list[PronouncedWord]:
    """Return the words of `text`, each with the punctuation around it, separated by blanks.

    Args:
        text: May contain links with phonemes, such as `[Kokoro](/kˈOkəɹO/)`. A link is a word.
        words: Splits text without links into words, and signs with their own punctuation marks as
            phonemes. The texts of the words add up to the text.
    """
    plain, *links = LINK.split(text)
    found = words(plain) if plain else []
    for linked, target, following in zip(links[::3], links[1::3], links[2::3], strict=True):
        found.append(PronouncedWord(linked, target.strip("/")))
        found += words(following) if following else []
    return list(_separated(_with_punctuation(found)))


def _with_punctuation(words: list[PronouncedWord]) -> list[PronouncedWord]:
    """Join each word with the openers before it, and with other signs and blanks after it."""
    joined: list[PronouncedWord] = []
    opener = PronouncedWord("", "")
    for word in words:
        has_sound = any(map(str.isalpha, word.phonemes))
        if word.phonemes and not has_sound and word.phonemes[-1] in _OPENERS:
            opener = PronouncedWord(opener.text + word.text, opener.phonemes + word.phonemes)
        elif has_sound or opener.text or not joined:
            joined.append(PronouncedWord(opener.text + word.text, opener.phonemes + word.phonemes))
            opener = PronouncedWord("", "")
        else:
            last = joined[-1]
            joined[-1] = PronouncedWord(last.text + word.text, last.phonemes + word.phonemes)
    return [*joined, opener] if opener.text else joined


def _separated(words: list[PronouncedWord]) -> Iterator[PronouncedWord]:
    """Put blanks between the words' phonemes, but not around a glottal stop, as misaki does."""
    for word, following in zip_longest(words, words[1:]):
        is_last = following is None or not word.phonemes
        glued = is_last or word.phonemes[-1] == _GLOTTAL_STOP
        if following is not None and following.phonemes[:1] == _GLOTTAL_STOP:
            glued = glued or word.phonemes[-1].isalpha()
        yield word if glued else replace(word, phonemes=f"{word.phonemes} ")
