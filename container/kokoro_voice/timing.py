"""The pronunciation of words, and the times at which they are heard."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kokoro_voice.audio import SAMPLE_RATE_HZ
from kokoro_voice.windows import FRAME_SAMPLES

# Measured at 38 pauses of six voices at two speeds. Speech resumed 0.05 s before the start of the
# next word according to the durations (5th to 95th percentile 0.02 to 0.08 s). It had stopped
# 0.05 s after the start of the last phoneme before the pause (0.02 to 0.10 s), whatever the
# duration of that phoneme.
_EARLY_FRAMES = 2
"""How much earlier a sound is heard than the durations say."""
_LAST_SOUND_FRAMES = 4
"""The longest time for which the sound before a pause is heard. The rest of its duration is the
pause."""


@dataclass(frozen=True)
class PronouncedWord:
    """A word and how it is pronounced."""

    text: str
    """The word as written, with its punctuation. If `split` cuts a word, the first section has the
    text, and the others have `""`."""
    phonemes: str
    """Phonemes in Kokoro's alphabet, followed by their punctuation and a blank. May be empty."""
    after: str = " "
    """What follows the word where it is written: a blank, or nothing, as in Japanese."""

    @property
    def written(self) -> str:
        """The word as written, with what follows it."""
        return self.text and self.text + self.after

    @property
    def is_unspoken(self) -> bool:
        """Whether the word has a letter or digit, but no sound."""
        return any(map(str.isalnum, self.text)) and not has_sound(self.phonemes)


@dataclass(frozen=True)
class WordTime:
    """A word, and when it is heard in the audio of its sentence."""

    text: str
    """The word with its punctuation and the blank that follows it, if the language has one."""
    start_s: float
    end_s: float


def phonemes_of(words: Iterable[PronouncedWord]) -> str:
    """Join the phonemes of `words` to the model's input, without a blank at the end."""
    return "".join(word.phonemes for word in words).rstrip()


def has_sound(phonemes: str) -> bool:
    """Whether `phonemes` are more than punctuation and blanks."""
    return any(map(_is_sound, phonemes))


def split(words: Iterable[PronouncedWord], limit: int) -> Iterator[list[PronouncedWord]]:
    """Split `words` into runs of at most `limit` phonemes. Only blanks at a cut are dropped.

    A word with more phonemes than that is cut at a blank if it has one, and otherwise at the limit.
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
            yield [replace(rest, phonemes=rest.phonemes[:cut])]
            rest = replace(rest, text="", phonemes=rest.phonemes[cut:].lstrip())
        run.append(rest)
    if run:
        yield run


def word_times(
    words: Sequence[PronouncedWord],
    token_frames: npt.NDArray[np.int64],
    dropped_samples: int,
    speed: float = 1.0,
) -> list[WordTime]:
    """Calculate when each word is heard.

    A word lasts from the start of its first sound to the end of its last one, without the pause
    that follows. A word without a sound is joined to the previous word, or to the next one if it
    is the first.

    Args:
        words: The spoken words; `phonemes_of` them was the model's input.
        token_frames: The model's durations of the padding, each phoneme and the padding, in
            frames; shape (phonemes + 2,).
        dropped_samples: The number of samples at the front of the model's audio that are not sent.
        speed: How much faster than the model's audio the sent audio is.

    Returns:
        The words in order; none starts before the previous one ends. Their texts add up to the
        text of `words`. Times count from the beginning of the audio that is sent.
    """
    phonemes = phonemes_of(words)
    # Phoneme p is token p + 1, so it begins where token p ends.
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
                max(0, frame * FRAME_SAMPLES - dropped_samples) / SAMPLE_RATE_HZ / speed
                for frame in (begins[first], end)
            )
            times.append(WordTime(silent + word.written, float(begin_s), float(end_s)))
            silent = ""
        elif times:
            times[-1] = replace(times[-1], text=times[-1].text + word.written)
        else:
            silent += word.written
    return times


def last_sound_frame(phonemes: str, token_frames: npt.NDArray[np.int64]) -> int:
    """Return the first frame in which the last sound may be heard.

    Args:
        phonemes: Phonemes, at least one of which is a sound.
        token_frames: See `word_times`.
    """
    return int(token_frames[: last_sound(phonemes) + 1].sum()) - _EARLY_FRAMES


def last_sound(phonemes: str) -> int:
    """Return the index of the last sound in `phonemes`, which must contain one."""
    return max(i for i, phoneme in enumerate(phonemes) if _is_sound(phoneme))


def _is_sound(phoneme: str) -> bool:
    """Whether `phoneme` is a letter or a mark, not punctuation, a blank or an intonation arrow."""
    return unicodedata.category(phoneme)[0] in "LM"
