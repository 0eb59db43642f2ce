"""cdk-nag's AwsSolutions rules: nothing is open, and nothing is accepted that is not there."""

import pytest
from cdk_nag import AwsSolutionsChecks

from tests.infra.synthesis import Acknowledgement, Finding, Synthesis

RULES = "AwsSolutions-"


def covers(acknowledgement: Acknowledgement, finding: Finding) -> bool:
    return acknowledgement.rule == finding.rule and (
        finding.path == acknowledgement.path or finding.path.startswith(f"{acknowledgement.path}/")
    )


@pytest.fixture(scope="module")
def findings(synthesis: Synthesis) -> list[Finding]:
    return synthesis.findings(AwsSolutionsChecks())


def test_every_finding_is_acknowledged(synthesis: Synthesis, findings: list[Finding]) -> None:
    """A finding fails the deploy; here with the whole list, and for settings nobody deploys."""
    assert findings, "the rules did not run"
    open_findings = [
        finding
        for finding in findings
        if not any(covers(accepted, finding) for accepted in synthesis.acknowledgements)
    ]
    assert open_findings == []


def test_no_acknowledgement_is_stale(synthesis: Synthesis, findings: list[Finding]) -> None:
    """cdk-nag says nothing of one that matches nothing: misspelt, it hides that a rule is open;
    outlived, it will hide the next finding."""
    stale = [
        accepted
        for accepted in synthesis.acknowledgements
        if accepted.rule.startswith(RULES)
        and not any(covers(accepted, finding) for finding in findings)
    ]
    assert stale == []


def test_annotations_are_acknowledged(synthesis: Synthesis) -> None:
    """What constructs remark on: printed at every `cdk synth`, it would hide the next remark."""
    remarks = {
        (construct.node.path, "Annotation::" + str(entry.data).rpartition("[ack: ")[2].rstrip("]"))
        for construct in synthesis.app.node.find_all()
        for entry in construct.node.metadata
        if entry.type in ("aws:cdk:info", "aws:cdk:warning", "aws:cdk:error")
    }
    accepted = {
        (acknowledgement.path, acknowledgement.rule)
        for acknowledgement in synthesis.acknowledgements
        if acknowledgement.rule.startswith("Annotation::")
    }
    assert remarks == accepted


def test_reasons_are_sentences(synthesis: Synthesis) -> None:
    """A reviewer has to agree with the reason, so there must be one."""
    for accepted in synthesis.acknowledgements:
        assert len(accepted.reason.split()) >= 8, accepted
