"""`python -m ops`: usage errors, and failures in words."""

import pytest
from botocore.config import Config

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
    text = capsys.readouterr().out
    assert "--env" in text
    assert f"example:\n  python -m ops {command} --env dev" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_environment_is_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--env", "tset"]) == 2
    assert "tset" in capsys.readouterr().err


def test_without_credentials_the_next_step_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for command in set(COMMANDS) - {"cost"}:
        assert main([command, "--env", "dev", "--region", "us-east-1"]) == 1
        captured = capsys.readouterr()
        assert captured.err.startswith("error: Unable to locate credentials\n→ log in")
        assert "aws sso login" in captured.err
        assert captured.out == ""


def test_an_unknown_profile_is_named_with_the_next_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert main(["preflight", "--env", "dev", "--region", "us-east-1"]) == 1
    error = capsys.readouterr().err
    assert "nobody" in error
    assert "aws configure list-profiles" in error


CONFIGURATIONS = {
    "[profile x]\nsso_session = s\nsso_account_id = 111122223333\nsso_role_name = r\n"
    "[sso-session s]\nsso_region = us-east-1\nsso_start_url = https://example.com/start\n": (
        "aws sso login"
    ),
    "[profile x]\nsso_session = s\nsso_account_id = 111122223333\nsso_role_name = r\n": (
        "AWS_CONFIG_FILE"
    ),
    "this is not a configuration": "AWS_CONFIG_FILE",
}


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=["no-token", "no-session", "garbled"])
@pytest.mark.parametrize("command", ["preflight", "orphans"])
def test_an_unusable_configuration_is_named_with_the_next_step(
    command: str,
    configuration: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """botocore names the missing token or the file, but not what to do."""
    file = tmp_path / "config"
    file.write_text(configuration)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "x")
    assert main([command, "--env", "dev", "--region", "us-east-1"]) == 1
    error, next_step = capsys.readouterr().err.splitlines()
    assert error.startswith("error: ")
    assert next_step.startswith("→ ")
    assert CONFIGURATIONS[configuration] in next_step


def test_an_address_without_a_listener_names_the_variable_behind_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A variable left from another project makes AWS look unreachable."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:9")
    monkeypatch.setattr("ops.aws._CONFIG", Config(retries={"total_max_attempts": 1}))
    assert main(["preflight", "--env", "dev", "--region", "us-east-1"]) == 1
    error, next_step = capsys.readouterr().err.splitlines()
    assert "http://127.0.0.1:9" in error
    assert "AWS_ENDPOINT_URL_STS" in next_step


def test_without_a_region_nothing_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    """botocore would go on without one and fail in each service's own words."""
    assert main(["orphans", "--env", "dev"]) == 2
    assert "--region" in capsys.readouterr().err


