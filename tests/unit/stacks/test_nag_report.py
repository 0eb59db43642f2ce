"""The one line on each environment that `make synth` ends with."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stacks import nag_report

WILDCARD = "AwsSolutions-IAM5[Resource::*]"


def assembly(
    folder: Path,
    *,
    violations: Sequence[tuple[str, int]] = (),
    reasons: dict[str, str] | None = None,
) -> Path:
    """What the CDK writes, as far as the report reads it; a violation is (severity, constructs)."""
    plugin = {
        "pluginName": "AwsSolutions",
        "violations": [
            {"ruleName": WILDCARD, "severity": severity, "violatingConstructs": [{}] * count}
            for severity, count in violations
        ],
    }
    other = {"pluginName": "Other", "violations": [{"severity": "error"}]}
    files: dict[str, Any] = {
        "manifest.json": {
            "artifacts": {
                "dev-Speech": {"type": "aws:cloudformation:stack"},
                "dev-Agent": {"type": "aws:cloudformation:stack"},
                "dev-Agent.assets": {"type": "cdk:asset-manifest"},
            }
        },
        "validation-report.json": {"pluginReports": [plugin, other] if violations else []},
        "dev-Agent.metadata.json": {
            "/dev-Agent/Role": [
                {"type": "aws:cdk:logicalId", "data": "Role"},
                {"type": "aws:cdk:acknowledged-rules", "data": reasons or {}},
            ]
        },
    }
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def test_a_clean_environment_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Silence could also mean that the rules did not run."""
    reasons = {
        f"Annotation::{WILDCARD}": "it takes no resource",
        "Annotation::aws-cdk-lib.aws_x:remark": "not one of cdk-nag's",
    }
    folder = assembly(tmp_path / "dev", reasons=reasons)
    assert nag_report.main([str(folder)]) == 0
    assert capsys.readouterr().out == (
        f"dev: 2 stacks in {folder}; cdk-nag AwsSolutions: "
        "0 errors, 0 warnings, 1 suppressed with a reason\n"
    )


@pytest.mark.parametrize(
    ("violations", "counts"),
    [
        ([("error", 2), ("fatal", 1)], "3 errors, 0 warnings"),
        ([("warning", 1)], "0 errors, 1 warning,"),
    ],
)
def test_one_finding_in_one_environment_fails_the_command(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    violations: list[tuple[str, int]],
    counts: str,
) -> None:
    """The CDK does not fail over a warning, and the last environment may be clean."""
    bad = assembly(tmp_path / "dev", violations=violations)
    good = assembly(tmp_path / "prod")
    assert nag_report.main([str(bad), str(good)]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert counts in first
    assert "0 errors, 0 warnings" in second


def test_a_suppression_without_a_reason_fails_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = assembly(tmp_path / "dev", reasons={f"Annotation::{WILDCARD}": " "})
    assert nag_report.main([str(folder)]) == 1
    captured = capsys.readouterr()
    assert "0 suppressed" in captured.out
    assert "on /dev-Agent/Role" in captured.err


@pytest.mark.parametrize("missing", ["manifest.json", "validation-report.json"])
def test_an_environment_that_was_not_synthesized_fails_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], missing: str
) -> None:
    """A report of zero findings would be wrong where nothing was checked."""
    folder = assembly(tmp_path / "dev")
    (folder / missing).unlink()
    assert nag_report.main([str(folder)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert missing in captured.err
