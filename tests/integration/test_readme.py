"""Every local command of the README, as it stands there, but `make test` itself."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.supervisor import ROOT, Addresses
from tests.command import free_port, running

pytestmark = pytest.mark.timeout(300)

README = (ROOT / "README.md").read_text()
# What a command prints once it serves; these run until Ctrl-C.
SERVING = {"make demo": "Open http", "make serve": "Serving", "make container": '"listening"'}
NEEDS_AWS_OR_DOCKER = ("docker ", "cdk ", "aws ")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def local_commands() -> list[str]:
    lines = [line for block in blocks("sh") for line in block.replace("\\\n", " ").splitlines()]
    commands = [line.split("  #")[0].strip() for line in lines]
    local = [c for c in commands if c and not c.startswith(("#", *NEEDS_AWS_OR_DOCKER))]
    return sorted(set(local) - {"make test"})


@pytest.fixture
def run(tmp_path: Path) -> Iterator:
    with running(tmp_path) as start:
        yield start


@pytest.mark.parametrize("line", local_commands())
def test_the_command_does_what_the_readme_says(run, line: str) -> None:
    """A README that drifts from the Makefile loses its reader at the first line."""
    line = re.sub(r"PORT=\d+", f"PORT={free_port()}", line)
    serving = next((text for start, text in SERVING.items() if line.startswith(start)), None)
    written = [ROOT / name for name in re.findall(r"(?:OUT|JSON)=(\S+)", line)]
    command = run(*shlex.split(line))
    try:
        if serving is None:
            assert command.process.wait(280) == 0, command.output()
        else:
            command.wait_for(serving)
            os.killpg(command.process.pid, signal.SIGINT)
            command.process.wait(30)
        for path in written:
            assert path.stat().st_size > 0
    finally:
        command.stop()
        for path in written:
            path.unlink(missing_ok=True)
    assert "Traceback" not in command.output()
    assert command.left_behind() == []


def test_the_python_example_speaks(run, tmp_path: Path) -> None:
    """The example people copy must run against the agent as it is served locally."""
    (example,) = blocks("python")
    where = tmp_path / "addresses.json"
    serve = run("make", "serve", f"JSON={where}")
    serve.wait_for("Serving")
    addresses = Addresses.model_validate_json(where.read_text())
    script = tmp_path / "example.py"
    script.write_text(example.replace("http://127.0.0.1:8080", addresses.agent_url))
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "reply.wav").stat().st_size > 48_000


def test_the_readme_names_no_file_that_is_not_there() -> None:
    """Links into the repository rot silently."""
    for target in re.findall(r"\]\(((?!http)[^)#]+)", README):
        assert (ROOT / target).exists(), target
