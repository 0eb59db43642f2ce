"""What a check found, and how it is reported."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """The outcome of one check.

    Attributes:
        verdict: `problem` if a deploy, or speaking, fails; `warning` if it may, or if nobody
            could look.
        subject: What was checked.
        detail: What was found.
        next_step: What to do about it.
    """

    verdict: Literal["ok", "warning", "problem"]
    subject: str
    detail: str
    next_step: str = ""


def report(findings: Iterable[Finding]) -> int:
    """Print each finding as it comes; the exit code: 1 if there is a problem."""
    problems = 0
    for finding in findings:
        problems += finding.verdict == "problem"
        print(f"{finding.verdict:8} {finding.subject}: {finding.detail}", flush=True)
        if finding.next_step:
            print(f"         → {finding.next_step}", flush=True)
    return 1 if problems else 0
