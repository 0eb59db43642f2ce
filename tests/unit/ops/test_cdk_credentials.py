"""`make cdk`: credentials and Region are checked before the CDK synthesizes in vain."""

from collections.abc import Iterator

import pytest
from moto import mock_aws

from ops.cdk_credentials import main
from stacks.settings import load


@pytest.fixture(autouse=True)
def no_account(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    for name in ("AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))


@pytest.fixture
def signed_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with mock_aws():
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        yield


@pytest.mark.parametrize("command", ["bootstrap", "deploy", "destroy", "diff"])
def test_without_credentials_the_next_step_is_printed(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The CDK says "Unable to resolve AWS account" after 15 seconds, and nothing else."""
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert main([command, "-c", "env=dev", "--all"]) == 1
    error, next_step = capsys.readouterr().err.splitlines()
    assert error == "error: Unable to locate credentials"
    assert next_step.startswith("→ log in (`aws sso login`)")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["list", "-c", "env=dev"],
        ["synth", "--quiet", "-c", "env=dev", "--output", "deploy"],
        ["deploy", "--all"],  # the app names the environments
        ["deploy", "--help", "-c", "env=dev"],
        [],
    ],
    ids=" ".join,
)
def test_what_needs_no_account_is_not_checked(arguments: list[str]) -> None:
    assert main(arguments) == 0


def test_without_a_region_nothing_is_guessed(
    signed_in: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The CDK would take us-east-1."""
    assert main(["deploy", "-c", "env=dev"]) == 2
    assert "no Region" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["deploy", "--region", "us-east-1", "-c", "env=dev"],
        ["-c", "env=dev", "deploy", "--region=us-east-1"],
        ["bootstrap", "aws://123456789012/us-east-1", "--context=env=dev"],
    ],
    ids=" ".join,
)
def test_the_cdks_own_ways_of_naming_a_region_are_known(
    arguments: list[str], signed_in: None
) -> None:
    assert main(arguments) == 0


def test_a_profile_that_does_not_exist_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "")  # restored afterwards
    assert main(["diff", "--profile", "nobody", "--region", "us-east-1", "-c", "env=dev"]) == 1
    assert "aws configure list-profiles" in capsys.readouterr().err


def test_another_accounts_credentials_are_refused(
    signed_in: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load("dev").model_copy(update={"account": "111122223333"})
    monkeypatch.setattr("stacks.settings.load", lambda _: settings)
    assert main(["deploy", "--region", "us-east-1", "-c", "env=dev"]) == 1
    assert capsys.readouterr().err.splitlines()[1] == "→ use a profile of account 111122223333"


def test_an_unknown_environment_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["deploy", "-c", "env=tset"]) == 2
    assert "tset" in capsys.readouterr().err
