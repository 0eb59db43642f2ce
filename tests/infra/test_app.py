"""The app as people run it: its stacks, its errors, and that it gives the same every time."""

import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aws_cdk
import pytest

import app as cdk_app
from stacks import nag_report
from stacks.settings import SettingsError, environment
from tests.infra.conftest import Assembly
from tests.infra.synthesis import (
    ENVIRONMENT_NAMES,
    OTHER_NAMES,
    OTHERS,
    ROOT,
    Synthesis,
    context,
)


def run_app(folder: Path, before: str = "") -> subprocess.CompletedProcess[str]:
    """Run `app.py` as the CDK command line does, for the environment `plain` of the tests.

    Args:
        folder: The output folder.
        before: Statements that the process executes first.
    """
    code = (
        "import pathlib, runpy\n"
        "from stacks.settings import environment\n"
        f"environment.ENVIRONMENTS = pathlib.Path({str(OTHERS)!r})\n"
        f"{before}\n"
        "runpy.run_path('app.py', run_name='__main__')\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ
        | {
            "CDK_OUTDIR": str(folder),
            "CDK_CONTEXT_JSON": json.dumps(context() | {"env": "plain"}),
            "PYTHONHASHSEED": "1",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def error_of_app(monkeypatch: pytest.MonkeyPatch, **context: str) -> list[str]:
    """The lines with which the app ends, run with this context in this process."""
    app = aws_cdk.App(context=context)
    monkeypatch.setattr(cdk_app.cdk, "App", lambda **_: app)
    with pytest.raises(SystemExit) as caught:
        cdk_app.main()
    return str(caught.value).splitlines()


def test_without_an_environment_there_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A traceback hides the one thing there is to know."""
    assert error_of_app(monkeypatch) == [
        "error: name an environment with -c env=<name>, or with ENV=<name>; there are: "
        + ", ".join(ENVIRONMENT_NAMES),
    ]


def test_an_error_in_the_settings_ends_with_the_file_to_correct(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of a key says neither where the file is nor which page describes the keys."""
    (tmp_path / "broken.toml").write_text('kind = "ephemeral"\n')
    monkeypatch.setattr(environment, "ENVIRONMENTS", tmp_path)
    assert error_of_app(monkeypatch, env="broken") == [
        "error: broken.toml: speech: is required",
        "→ correct environments/broken.toml; docs/settings.md describes every key. "
        "There may be more errors; correct these first",
    ]


def test_an_unknown_environment_is_named_with_those_there_are() -> None:
    app = aws_cdk.App(context={"env": "production"})
    with pytest.raises(SettingsError) as caught:
        cdk_app.chosen(app)
    for word in ("production", *ENVIRONMENT_NAMES):
        assert word in str(caught.value)


def test_the_stacks_of_an_environment(synthesis: Synthesis) -> None:
    """Names are what operators type; a renamed stack is a second environment beside the first. And
    a VPC with endpoints, where nobody asked for one, costs money every hour and outlives the rest.
    """
    stacks = {"images", "observability", "speech", "agent"}
    if synthesis.settings.network is not None:
        stacks.add("network")
    name = synthesis.settings.name
    assert stack_names(synthesis) == {f"voice-{name}-{stack}" for stack in stacks}


def test_two_environments_share_no_name(assembly: Assembly) -> None:
    """In one account and Region, what is named in one environment must not exist in another."""
    names = [named(assembly(name)) for name in (*ENVIRONMENT_NAMES, *OTHER_NAMES)]
    for index, one in enumerate(names):
        assert len(one) > 4, "found no names: the test reads nothing"
        for other in names[index + 1 :]:
            assert one & other == set()


@pytest.mark.parametrize("stack", ["Speech", "Agent"])
def test_images_come_before_what_runs_them(synthesis: Synthesis, stack: str) -> None:
    """Without a reference between the stacks, as to an image that Docker pushes, the one that
    pulls is deployed while the other still pushes."""
    name = synthesis.settings.name
    document = json.loads((synthesis.folder / "manifest.json").read_text())
    assert f"{name}-Images" in document["artifacts"][f"{name}-{stack}"]["dependencies"]


def test_stable_environments_are_protected(synthesis: Synthesis) -> None:
    """`cdk destroy` in the wrong shell must not take production with it."""
    for stack in manifest(synthesis):
        protected = stack["properties"].get("terminationProtection", False)
        assert protected is synthesis.settings.is_stable


def test_accounts_are_not_looked_into(synthesis: Synthesis) -> None:
    """CI has no credentials, and a cached look-up makes one environment depend on another."""
    document = json.loads((synthesis.folder / "manifest.json").read_text())
    assert document.get("missing", []) == []
    assert not (ROOT / "cdk.context.json").exists()


def test_every_recommended_flag_is_set() -> None:
    """A flag left out keeps a behavior the CDK's authors call wrong; after an update of the CDK
    this names the new ones (`cdk flags --unstable=flags -c env=dev` explains them)."""
    package = Path(aws_cdk.__file__).parent / "_jsii"
    (archive,) = package.glob("aws-cdk-lib@*.tgz")
    with tarfile.open(archive) as tar:
        member = tar.extractfile("package/recommended-feature-flags.json")
        assert member is not None
        recommended = json.load(member)
    assert recommended.items() <= context().items()
    assert context()["@aws-cdk/core:defaultCrossStackReferences"] == "weak"


@pytest.fixture
def before_it_ran(assembly: Assembly) -> Iterator[Path]:
    """An assembly from before the code has run, which leaves compiled files in the build contexts;
    they are there now."""
    folder = assembly("plain").folder
    files = [
        ROOT / folder / "__pycache__" / "left_by_a_test.cpython-312.pyc"
        for folder in ("container/kokoro_server", "container/kokoro_model", "agent/voice_agent")
    ]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"compiled")
    yield folder
    for file in files:
        file.unlink()


def test_a_second_synthesis_is_the_same(before_it_ran: Path, tmp_path: Path) -> None:
    """In another process, with another order of hashing, after the code has run: if it differed,
    every deploy would build images and roll instances for nothing."""
    result = run_app(tmp_path)
    assert result.returncode == 0, result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        path.name for path in before_it_ran.iterdir()
    )
    for pattern in ("*.template.json", "*.assets.json"):
        for path in tmp_path.glob(pattern):
            assert path.read_text() == (before_it_ran / path.name).read_text(), path.name


