"""Every environment, synthesized once a test session."""

from collections.abc import Callable

import pytest
from aws_cdk.assertions import Template

from stacks.settings import load
from tests.infra.synthesis import ENVIRONMENT_NAMES, Synthesis, synthesize

Assembly = Callable[[str], Synthesis]
Templates = Callable[[str, str], Template]


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """`assembly("dev")`: that environment's synthesis."""
    done: dict[str, Synthesis] = {}

    def of(environment: str) -> Synthesis:
        if environment not in done:
            folder = tmp_path_factory.mktemp(f"cdk-{environment}-")
            done[environment] = synthesize(load(environment), folder)
        return done[environment]

    return of


@pytest.fixture(scope="session")
def template(assembly: Assembly) -> Templates:
    """`template("dev", "Speech")`: a stack's template, to assert on."""
    return lambda environment, stack: Template.from_json(assembly(environment).templates[stack])


@pytest.fixture(scope="session", params=ENVIRONMENT_NAMES)
def environment(request: pytest.FixtureRequest) -> str:
    """The name of each environment in turn."""
    return str(request.param)
