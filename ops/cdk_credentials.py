"""Checks credentials and Region for `make cdk`: `python -m ops.cdk_credentials deploy -c env=dev`.

Without them, the CDK synthesizes for a while and then fails without a next step. Commands that need
no account, such as `list` and `synth`, are not checked.
"""

import argparse
import os
import sys
from collections.abc import Sequence

NEED_AN_ACCOUNT = ("bootstrap", "deploy", "destroy", "diff")


def main(argv: Sequence[str]) -> int:
    """Check what the CDK command needs.

    Args:
        argv: The arguments of the CDK.

    Returns:
        The exit code: 0 if the CDK can start; 1 for credentials that cannot be used; 2 for a
        missing or wrong Region.
    """
    options, rest = _parser().parse_known_args(argv)
    words = [argument for argument in rest if not argument.startswith("-")]
    contexts = [entry.partition("=") for entry in options.context]
    environments = [value for key, _, value in contexts if key == "env"]
    # Without an environment, the CDK app itself says what is missing.
    if options.help or not environments or not words or words[0] not in NEED_AN_ACCOUNT:
        return 0
    if options.profile:
        os.environ["AWS_PROFILE"] = options.profile
    # `bootstrap` may name its target: aws://ACCOUNT/REGION.
    targets = [word.rpartition("/")[2] for word in words if word.startswith("aws://")]
    region = options.region or next(iter(targets), None)

    from ops import errors  # boto3 takes a second to import

    return errors.run(lambda: _check(environments[-1], region), environments[-1])


def _check(environment: str, region: str | None) -> int:
    from ops.aws import OpsError, connect_with_credentials
    from ops.preflight import check_identity
    from stacks.settings import load

    account = connect_with_credentials(load(environment), region)
    for finding in check_identity(account):
        if finding.verdict == "problem":
            raise OpsError(f"{finding.subject} {finding.detail}", finding.next_step)
    return 0


def _parser() -> argparse.ArgumentParser:
    """Return a parser of those options of the CDK that decide which account is used."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-c", "--context", action="append", default=[])
    parser.add_argument("--profile")
    parser.add_argument("--region")
    parser.add_argument("-h", "--help", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
