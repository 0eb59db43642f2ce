"""Fixtures that several kinds of tests share."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Some tests run ONNX Runtime themselves; it must know before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
# `make test` would make every `make` that a test starts a part of itself, which prints its folder.
for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
    os.environ.pop(name, None)

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def model_dir() -> Path:
    """The real model, from the default cache; built, or checked, by the command users have."""
    result = subprocess.run(
        [sys.executable, "-m", "kokoro_model"],
        cwd=ROOT / "container",
        stdout=subprocess.PIPE,
        text=True,
        timeout=900,
        check=False,
    )
    if result.returncode != 0:
        pytest.fail("`python -m kokoro_model` failed: its message is on stderr, above")
    return Path(result.stdout.splitlines()[-1])
