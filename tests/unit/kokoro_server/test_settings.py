"""Settings from the environment, the voices of a model directory, and errors at the start."""

from pathlib import Path

import pytest

from kokoro_server.__main__ import main
from kokoro_server.messages import ProtocolError
from kokoro_server.settings import Settings, SettingsError
from kokoro_voice.engine import Engine
from kokoro_voice.errors import ModelError
from kokoro_voice.voices import Voices


def test_settings_come_from_the_environment_and_the_option_wins() -> None:
    """Guards against a setting that is read but not used, and against foreign variables."""
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


def test_voices_of_a_directory_are_those_whose_language_is_served(tmp_path: Path) -> None:
    """Guards against offering a voice that cannot speak, or a path as a voice."""
    (tmp_path / "voices").mkdir()
    for name in ("bf_emma", "af_heart", "zf_xiaoxiao"):
        (tmp_path / "voices" / f"{name}.bin").touch()
    voices = Voices.in_directory(tmp_path, "af_heart")
    assert voices.names == ["af_heart", "bf_emma"]
    assert voices.resolve(None).name == "af_heart"
    for name in ("zf_xiaoxiao", "../af_heart", "", "af_heart+nope", "AF_HEART"):
        with pytest.raises(ProtocolError, match="af_heart, bf_emma"):
            voices.resolve(name)


MIXABLE = Voices(["af_bella", "af_sky", "bf_emma", "jf_alpha"], "af_sky")


@pytest.mark.parametrize(
    ("asked", "name", "parts"),
    [
        ("af_sky", "af_sky", {"af_sky": 1.0}),
        ("af_sky(3)", "af_sky", {"af_sky": 1.0}),
        ("af_bella(2)+af_sky(1)", "af_bella(2)+af_sky(1)", {"af_bella": 2 / 3, "af_sky": 1 / 3}),
        ("af_bella+af_sky(0.25)", "af_bella(1)+af_sky(0.25)", {"af_bella": 0.8, "af_sky": 0.2}),
        ("af_sky+af_bella+af_sky", "af_sky(2)+af_bella(1)", {"af_sky": 2 / 3, "af_bella": 1 / 3}),
    ],
)
def test_a_mix_is_weighted_and_named_so_that_its_name_asks_for_it_again(
    asked: str, name: str, parts: dict[str, float]
) -> None:
    """Guards against a mix louder than its parts, and a name that is refused when sent back."""
    voice = MIXABLE.resolve(asked)
    assert voice.name == name
    assert dict(voice.parts) == pytest.approx(parts)
    assert voice.language == "en-us"
    assert MIXABLE.resolve(name) == voice


@pytest.mark.parametrize(
    ("asked", "code", "mentions"),
    [
        ("af_sky+nobody(2)", "unknown_voice", ["'nobody'", "af_bella, af_sky, bf_emma"]),
        ("af_sky+", "unknown_voice", ["''"]),
        ("af_sky + af_bella", "unknown_voice", ["'af_sky '"]),
        ("af_sky+jf_alpha", "unknown_voice", ["Japanese"]),
        ("af_sky+bf_emma", "invalid", ["af_sky+bf_emma", "en-us and en-gb", "one language"]),
        ("af_sky+af_bella(0)", "invalid", ["af_bella(0)", "0.01 to 100"]),
        ("af_sky(-1)", "invalid", ["af_sky(-1)", "0.01 to 100"]),
        ("af_sky(nan)", "invalid", ["af_sky(nan)"]),
        ("af_sky(1e2)", "invalid", ["af_sky(1e2)"]),
        ("af_sky(0.33333)", "invalid", ["three decimals"]),
        ("af_sky()", "invalid", ["af_sky()"]),
        ("+".join(["af_sky"] * 9), "invalid", ["9", "at most 8"]),
        ("+" * 1_000_000, "invalid", ["1000001", "at most 8"]),
        ("af_sky(" + "1" * 1_000_000 + ")", "invalid", ["0.01 to 100"]),
    ],
)
def test_a_mix_that_cannot_be_made_is_refused_by_its_part(
    asked: str, code: str, mentions: list[str]
) -> None:
    """Guards against a mix that is spoken otherwise than asked, and against an echo of it all."""
    with pytest.raises(ProtocolError) as caught:
        MIXABLE.resolve(asked)
    assert caught.value.code == code
    assert all(word in caught.value.message for word in mentions)
    assert len(caught.value.message) < 300


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
    with pytest.raises(ModelError, match=r"prosody-cpu\.onnx"):
        Engine(tmp_path, threads=1)
    (tmp_path / "prosody-cpu.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelError, match=r"prosody-cpu\.onnx"):
        Engine(tmp_path, threads=1)
