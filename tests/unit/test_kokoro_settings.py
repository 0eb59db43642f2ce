"""Settings from the environment, the voices of a model directory, and errors at the start."""

from pathlib import Path

import pytest

from kokoro_server.__main__ import main
from kokoro_server.engine import Engine, ModelError
from kokoro_server.messages import ProtocolError
from kokoro_server.settings import Settings, SettingsError
from kokoro_server.voices import Voices


def test_settings_come_from_the_environment_and_the_option_wins() -> None:
    """Guards against a setting that is read but not used, and against foreign variables."""
    env = {"KOKORO_MODEL_DIR": "/a", "KOKORO_THREADS": "3", "PATH": "/bin"}
    assert Settings.from_env(env).model_dir == Path("/a")
    assert Settings.from_env(env).threads == 3
    assert Settings.from_env(env, Path("/b")).model_dir == Path("/b")


@pytest.mark.parametrize(
    ("env", "mentions"),
    [
        ({}, ["KOKORO_MODEL_DIR", "not set"]),
        ({"KOKORO_MODEL_DIR": "/a", "KOKORO_TREADS": "2"}, ["KOKORO_TREADS", "KOKORO_THREADS"]),
        ({"KOKORO_MODEL_DIR": "/a", "KOKORO_THREADS": "0"}, ["KOKORO_THREADS", "0", "1"]),
        ({"KOKORO_MODEL_DIR": "/a", "KOKORO_THREADS": "two"}, ["KOKORO_THREADS", "two"]),
        ({"KOKORO_MODEL_DIR": "/a", "KOKORO_SHUTDOWN_S": "40"}, ["KOKORO_SHUTDOWN_S", "30"]),
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
        Settings.from_env(env)
    assert all(word in str(caught.value) for word in mentions)


def test_voices_of_a_directory_are_those_whose_language_is_served(tmp_path: Path) -> None:
    """Guards against offering a voice that cannot speak, or a path as a voice."""
    (tmp_path / "voices").mkdir()
    for name in ("bf_emma", "af_heart", "zf_xiaoxiao"):
        (tmp_path / "voices" / f"{name}.bin").touch()
    voices = Voices.in_directory(tmp_path, "af_heart")
    assert voices.names == ["af_heart", "bf_emma"]
    assert voices.resolve(None) == "af_heart"
    for name in ("zf_xiaoxiao", "../af_heart", "", "af_heart+nope", "AF_HEART"):
        with pytest.raises(ProtocolError, match="af_heart, bf_emma"):
            voices.resolve(name)


def test_a_default_voice_that_is_missing_is_an_error_at_the_start(tmp_path: Path) -> None:
    """Guards against a server that is healthy and refuses every request."""
    with pytest.raises(ProtocolError, match="af_heart"):
        Voices.in_directory(tmp_path, "af_heart")


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


def test_an_incomplete_model_directory_is_named(tmp_path: Path) -> None:
    """Guards against an exception that does not say which file is wrong."""
    with pytest.raises(ModelError, match=r"vocab\.json"):
        Engine(tmp_path, threads=1)
    (tmp_path / "vocab.json").write_text('{"a": 1}')
    with pytest.raises(ModelError, match=r"kokoro-v1\.0\.fp32\.onnx"):
        Engine(tmp_path, threads=1)
    (tmp_path / "kokoro-v1.0.fp32.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"kokoro-v1\.0\.fp32\.onnx"):
        Engine(tmp_path, threads=1)
