"""What a check found (ok, warning or problem), and how it is printed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """The outcome of one check.

    Attributes:
        verdict: `problem` if a deploy or a request fails; `warning` if it may fail, or if the check
            could not be made.
        subject: The thing that was checked.
        detail: The finding itself.
        next_step: What to do about it; empty if there is nothing to do.
    """

    verdict: Literal["ok", "warning", "problem"]
    subject: str
    detail: str
    next_step: str = ""


def report(findings: Iterable[Finding]) -> int:
    """Print each finding as it arrives; return the exit code, which is 1 if there is a problem."""
    problems = 0
    for finding in findings:
        problems += finding.verdict == "problem"
        print(f"{finding.verdict:8} {finding.subject}: {finding.detail}", flush=True)
        if finding.next_step:
            print(f"         → {finding.next_step}", flush=True)
    return 1 if problems else 0
