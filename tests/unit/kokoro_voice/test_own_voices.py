"""Voices that a team brings: what is accepted, and what the error says."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from kokoro_voice.errors import VoiceFileError
from kokoro_voice.own_voices import SHAPES, read_own_voices
from kokoro_voice.voices import Voices

STYLES = np.random.default_rng(0).normal(0, 0.2, (510, 1, 256)).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_voice_is_read(tmp_path: Path, shape: tuple[int, ...]) -> None:
    """Guards against a voice that is served with other numbers than those in its file."""
    path = tmp_path / "af_ann2.npy"
    np.save(path, STYLES.reshape(shape))
    (tmp_path / "README.md").write_text("Not a voice.")
    ((name, voice),) = read_own_voices(tmp_path).items()
    assert name == "af_ann2"
    assert np.array_equal(voice.styles, STYLES[:, 0])
    assert voice.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def changed(value: float) -> np.ndarray:
    styles = STYLES.copy()
    styles[7, 0, 7] = value
    return styles


@pytest.mark.parametrize(
    ("name", "content", "mentions"),
    [
        ("ann", STYLES, ["'ann'", "such as af_ann.npy"]),
        ("af_Ann", STYLES, ["'af_Ann'", "lower case"]),
        ("xf_ann", STYLES, ["'xf_ann'", "a, b, e, f, h, i, j, p, z"]),
        ("af_heart", STYLES, ["another name"]),
        ("af_ann", STYLES[:500], ["(500, 1, 256)", "(510, 1, 256) or (510, 256)"]),
        ("af_ann", STYLES.astype(int), ["int64", "float32"]),
        ("af_ann", changed(np.nan), ["not finite"]),
        ("af_ann", changed(-11.5), ["11.5", "-10 to 10"]),
        ("af_ann", STYLES * 0, ["deviation 0", "0.01"]),
        ("af_ann", np.array([{}], dtype=object), ["allow_pickle"]),
        ("af_ann", b"PK text", ["numpy.save"]),
        ("af_ann", b"", ["numpy.save"]),
    ],
)
def test_what_is_not_a_voice_is_refused(
    tmp_path: Path, name: str, content: np.ndarray | bytes, mentions: list[str]
) -> None:
    """Guards against a voice that is noise, and against code in a file that is executed."""
    path = tmp_path / f"{name}.npy"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content, allow_pickle=True)
    with pytest.raises(VoiceFileError) as caught:
        read_own_voices(tmp_path)
    assert [word for word in [str(path), *mentions] if word not in str(caught.value)] == []


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Guards against a mount that failed and voices that are missing in silence."""
    with pytest.raises(VoiceFileError, match="nowhere"):
        read_own_voices(tmp_path / "nowhere")


def test_an_own_voice_is_served_and_mixed(tmp_path: Path) -> None:
    """Guards against a voice that is read and cannot be named."""
    voices = Voices.in_directory(tmp_path, "af_ann", ["af_ann", "af_eve"])
    assert voices.resolve("af_ann+af_eve").language == "en-us"
