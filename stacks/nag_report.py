"""Report what cdk-nag found at synthesis: `python -m stacks.nag_report cdk.out/dev`.

`cdk synth` prints cdk-nag's findings but says nothing where there are none. This module reads the
cloud assemblies afterwards, so that a synthesis without findings is reported as well.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RULE_PACK = "AwsSolutions"
"""The cdk-nag rule pack that `app.py` applies."""


class AssemblyError(Exception):
    """A folder does not hold a complete cloud assembly."""


@dataclass(frozen=True)
class NagReport:
    """The result of cdk-nag for one environment.

    Attributes:
        folder: The folder of the cloud assembly.
        stacks: The number of stacks in it.
        errors: The number of unacknowledged findings with severity `error` or `fatal`.
        warnings: The number of unacknowledged findings with a lower severity.
        suppressions: The number of acknowledgements, one for each rule on each construct.
        unexplained: The acknowledgements without a reason, as `rule on construct path`.
    """

    folder: Path
    stacks: int
    errors: int
    warnings: int
    suppressions: int
    unexplained: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Whether every finding is acknowledged with a reason."""
        return not (self.errors or self.warnings or self.unexplained)

    def line(self) -> str:
        """Summarize the report in one line."""
        return (
            f"{self.folder.name}: {_count(self.stacks, 'stack')} in {self.folder}; "
            f"cdk-nag {RULE_PACK}: {_count(self.errors, 'error')}, "
            f"{_count(self.warnings, 'warning')}, {self.suppressions} suppressed with a reason"
        )


def read(folder: Path) -> NagReport:
    """Read the report of one cloud assembly.

    Args:
        folder: The folder that `cdk synth --output` wrote.

    Raises:
        AssemblyError: The folder has no manifest or no validation report.
    """
    artifacts = _load(folder / "manifest.json")["artifacts"]
    # The CDK writes this file after it has run the validation plugins, and lists in it only
    # those that found something.
    plugins = _load(folder / "validation-report.json")["pluginReports"]
    severities = [
        violation["severity"]
        for plugin in plugins
        if plugin["pluginName"] == RULE_PACK
        for violation in plugin["violations"]
        for _ in violation["violatingConstructs"]
    ]
    acknowledged = [
        (f"{rule} on {path}", reason)
        for metadata in sorted(folder.glob("*.metadata.json"))
        for path, entries in _load(metadata).items()
        for entry in entries
        if entry["type"] == "aws:cdk:acknowledged-rules"
        for rule, reason in entry["data"].items()
        if rule.removeprefix("Annotation::").startswith(f"{RULE_PACK}-")
    ]
    errors = severities.count("error") + severities.count("fatal")
    return NagReport(
        folder=folder,
        stacks=sum(item["type"] == "aws:cloudformation:stack" for item in artifacts.values()),
        errors=errors,
        warnings=len(severities) - errors,
        suppressions=sum(bool(reason.strip()) for _, reason in acknowledged),
        unexplained=tuple(name for name, reason in acknowledged if not reason.strip()),
    )


def main(folders: list[str]) -> int:
    """Print one line for each assembly.

    Args:
        folders: The folders of the cloud assemblies.

    Returns:
        The exit code: 1 if a finding is not suppressed, a suppression has no reason, or an
        assembly is incomplete.
    """
    passes = True
    for folder in map(Path, folders):
        try:
            report = read(folder)
        except AssemblyError as error:
            print(f"{folder.name}: {error}", file=sys.stderr)
            passes = False
            continue
        print(report.line(), flush=True)
        for name in report.unexplained:
            print(f"{folder.name}: suppressed without a reason: {name}", file=sys.stderr)
        passes = passes and report.passes
    return 0 if passes else 1


def _load(file: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(file.read_text())
    except FileNotFoundError:
        raise AssemblyError(f"not synthesized: {file} is missing; see the errors above") from None
    return content


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
