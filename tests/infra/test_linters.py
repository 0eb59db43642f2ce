"""cfn-lint and checkov on every template; what they may find is written down with its reason."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.infra.conftest import Assembly
from tests.infra.synthesis import ENVIRONMENT_NAMES, OTHER_NAMES, ROOT

CHECKOV = ROOT / ".env-checkov/bin/checkov"

ACCEPTED_BY_CFN_LINT = {
    "W3005": "the CDK writes a dependency down even where a reference implies it",
    "W3037": "cfn-lint does not know the action yet that opens a bidirectional stream",
}
UNKNOWN_ACTION = re.compile(r"^'invokeendpointwithbidirectionalstream' is not one of ")

ACCEPTED_BY_CHECKOV = {
    "CKV_AWS_115": "the function that starts image builds runs for a deploy only; a reserved "
    "concurrency would take from the account's",
    "CKV_AWS_116": "CloudFormation waits for that function's answer and reports its failure; "
    "nobody would read a dead-letter queue",
    "CKV_AWS_117": "that function calls CodeBuild's API and reaches nothing private",
    "CKV_AWS_136": "ECR encrypts with AES-256; the images are built from public packages",
    "CKV_AWS_158": "CloudWatch Logs encrypts with its own key; the logs hold no audio or text",
}


@pytest.fixture(scope="module")
def templates(assembly: Assembly) -> list[str]:
    return [
        str(path)
        for name in (*ENVIRONMENT_NAMES, *OTHER_NAMES)
        for path in sorted(assembly(name).folder.glob("*.template.json"))
    ]


def output_of(arguments: list[str]) -> Any:
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=170, check=False)
    assert result.stdout, result.stderr
    return json.loads(result.stdout)


def test_cfn_lint(templates: list[str]) -> None:
    """A property of the wrong type or a value CloudFormation refuses costs a failed deploy."""
    cfn_lint = str(Path(sys.executable).parent / "cfn-lint")
    matches = output_of([cfn_lint, "--format", "json", "--", *templates])
    found = {match["Rule"]["Id"] for match in matches}
    unexpected = [
        (match["Filename"], match["Message"])
        for match in matches
        if match["Rule"]["Id"] not in ACCEPTED_BY_CFN_LINT
        or (match["Rule"]["Id"] == "W3037" and not UNKNOWN_ACTION.match(match["Message"]))
    ]
    assert unexpected == []
    assert set(ACCEPTED_BY_CFN_LINT) == found, "an acceptance is stale"


def test_checkov(templates: list[str]) -> None:
    """A second opinion on what is open to the world, unencrypted or unlogged."""
    if not CHECKOV.exists():
        pytest.fail("checkov has an environment of its own: `make .env-checkov/stamp`")
    report = output_of(
        [
            *(str(CHECKOV), "--framework", "cloudformation", "--skip-download", "--compact"),
            *("--output", "json", "--file", *templates),
        ]
    )
    assert report["summary"]["passed"] > 0
    assert report["summary"]["parsing_errors"] == 0
    found = {check["check_id"] for check in report["results"]["failed_checks"]}
    unexpected = [
        (check["check_id"], check["check_name"], check["resource"], check["file_path"])
        for check in report["results"]["failed_checks"]
        if check["check_id"] not in ACCEPTED_BY_CHECKOV
    ]
    assert unexpected == []
    assert set(ACCEPTED_BY_CHECKOV) == found, "an acceptance is stale"
