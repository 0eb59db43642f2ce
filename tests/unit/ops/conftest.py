"""The commands run on environments of the tests' own."""

import os

import pytest

# The simulation of AWS would make some thousand machine images, which no command looks at.
os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"

from tests.own_environments import use_own_environments


@pytest.fixture(autouse=True)
def own_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    """`load("dev")` is `tests/environments/dev.toml`, also in the commands."""
    use_own_environments(monkeypatch)
