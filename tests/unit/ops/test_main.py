"""`python -m ops`: usage errors, and failures in words."""

import pytest

from ops.__main__ import main
from ops.aws import OpsError, connect
from stacks.settings import load


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))


COMMANDS = ("preflight", "smoke", "presign", "capacity", "cost", "orphans")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert "--env" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_environment_is_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--env", "tset"]) == 2
    assert "tset" in capsys.readouterr().err


def test_without_credentials_the_next_step_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preflight", "--env", "dev", "--region", "us-east-1"]) == 1
    assert "aws sso login" in capsys.readouterr().err


def test_without_a_region_nothing_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    """botocore would go on without one and fail in each service's own words."""
    assert main(["orphans", "--env", "dev"]) == 1
    assert "--region" in capsys.readouterr().err


def test_costs_need_neither_credentials_nor_a_region(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "--env", "dev"]) == 0
    assert "ml.c7i.xlarge" in capsys.readouterr().out


def test_the_settings_region_cannot_be_contradicted() -> None:
    """`--delete` in the wrong Region would be a mistake nobody sees."""
    settings = load("dev").model_copy(update={"region": "eu-central-1"})
    assert connect(settings).region == "eu-central-1"
    with pytest.raises(OpsError, match="eu-central-1"):
        connect(settings, "us-east-1")


@pytest.mark.parametrize("ladder", ["", "0", "2,1", "1,1", "a"])
def test_a_ladder_goes_up(ladder: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["capacity", "--env", "dev", "--ladder", ladder])
    assert ended.value.code == 2
