"""Words from their pronunciation to the times at which they are heard."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kokoro_voice.audio import SAMPLE_RATE_HZ
from kokoro_voice.windows import FRAME_SAMPLES

# Measured at 38 pauses of six voices at two speeds: speech resumed 0.05 s before the durations say
# that the next word begins (5th to 95th percentile 0.02 to 0.08 s), and had stopped 0.05 s after
# the last phoneme of the word before begins (0.02 to 0.10 s), however long its duration was.
_EARLY_FRAMES = 2
"""How much earlier a sound is heard than the durations say."""
_LAST_SOUND_FRAMES = 4
"""How long the sound before a pause is heard at most; the rest of its duration is the pause."""


@dataclass(frozen=True)
class PronouncedWord:
    """A word and how it is pronounced."""

    text: str
    """As it was written, with its punctuation. Empty for the rest of a word that was cut."""
    phonemes: str
    """In Kokoro's alphabet, with the punctuation and the blank that follow; perhaps nothing."""


@dataclass(frozen=True)
class WordTime:
    """A word, with its punctuation, and when it is heard in the audio of its sentence."""

    text: str
    start_s: float
    end_s: float


def phonemes_of(words: Iterable[PronouncedWord]) -> str:
    """What the model speaks for `words`: their phonemes joined, without a blank at the end."""
    return "".join(word.phonemes for word in words).rstrip()


def split(words: Iterable[PronouncedWord], limit: int) -> Iterator[list[PronouncedWord]]:
    """Split `words` into runs of at most `limit` phonemes, losing nothing but blanks at a cut.

    A longer word is cut where it has a blank, else at the limit.
    """
    run: list[PronouncedWord] = []
    for word in words:
        rest = word
        length = sum(len(before.phonemes) for before in run)
        if run and length + len(word.phonemes.rstrip()) > limit:
            yield run
            run = []
        while len(rest.phonemes.rstrip()) > limit:
            cut = rest.phonemes.rfind(" ", 1, limit + 1)
            if cut == -1:
                cut = limit
            yield [PronouncedWord(rest.text, rest.phonemes[:cut])]
            rest = PronouncedWord("", rest.phonemes[cut:].lstrip())
        run.append(rest)
    if run:
        yield run


def word_times(
    words: Sequence[PronouncedWord],
    token_frames: npt.NDArray[np.int64],
    dropped_samples: int,
) -> list[WordTime]:
    """When each word is heard.

    A word lasts from its first sound to the end of its last one, without the pause after it. A
    word without a sound goes with the word before, or, at the beginning, with the next.

    Args:
        words: whose `phonemes_of` was spoken.
        token_frames: the model's durations of a token of padding, each phoneme and a token of
            padding, in frames; shape (phonemes + 2,).
        dropped_samples: how much of the model's audio, in front, is not sent.

    Returns:
        Words in their order, no start before the end of the word before. Times count from the
        beginning of the audio that is sent.
    """
    phonemes = phonemes_of(words)
    # Phoneme p is token p + 1: it begins where token p ends.
    begins = np.cumsum(token_frames) - _EARLY_FRAMES
    times: list[WordTime] = []
    silent = ""
    position = 0
    for word in words:
        sounds = [position + i for i, phoneme in enumerate(word.phonemes) if _is_sound(phoneme)]
        position += len(word.phonemes)
        if sounds and word.text:
            first, last = sounds[0], sounds[-1]
            end = begins[last + 1]
            if phonemes[last + 1 : last + 2] != " ":
                end = min(end, begins[last] + _LAST_SOUND_FRAMES)
            begin_s, end_s = (
                max(0, frame * FRAME_SAMPLES - dropped_samples) / SAMPLE_RATE_HZ
                for frame in (begins[first], end)
            )
            text = f"{silent} {word.text}".lstrip()
            silent = ""
            times.append(WordTime(text, float(begin_s), float(end_s)))
        elif times:
            text = f"{times[-1].text} {word.text}".rstrip()
            times[-1] = replace(times[-1], text=text)
        else:
            silent = f"{silent} {word.text}".lstrip()
    return times


def last_sound_frame(phonemes: str, token_frames: npt.NDArray[np.int64]) -> int:
    """The frame in which the last sound begins: silence before it is a pause, not the end.

    Args:
        phonemes: at least one of them a sound.
        token_frames: as `word_times` takes them.
    """
    return int(token_frames[: last_sound(phonemes) + 1].sum()) - _EARLY_FRAMES


def last_sound(phonemes: str) -> int:
    """The place of the last of `phonemes` that is a sound; there is one."""
    return max(i for i, phoneme in enumerate(phonemes) if _is_sound(phoneme))


def _is_sound(phoneme: str) -> bool:
    """Whether it is a letter, or a mark on one: not punctuation, a blank or an intonation arrow."""
    return unicodedata.category(phoneme)[0] in "LM"
