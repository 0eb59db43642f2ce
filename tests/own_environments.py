"""The environments in `tests/environments`, which take the place of those in `environments/`.

A team adapts the latter. This may fail the tests that are about these files, but no other test.
`python -m tests.own_environments` is `python -m ops` with the environments of the tests.
"""

import sys
from pathlib import Path

import pytest

from ops.__main__ import main
from stacks.settings import environment

SHIPPED = environment.ENVIRONMENTS
FOLDER = Path(__file__).parent / "environments"


def use_own_environments(patch: pytest.MonkeyPatch) -> None:
    """Let `load` and the commands find the environments of the tests."""
    patch.setattr(environment, "ENVIRONMENTS", FOLDER)


if __name__ == "__main__":
    with pytest.MonkeyPatch.context() as patch:
        use_own_environments(patch)
        sys.exit(main())
