"""Voices that a deployment adds to those of the model: `NAME.npy` files in a folder."""

import hashlib
import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kokoro_voice.audio import Samples
from kokoro_voice.errors import VoiceFileError
from kokoro_voice.languages import LANGUAGES
from kokoro_voice.voices import MODEL_VOICES

SHAPES = ((510, 1, 256), (510, 256))
MAX_VALUE = 10.0
"""The greatest magnitude in a voice. Those of the model are at most 3.2."""
MIN_DEVIATION = 0.01
"""The least standard deviation of the values of a voice. That of the model's is at least 0.14."""
_NAME = re.compile(rf"[{''.join(LANGUAGES)}][fm]_[a-z0-9]{{1,30}}")


@dataclass(frozen=True)
class OwnVoice:
    """A voice from a file.

    Attributes:
        styles: The style for each number of phonemes, float32, shape (510, 256).
        sha256: The hash of the file.
    """

    styles: Samples
    sha256: str


def read_own_voices(folder: Path) -> dict[str, OwnVoice]:
    """Read the voices in `folder`, by their names. Files that do not end with `.npy` are ignored.

    Raises:
        VoiceFileError: The folder or a file cannot be read, or a file is not a voice.
    """
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == ".npy")
    except OSError as error:
        raise VoiceFileError(f"{folder} cannot be read: {error}") from None
    return {path.stem: _read(path) for path in files}


def _read(path: Path) -> OwnVoice:
    if not _NAME.fullmatch(path.stem):
        raise VoiceFileError(
            f"{path}: {path.stem!r} is not the name of a voice; give the letter of its language "
            f"({', '.join(LANGUAGES)}), f or m, and an underscore with a name in lower case, such "
            "as af_ann.npy"
        )
    if path.stem in MODEL_VOICES:
        raise VoiceFileError(f"{path}: the model has a voice of this name; give it another name")
    try:
        content = path.read_bytes()
        styles = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except (OSError, EOFError, ValueError) as error:
        raise VoiceFileError(f"{path}: not an array that numpy.save has written: {error}") from None
    if styles.shape not in SHAPES or styles.dtype.kind != "f":
        raise VoiceFileError(
            f"{path}: it contains {styles.dtype} of shape {styles.shape}; give float32 of shape "
            f"{' or '.join(map(str, SHAPES))}"
        )
    styles = styles.astype(np.float32).reshape(510, 256)
    if not np.isfinite(styles).all():
        raise VoiceFileError(f"{path}: it contains values that are not finite; export it again")
    if (greatest := float(np.abs(styles).max())) > MAX_VALUE:
        raise VoiceFileError(
            f"{path}: it contains the value {greatest:g}; a voice of Kokoro-82M has values from "
            f"-{MAX_VALUE:g} to {MAX_VALUE:g}"
        )
    if (deviation := float(styles.std())) < MIN_DEVIATION:
        raise VoiceFileError(
            f"{path}: its values have the standard deviation {deviation:g}; that of a voice of "
            f"Kokoro-82M is at least {MIN_DEVIATION:g}"
        )
    return OwnVoice(styles, hashlib.sha256(content).hexdigest())