def test_an_endpoint_url_that_is_none_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "nonsense")
    assert main(["preflight", "--env", "dev", "--region", "us-east-1"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: Invalid endpoint: nonsense")
    assert "AWS_ENDPOINT_URL" in error


@pytest.mark.parametrize("variable", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_a_region_that_does_not_exist_is_named_with_its_source(
    variable: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands would wait for an address that does not exist."""
    monkeypatch.setenv(variable, "eu-centrl-1")
    assert main(["preflight", "--env", "dev"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {variable}")
    assert "'eu-centrl-1'" in error
    assert "eu-central-1" in error


def test_costs_need_neither_credentials_nor_a_region(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert main(["cost", "--env", "dev"]) == 0
    assert "ml.c7i.xlarge" in capsys.readouterr().out


def test_the_settings_region_cannot_be_contradicted() -> None:
    """`--delete` in the wrong Region would be a mistake nobody sees."""
    settings = load("dev").model_copy(update={"region": "eu-central-1"})
    assert connect(settings).region == "eu-central-1"
    with pytest.raises(OpsError, match="eu-central-1"):
        connect(settings, "us-east-1")


DEV = ("--env", "dev")

MISTAKES: list[tuple[list[str], list[str]]] = [
    ([], ["no command", *COMMANDS]),
    (["preflihgt", *DEV], ["'preflihgt'", "did you mean 'preflight'?", *COMMANDS]),
    (["deploy", *DEV], ["'deploy'", *COMMANDS]),
    ([*DEV, "cost"], ["'--env'", "the command comes first", *COMMANDS]),
    (["cost"], ["--env is missing", "dev, prod, staging"]),
    (["cost", "--env"], ["--env", "expected one argument"]),
    (["cost", "--env", "tset"], ["'tset'", "dev, prod, staging"]),
    (["cost", "--env", ""], ["''", "dev, prod, staging"]),
    (["cost", "--env", "../dev"], ["'../dev'", "dev, prod, staging"]),
    (["cost", *DEV, "prod"], ["'prod'", "--turns"]),
    (["cost", *DEV, "--tuns", "3"], ["'--tuns'", "did you mean '--turns'?"]),
    # An abbreviation of --delete must not delete.
    (["orphans", *DEV, "--del"], ["'--del'", "did you mean '--delete'?"]),
    (["preflight", *DEV, "--region", "Frankfurt"], ["--region", "'Frankfurt'", "eu-central-1"]),
    (["preflight", *DEV, "--region", ""], ["--region", "''", "eu-central-1"]),
    (["preflight", *DEV, "--region", "eu-centrl-1"], ["'eu-centrl-1'", "eu-central-1"]),
    (["cost", *DEV, "--region", "eu-centrl-1"], ["'eu-centrl-1'", "eu-central-1"]),
    (["smoke", *DEV, "--wait", "-5"], ["--wait", "'-5'", "0 or more"]),
    (["smoke", *DEV, "--wait", "1h"], ["--wait", "'1h'", "0 or more"]),
    (["smoke", *DEV, "--wait", "inf"], ["--wait", "'inf'", "0 or more"]),
    (["smoke", *DEV, "--qualifier", "a-b"], ["--qualifier", "'a-b'", "letter"]),
    (["presign", *DEV, "--session", "short"], ["--session", "'short'", "33 to 256"]),
    (["presign", *DEV, "--expires", "0"], ["--expires", "'0'", "from 1 to 300"]),
    (["presign", *DEV, "--expires", "900"], ["--expires", "'900'", "from 1 to 300"]),
    (["presign", *DEV, "--expires", "9" * 5000], ["--expires", "from 1 to 300"]),
    (["capacity", *DEV, "--endpoint", ""], ["--endpoint", "''", "1 to 63"]),
    (["capacity", *DEV, "--utterances", "0"], ["--utterances", "'0'", "1 or more"]),
    (["capacity", *DEV, "--conversations", "-3"], ["--conversations", "'-3'", "1 or more"]),
    (["capacity", *DEV, "--talk-ratio", "40"], ["--talk-ratio", "'40'", "below 1"]),
    (["capacity", *DEV, "--overload", "nan"], ["--overload", "'nan'", "below 1"]),
    (["capacity", *DEV, "--headroom", "20%"], ["--headroom", "'20%'", "below 1"]),
    *(
        (["capacity", *DEV, "--ladder", ladder], ["--ladder", repr(ladder), "1,2,4"])
        for ladder in ("", "0", "2,1", "1,1", "a", "²")
    ),
    (["cost", *DEV, "--turns", "0"], ["--turns", "'0'", "1 or more"]),
    (["cost", *DEV, "--turns", "2.5"], ["--turns", "'2.5'", "whole number"]),
    (["cost", *DEV, "--turn-s", "0"], ["--turn-s", "'0'", "above 0"]),
    (["cost", *DEV, "--turn-s", "nan"], ["--turn-s", "'nan'", "above 0"]),
    (["cost", *DEV, "--input-tokens", "-1"], ["--input-tokens", "'-1'", "0 or more"]),
    (["cost", *DEV, "--vcpu", "-1"], ["--vcpu", "'-1'", "0 or more"]),
    (["cost", *DEV, "--memory-gb", "much"], ["--memory-gb", "'much'", "0 or more"]),
]


@pytest.mark.parametrize(
    ("arguments", "mentions"),
    [pytest.param(*mistake, id=" ".join(mistake[0])[:60]) for mistake in MISTAKES],
)
def test_a_mistake_is_one_message_and_exit_code_2(
    arguments: list[str], mentions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A list of all options, or a traceback, hides what was typed wrong and what is accepted."""
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    captured = capsys.readouterr()
    assert (code, captured.out) == (2, "")
    error, *next_step = captured.err.splitlines()
    assert error.startswith("error: ")
    assert [word for word in mentions if word not in error] == []
    assert all(line.startswith("→ ") for line in next_step)
    assert len(next_step) == 1


def test_the_help_lists_the_commands_and_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for word in (*COMMANDS, "python -m ops preflight --env dev", "exit codes"):
        assert word in text


def test_an_interrupted_command_ends_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C is how a long wait for an endpoint ends."""

    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ops.__main__.load", interrupted)
    assert main(["smoke", *DEV]) == 130
    assert capsys.readouterr().err == "interrupted\n"
