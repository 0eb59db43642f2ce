"""Synthesizes the app in this process, as the CDK command line would in one of its own."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from cdk_nag import NagPack
from constructs import IConstruct

import app as cdk_app
from stacks.settings import Settings, environment_names

ROOT = Path(__file__).parents[2]
OTHERS = Path(__file__).parent / "environments"
"""Environments that exist for the tests only."""

ENVIRONMENT_NAMES = environment_names()
OTHER_NAMES = environment_names(OTHERS)
if both := set(ENVIRONMENT_NAMES) & set(OTHER_NAMES):
    raise ValueError(
        f"environments/{both.pop()}.toml: an environment of the tests in {OTHERS} has this name; "
        "rename one of them"
    )


@dataclass(frozen=True)
class Acknowledgement:
    """A nag finding that is accepted on a construct and on what is below it."""

    path: str
    rule: str
    reason: str


@dataclass(frozen=True)
class Finding:
    """What a nag rule says about a resource."""

    path: str
    rule: str
    description: str


@dataclass(frozen=True)
class Resource:
    """A resource in a template."""

    stack: str
    name: str
    type: str
    properties: dict[str, Any]
    whole: dict[str, Any]


@dataclass(frozen=True)
class Synthesis:
    """What the app makes of an environment's settings.

    Acknowledgements are kept here instead of in the constructs, so that nag rules report
    everything and the two can be compared.
    """

    settings: Settings
    app: cdk.App
    folder: Path
    acknowledgements: list[Acknowledgement]

    @cached_property
    def templates(self) -> dict[str, dict[str, Any]]:
        """The templates, by what follows the environment in the stack's id: `Speech`."""
        prefix = f"{self.settings.name}-"
        stacks = json.loads((self.folder / "manifest.json").read_text())["artifacts"]
        return {
            name.removeprefix(prefix): json.loads(
                (self.folder / stack["properties"]["templateFile"]).read_text()
            )
            for name, stack in sorted(stacks.items())
            if stack["type"] == "aws:cloudformation:stack"
        }

    def resources(self, kind: str = "") -> list[Resource]:
        """All resources, or those of one type."""
        return [
            Resource(stack, name, resource["Type"], resource.get("Properties", {}), resource)
            for stack, template in self.templates.items()
            for name, resource in template["Resources"].items()
            if kind in ("", resource["Type"])
        ]

    def findings(self, pack: NagPack) -> list[Finding]:
        """What the rules of a pack say about all resources."""
        return [
            Finding(str(resource.construct_path), violation.rule_name, violation.description)
            for violation in pack.validate_scope(self.app).violations
            for resource in violation.violating_resources
        ]


class Recorder:
    """Stands in for `cdk.Validations`."""

    def __init__(self) -> None:
        self.acknowledgements: list[Acknowledgement] = []
        self.path = ""

    def of(self, scope: IConstruct) -> "Recorder":
        self.path = scope.node.path
        return self

    def acknowledge(self, *rules: cdk.Acknowledgment) -> None:
        self.acknowledgements += [
            Acknowledgement(self.path, rule.id, rule.reason) for rule in rules
        ]


def context() -> dict[str, Any]:
    """The feature flags in cdk.json, which only the command line reads by itself."""
    values: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
    return values


def synthesize(settings: Settings, folder: Path) -> Synthesis:
    """Build and synthesize the app for `settings`, with its assembly in `folder`."""
    app = cdk.App(analytics_reporting=False, outdir=str(folder), context=context())
    recorder = Recorder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cdk.Validations, "of", recorder.of)
        cdk_app.build(app, settings)
    app.synth()
    return Synthesis(settings, app, folder, recorder.acknowledgements)
