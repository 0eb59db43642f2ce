"""docs/operations.md: what the roles need, and how long the logs are kept, as in the templates."""

import re

from tests.infra.synthesis import ROOT, Synthesis
from tests.infra.test_least_privilege import MANAGED_POLICIES, listed, statements

DOCUMENT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def test_the_boundary_allows_what_the_roles_need(synthesis: Synthesis) -> None:
    """Guards against a boundary, made from the page, that stops a build or the agent."""
    _, _, section = DOCUMENT.partition("**Permissions boundary.**")
    section, _, _ = section.partition("\n## ")
    documented = set()
    for service, actions in re.findall(r"^\| `([a-z0-9-]+)` \| (.+) \|$", section, re.MULTILINE):
        documented |= {f"{service}:{action}" for action in re.findall(r"`([^`]+)`", actions)}
    needed = {
        action for _, statement in statements(synthesis) for action in listed(statement["Action"])
    }
    assert needed - documented == set()
    assert [name for name in MANAGED_POLICIES if name.split("/")[-1] not in section] == []


def test_the_retention_of_logs_is_documented(synthesis: Synthesis) -> None:
    """Guards against a page that promises logs which are already deleted."""
    _, _, section = DOCUMENT.partition("### Log retention")
    section, _, _ = section.partition("\n## ")
    days = {
        group.properties["RetentionInDays"] for group in synthesis.resources("AWS::Logs::LogGroup")
    }
    assert days
    assert [number for number in days if f" {number} days" not in section] == []
