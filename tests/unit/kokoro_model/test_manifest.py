"""The manifest decides which bytes are trusted, so a slip in it must not pass unseen."""

from pathlib import Path

import pytest

from kokoro_model.errors import ModelBuildError
from kokoro_model.manifest import MANIFEST_PATH, default_model_dir, load_manifest


def edited_manifest(tmp_path: Path, old: str, new: str) -> Path:
    content = MANIFEST_PATH.read_text("utf-8")
    assert old in content
    path = tmp_path / "manifest.toml"
    path.write_text(content.replace(old, new, 1), "utf-8")
    return path


def test_shipped_manifest_names_both_sources() -> None:
    """Each source must be able to produce graph, voices and vocabulary by itself."""
    manifest = load_manifest()
    for source in ("packages", "release"):
        assert {file.role for file in manifest.files(source)} == {"graph", "voices", "vocabulary"}
        assert manifest.graph(source).name == "kokoro-v1.0.fp32.onnx"
    assert manifest.voices == 54


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("voices = 54", "voices = 54\nvioces = 55", "vioces: Extra inputs"),
        ('role = "voices"', 'role = "voices"\nurl = "http://x"', "file.5.url: Extra inputs"),
        ("size_bytes = 2899630", "size_bytes = 0", "file.0.size_bytes"),
        ('sha256 = "ef0da4f5', 'sha256 = "EF0DA4F5', "file.0.sha256"),
        ('"kokoro-js-1.2.1.tgz"', '"../kokoro-js-1.2.1.tgz"', "file.5.name"),
        ('role = "vocabulary"', 'role = "graph"', "source 'packages' has no file for vocabulary"),
        ('source = "release"', 'source = "packages"', "needs exactly one output"),
        ("voices = 54", "voices = = 54", "not valid TOML"),
    ],
)
def test_a_slip_in_the_manifest_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    """A mistyped key that is ignored, or a path that leaves the folder, must fail the build."""
    with pytest.raises(ModelBuildError) as raised:
        load_manifest(edited_manifest(tmp_path, old, new))
    assert message in str(raised.value)


def test_cache_variables_decide_the_default_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two sources, or two manifests, must never share a directory; $FIRST_SENTENCE_CACHE wins."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("FIRST_SENTENCE_CACHE", str(tmp_path / "own"))
    assert default_model_dir().parent == tmp_path / "own"
    assert default_model_dir("release") != default_model_dir("packages")
    monkeypatch.delenv("FIRST_SENTENCE_CACHE")
    assert default_model_dir().parent == tmp_path / "xdg" / "first-sentence"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_model_dir().parent == Path.home() / ".cache" / "first-sentence"
