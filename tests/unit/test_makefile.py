"""The Makefile refuses wrong goals and variables, and shows that an installation goes on."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.documents import ROOT

pytestmark = pytest.mark.timeout(60)


def make(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def two_environments(tmp_path: Path) -> Path:
    """A folder with the Makefile and the environments `dev` and `prod`."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("environments/dev.toml", "environments/prod.toml", "node_modules/.stamp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def make_cdk(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # `-o`: do not install anything.
    return make("-n", "-o", "node_modules/.stamp", "cdk", *arguments, folder=folder)


@pytest.mark.parametrize("arguments", [["say", "Hello there"], ["say", "Hello", "there"]])
def test_a_text_that_is_not_in_a_variable_is_refused_at_once(arguments: list[str]) -> None:
    """`make say "Hello there"` spoke the default text, and failed afterwards."""
    done = make("-n", *arguments)
    assert done.returncode == 2
    assert 'write TEXT="Hello there"' in done.stderr
    assert done.stdout == ""


def test_an_unknown_goal_is_refused_before_the_known_ones_run() -> None:
    done = make("-n", "help", "sing")
    assert done.returncode == 2
    assert "there is no target sing; `make help` lists them" in done.stderr
    assert done.stdout == ""
    assert make("-n", "help", "lint", ".venv/bin/python").returncode == 0


def test_a_variable_that_make_does_not_know_is_named() -> None:
    """`make say TXT=…` would speak the default text without a word."""
    done = make("help", "TXT=Hello")
    assert done.returncode == 2
    assert "TXT is not a variable of this Makefile; `make help` lists them" in done.stderr
    assert "did you mean ENV?" in make("synth", "env=dev").stderr


@pytest.mark.parametrize(
    ("goal", "command"),
    [
        ("tests", "make test"),
        ("agent", "make serve"),
        ("local", "make say"),
        ("web", "make demo"),
        ("ops", ".venv/bin/python -m ops --help"),
        ("bench/engine.py", ".venv/bin/python -m bench.engine"),
        ("tests/", "make test"),
    ],
)
def test_a_folder_that_is_no_target_is_named(goal: str, command: str) -> None:
    """Make says "Nothing to be done" for a folder, as if the tests had passed."""
    done = make("-n", goal)
    assert done.returncode == 2
    assert f"is not a target of this Makefile; did you mean `{command}`?" in done.stderr


@pytest.mark.parametrize("arguments", [["ARGS=list"], []], ids=["list", "default"])
def test_env_reaches_the_cdk(two_environments: Path, arguments: list[str]) -> None:
    """An ENV that is ignored would show, or deploy, another environment."""
    done = make_cdk("ENV=prod", *arguments, folder=two_environments)
    assert "cdk list -c env=prod\n" in done.stdout
    assert "cdk list -c env=dev\n" in make_cdk(folder=two_environments).stdout


@pytest.mark.parametrize("arguments", [["ENV=prod", "ARGS=list -c env=dev"], ["ENV=dev prod"]])
def test_the_cdk_gets_one_environment(two_environments: Path, arguments: list[str]) -> None:
    done = make_cdk(*arguments, folder=two_environments)
    assert done.returncode == 2
    assert "make cdk needs one environment" in done.stderr


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder in which an installation takes seconds, and fails if there is a file `fail`."""
    text = (ROOT / "Makefile").read_text()
    (tmp_path / "Makefile").write_text(text.replace("HEARTBEAT_S := 10", "HEARTBEAT_S := 1"))
    for name in ("requirements-uv.txt", "requirements-local.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for program in (".uv/bin/uv", ".venv/bin/python"):
        path = tmp_path / program
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\necho $$ > pid\ntest ! -e fail && exec sleep 2.6\n")
        path.chmod(0o755)
    (tmp_path / ".venv/lib/python3.12/site-packages").mkdir(parents=True)
    return tmp_path


def test_an_installation_without_a_terminal_is_not_silent(checkout: Path) -> None:
    """A log showed nothing for a minute or more."""
    command = ["make", ".venv/local.stamp"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    beats = [line for line in done.stderr.splitlines() if line.startswith("still installing")]
    assert beats == ["still installing … 1 s", "still installing … 2 s"]
    assert (checkout / ".venv/local.stamp").exists()


def test_a_failed_installation_fails(checkout: Path) -> None:
    """The status of a pipe is that of its last command."""
    (checkout / "fail").touch()
    command = ["make", ".venv/local.stamp"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert not (checkout / ".venv/local.stamp").exists()


def test_ctrl_c_ends_the_heartbeat(checkout: Path) -> None:
    with (checkout / "log").open("w") as log:
        process = subprocess.Popen(
            ["make", ".venv/local.stamp"],
            cwd=checkout,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    deadline = time.monotonic() + 20
    while "still installing" not in (checkout / "log").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(10) != 0
    while time.monotonic() < deadline:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("a process has survived")


def test_synth_does_not_report_an_environment_that_the_app_refused(tmp_path: Path) -> None:
    """After an error in the settings, a second one said that manifest.json was missing."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("environments/bad.toml", "environments/good.toml", "node_modules/.stamp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    programs = {
        "node_modules/.bin/cdk": "mkdir -p cdk.out/bad cdk.out/good\n"
        'case "$*" in *env=bad*) exit 1;; esac\ntouch cdk.out/good/manifest.json\n',
        ".venv/bin/python": 'echo "$*"\n',
    }
    for name, script in programs.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{script}")
        path.chmod(0o755)
    # `-o`: do not install anything.
    command = ["make", "-o", "node_modules/.stamp", "synth"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == "-m stacks.nag_report cdk.out/good\n"
