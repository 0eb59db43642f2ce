"""What cdk-nag's NIST 800-53 R5 rules say, for information: `python -m stacks.nist dev prod`.

Nothing is acknowledged for these rules and no build fails over them. They are for those who have to
answer for the controls, and many ask for what an environment leaves to the account: backups, object
locks, trails.
"""

import json
import sys
import tempfile
from pathlib import Path

import aws_cdk as cdk
from cdk_nag import NIST80053R5Checks

from app import build
from stacks.settings import load


def report(environment: str) -> list[str]:
    """A line for each finding in an environment: the rule, where, what it says."""
    context = json.loads(Path("cdk.json").read_text())["context"]
    with tempfile.TemporaryDirectory() as folder:
        app = cdk.App(analytics_reporting=False, context=context, outdir=folder)
        build(app, load(environment))
        app.synth()
        violations = NIST80053R5Checks().validate_scope(app).violations
    return [
        f"{violation.rule_name} {resource.construct_path}\n    {violation.description}"
        for violation in violations
        for resource in violation.violating_resources
    ]


if __name__ == "__main__":
    for environment in sys.argv[1:]:
        lines = report(environment)
        print(
            f"{environment}: {len(lines)} findings of NIST 800-53 R5, for information",
            *lines,
            sep="\n",
        )