def test_a_finding_that_is_not_acknowledged_fails_the_synthesis(tmp_path: Path) -> None:
    """Were the rules no longer applied, `make synth` would report that there are no findings."""
    forgetful = (
        "import stacks.constructs.kokoro_endpoint as construct\n"
        "construct.acknowledge = lambda *_: None"
    )
    assert run_app(tmp_path, forgetful).returncode != 0
    report = nag_report.read(tmp_path)
    assert (report.errors, report.warnings, report.passes) == (1, 0, False)
    assert report.suppressions > 10


def test_an_asset_is_a_build_context(synthesis: Synthesis) -> None:
    """With the repository's root as an asset each synth would copy cdk.out into itself."""
    for file in synthesis.folder.glob("*.assets.json"):
        assets = json.loads(file.read_text())
        for asset in assets["files"].values():
            names = {path.name for path in (synthesis.folder / asset["source"]["path"]).glob("*")}
            assert not names & {"cdk.out", "app.py", ".git", "node_modules"}
        for image in assets.get("dockerImages", {}).values():
            context = synthesis.folder / image["source"]["directory"]
            assert (context / image["source"]["dockerFile"]).is_file()
            names = {path.name for path in context.glob("*")}
            assert not names & {"cdk.out", "app.py", ".git", "node_modules"}


def manifest(synthesis: Synthesis) -> list[dict[str, Any]]:
    document = json.loads((synthesis.folder / "manifest.json").read_text())
    return [
        artifact
        for artifact in document["artifacts"].values()
        if artifact["type"] == "aws:cloudformation:stack"
    ]


def stack_names(synthesis: Synthesis) -> set[str]:
    return {stack["properties"]["stackName"] for stack in manifest(synthesis)}


def named(synthesis: Synthesis) -> set[str]:
    """The names that resources have here, instead of leaving them to CloudFormation."""
    keys = {"AgentRuntimeName", "DashboardName", "EndpointName", "LogGroupName", "RoleName"}
    pairs = {
        (key, value)
        for resource in synthesis.resources()
        for key, value in resource.properties.items()
        if key in keys and isinstance(value, str)
    }
    return {value for _, value in pairs} | stack_names(synthesis)
