"""The report of findings, and its exit code."""

import pytest

from ops.findings import Finding, report


def test_a_problem_fails_the_command_and_a_warning_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert report([Finding("ok", "a", "b"), Finding("warning", "c", "d", "e")]) == 0
    assert report([Finding("ok", "a", "b"), Finding("problem", "c", "d", "e")]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == ["problem  c: d", "         → e"]
