"""Each environment's templates as they were accepted: whatever changes them is seen in review."""

import difflib
import json
import os
import re
from pathlib import Path

import pytest

from tests.infra.conftest import Assembly
from tests.infra.synthesis import ENVIRONMENT_NAMES, Synthesis

SNAPSHOTS = Path(__file__).parent / "snapshots"
SHOWN_LINES = 80


def normalized(synthesis: Synthesis) -> str:
    """The templates, without what changes with every line of the images' source."""
    text = json.dumps(synthesis.templates, indent=1, sort_keys=True) + "\n"
    sources = sorted(
        resource.properties["tagPrefix"].rstrip("-")
        for resource in synthesis.resources("Custom::CDKContainerImageBuild")
    )
    for source in sources:
        text = text.replace(source, "SOURCE")
    return re.sub(r"[0-9a-f]{64}", "ASSET", text)


@pytest.mark.parametrize("environment", ENVIRONMENT_NAMES)
def test_snapshot(assembly: Assembly, environment: str) -> None:
    """A dependency's update that replaces a resource looks like any other update."""
    path = SNAPSHOTS / f"{environment}.json"
    found = normalized(assembly(environment))
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(found)
    assert path.exists(), f"there is no snapshot of {environment}; run `make snapshots`"
    accepted = path.read_text()
    difference = list(
        difflib.unified_diff(
            accepted.splitlines(), found.splitlines(), "accepted", "now", n=4, lineterm=""
        )
    )
    left_out = len(difference) - SHOWN_LINES
    more = [f"… and {left_out} lines more"] if left_out > 0 else []
    assert not difference, "\n".join(
        [
            f"the templates of {environment} changed; run `make snapshots` if they should:",
            *difference[:SHOWN_LINES],
            *more,
        ]
    )


def test_every_snapshot_is_of_an_environment() -> None:
    """The snapshot of an environment that was removed, or renamed, looks like one in use."""
    left_over = [path for path in SNAPSHOTS.glob("*.json") if path.stem not in ENVIRONMENT_NAMES]
    if os.environ.get("UPDATE_SNAPSHOTS"):
        while left_over:
            left_over.pop().unlink()
    names = ", ".join(path.name for path in left_over)
    assert not left_over, f"run `make snapshots`, which deletes {names} of former environments"
