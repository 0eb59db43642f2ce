"""The commands run on environments of the tests' own."""

import pytest

from tests.own_environments import use_own_environments


@pytest.fixture(autouse=True)
def own_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    """`load("dev")` is `tests/environments/dev.toml`, also in the commands."""
    use_own_environments(monkeypatch)
