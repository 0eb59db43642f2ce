"""Settings from the environment, and errors at the start."""

from pathlib import Path

import pytest

from kokoro_server.__main__ import main
from kokoro_server.settings import Settings, SettingsError


def test_settings_come_from_the_environment_and_the_option_wins() -> None:
    """Guards against a setting that has no effect, and against reading unrelated variables."""
    env = {"KOKORO_MODEL_DIR": "/a", "KOKORO_THREADS": "3", "PATH": "/bin"}
    assert Settings.from_environment(env).model_dir == Path("/a")
    assert Settings.from_environment(env).threads == 3
    assert Settings.from_environment(env, Path("/b")).model_dir == Path("/b")


@pytest.mark.parametrize(
    ("env", "mentions"),
    [
        ({}, ["KOKORO_MODEL_DIR", "not set"]),
        ({"KOKORO_MODEL_DIR": "/a", "KOKORO_TREADS": "2"}, ["KOKORO_TREADS", "KOKORO_THREADS"]),
        ({"KOKORO_MODEL_DIR": "/a", "KOKORO_THREADS": "0"}, ["KOKORO_THREADS", "0", "1"]),
        ({"KOKORO_MODEL_DIR": "/a", "KOKORO_THREADS": "two"}, ["KOKORO_THREADS", "two"]),
        ({"KOKORO_MODEL_DIR": "/a", "KOKORO_SHUTDOWN_S": "40"}, ["KOKORO_SHUTDOWN_S", "30"]),
        (
            {"KOKORO_MODEL_DIR": "/a", "KOKORO_ADMISSION_HEADROOM": "-1"},
            ["KOKORO_ADMISSION_HEADROOM", "-1", "0"],
        ),
        (
            {"KOKORO_MODEL_DIR": "/a", "KOKORO_ADMISSION_HEADROOM": "inf"},
            ["KOKORO_ADMISSION_HEADROOM", "inf"],
        ),
        (
            {"KOKORO_MODEL_DIR": "/a", "KOKORO_METRICS_NAMESPACE": "VoiceAgent"},
            ["KOKORO_METRICS_NAMESPACE", "KOKORO_ENDPOINT_NAME"],
        ),
        (
            {"KOKORO_MODEL_DIR": "/a", "KOKORO_EXECUTION_PROVIDER": "gpu"},
            ["KOKORO_EXECUTION_PROVIDER", "cpu", "cuda"],
        ),
    ],
)
def test_wrong_settings_are_named(env: dict[str, str], mentions: list[str]) -> None:
    """Guards against a misspelt setting that silently has no effect."""
    with pytest.raises(SettingsError) as caught:
        Settings.from_environment(env)
    assert all(word in str(caught.value) for word in mentions)


def test_what_is_wrong_at_the_start_is_one_line_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Guards against a traceback for a wrong variable or an empty model directory."""
    monkeypatch.setenv("KOKORO_TREADS", "2")
    assert main(["serve", "--port", "0"]) == 2
    message = capsys.readouterr().err
    assert "KOKORO_TREADS" in message
    assert "KOKORO_MODEL_DIR" in message
    monkeypatch.delenv("KOKORO_TREADS")
    assert main(["serve", "--port", "0", "--model-dir", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "mentions"),
    [
        (b'[en]\nnginx = "/t\xe2\x82\xac/"', ["line 2", "nginx"]),
        (b"\xff\xfe", ["cannot be read", "utf-8"]),
        (None, ["cannot be read", "No such file"]),
    ],
)
def test_a_wrong_lexicon_stops_the_start(
    content: bytes | None,
    mentions: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Guards against a deployment that says its names as if there were no lexicon."""
    (tmp_path / "voices").mkdir()
    (tmp_path / "voices" / "af_heart.bin").touch()
    file = tmp_path / "names.toml"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("KOKORO_LEXICON", str(file))
    assert main(["serve", "--port", "0", "--model-dir", str(tmp_path)]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    for word in ["KOKORO_LEXICON", str(file), *mentions]:
        assert word in message
