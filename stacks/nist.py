"""Lists the findings of cdk-nag's NIST 800-53 R5 rules: `python -m stacks.nist dev prod`.

The findings are for information: none of them is acknowledged, and no build fails because of them.
They help with an audit of the controls. Many of the rules require something that an environment
leaves to the account, such as backups, object locks and trails.
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
    """Return the findings in an environment: rule, construct path and description."""
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
            f"{environment}: {len(lines)} NIST 800-53 R5 findings, for information",
            *lines,
            sep="\n",
        )
