"""Both clients alone: what is installed, and what importing them loads."""

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

AGENT = Path(__file__).parents[2] / "agent"
CLIENTS = ("speech_client", "voice_agent_client")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
IMPORT = """
import sys
sys.path.insert(0, ".")
import {name}
agents = {{"strands", "voice_agent", "bedrock_agentcore"}} & set(sys.modules)
sys.exit(f"loaded {{agents}}" if agents else 0)
"""


def run(*arguments: str, cwd: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", *arguments], cwd=cwd, capture_output=True, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def copy_of(name: str, folder: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(AGENT / name, folder / name, ignore=ignored))


@pytest.mark.parametrize("name", CLIENTS)
def test_the_wheel_holds_the_package_and_nothing_else(name: str, tmp_path: Path) -> None:
    """A module that is left out is missed by who installs the client, and by no test of ours."""
    source = copy_of(name, tmp_path)
    files = {f"{name}/{path.name}" for path in source.iterdir() if path.name != "pyproject.toml"}
    run(BUILD, str(tmp_path), cwd=source)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {path for path in archive.namelist() if ".dist-info/" not in path}
    assert held == files
    assert f"{name}/py.typed" in held


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_has_the_version_of_the_project(name: str) -> None:
    """The changelog lists the changes to the clients under the version of the project."""
    project, client = (
        tomllib.loads((folder / "pyproject.toml").read_text())["project"]["version"]
        for folder in (AGENT.parent, AGENT / name)
    )
    assert client == project


@pytest.mark.parametrize("name", CLIENTS)
def test_importing_a_client_loads_no_agent(name: str, tmp_path: Path) -> None:
    """The agent's framework takes seconds to import and has a hundred dependencies."""
    copy_of(name, tmp_path)
    run(IMPORT.format(name=name), cwd=tmp_path)
