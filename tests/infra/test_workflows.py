"""The workflows in .github/: who may do what, and whether they fit the environments."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from stacks.settings import load
from tests.infra.conftest import Assembly
from tests.infra.synthesis import ENVIRONMENT_NAMES, Synthesis

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github/workflows"
NAMES = sorted(path.stem for path in WORKFLOWS.glob("*.yml"))
WITH_CREDENTIALS = ["deploy", "destroy"]


def workflow(name: str) -> dict[str, Any]:
    parsed = yaml.safe_load((WORKFLOWS / f"{name}.yml").read_text())
    parsed["on"] = parsed.pop(True)  # YAML 1.1 reads the key `on` as a truth value
    return parsed


def only_job(name: str) -> dict[str, Any]:
    (job,) = workflow(name)["jobs"].values()
    return job


def choices(name: str) -> list[str]:
    return workflow(name)["on"]["workflow_dispatch"]["inputs"]["environment"]["options"]


def correction(workflows: list[str], environments: list[str]) -> str:
    """What a person who adds or removes an environment must write."""
    files = " and ".join(f".github/workflows/{name}.yml" for name in workflows)
    return f"correct the list of environments in {files}: [{', '.join(environments)}]"


def role_duration_s(name: str) -> int:
    (duration,) = (
        step["with"]["role-duration-seconds"]
        for step in only_job(name)["steps"]
        if "configure-aws-credentials" in step.get("uses", "")
    )
    return duration


def properties(template: dict[str, Any], resource_type: str) -> list[dict[str, Any]]:
    return [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == resource_type
    ]


def test_zizmor_finds_nothing() -> None:
    """Guards against injection through expressions, kept credentials, broad permissions."""
    zizmor = Path(sys.executable).with_name("zizmor")
    done = subprocess.run(
        [zizmor, "--offline", "--no-progress", ".github"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_action_is_pinned_to_one_commit_and_says_which_release() -> None:
    """A tag can be moved to other code; two pins of one action are one forgotten."""
    pins: dict[str, set[str]] = {}
    for name in NAMES:
        for line in (WORKFLOWS / f"{name}.yml").read_text().splitlines():
            if "uses:" not in line:
                continue
            found = re.fullmatch(r".*uses: (\S+)@([0-9a-f]{40}  # v\d+\.\d+\.\d+)", line)
            assert found, line
            pins.setdefault(found[1], set()).add(found[2])
    assert pins
    assert {action: pin for action, pin in pins.items() if len(pin) > 1} == {}


def test_nothing_is_granted_to_a_whole_workflow() -> None:
    """Without a list, a job gets whatever the repository's default token may do."""
    assert {name: workflow(name)["permissions"] for name in NAMES} == {name: {} for name in NAMES}


def test_each_job_has_only_the_permissions_it_needs() -> None:
    read = {"contents": "read"}
    deploy = read | {"id-token": "write"}
    assert {
        f"{name}.{job_id}": job["permissions"]
        for name in NAMES
        for job_id, job in workflow(name)["jobs"].items()
    } == {
        "checks.test": read,
        "checks.images": read,
        "checks.synth": read,
        "checks.comment": {"pull-requests": "write"},
        "deploy.deploy": deploy,
        "destroy.destroy": deploy,
    }


@pytest.mark.parametrize("name", NAMES)
def test_no_long_lived_credentials(name: str) -> None:
    """A key in a secret outlives the person who put it there."""
    text = (WORKFLOWS / f"{name}.yml").read_text()
    assert "secrets." not in text
    assert not re.search(r"access[-_]key", text, re.IGNORECASE)


def test_pull_requests_run_without_credentials_and_comment_without_their_code() -> None:
    """`pull_request_target`, or a writing token beside a fork's code, hands the repository over."""
    assert set(workflow("checks")["on"]) == {"pull_request", "push"}
    steps = workflow("checks")["jobs"]["comment"]["steps"]
    assert not [step for step in steps if "checkout" in step.get("uses", "")]


@pytest.mark.parametrize("name", WITH_CREDENTIALS)
def test_an_account_is_touched_by_hand_and_after_the_environments_approval(name: str) -> None:
    """A job outside a GitHub environment passes by its reviewers, and any branch can run it."""
    assert set(workflow(name)["on"]) == {"workflow_dispatch"}
    assert only_job(name)["environment"] == "${{ inputs.environment }}"


def test_an_environment_is_deployed_or_destroyed_by_one_run_at_a_time() -> None:
    """Two runs at once meet in CloudFormation; a cancelled one leaves a rollout half done."""
    concurrency = {
        "group": "deploy-${{ inputs.environment }}",
        "cancel-in-progress": False,
    }
    assert [workflow(name)["concurrency"] for name in WITH_CREDENTIALS] == [concurrency] * 2


def test_every_environment_is_checked_and_can_be_deployed() -> None:
    """A new settings file that no workflow knows is never synthesized in CI."""
    matrix = workflow("checks")["jobs"]["synth"]["strategy"]["matrix"]
    listed = {"checks": matrix["environment"], "deploy": choices("deploy")}
    wrong = [name for name, names in listed.items() if sorted(names) != ENVIRONMENT_NAMES]
    assert not wrong, correction(wrong, ENVIRONMENT_NAMES)


def test_only_ephemeral_environments_can_be_destroyed() -> None:
    """One wrong choice in a list must not take production down."""
    ephemeral = [name for name in ENVIRONMENT_NAMES if not load(name).is_stable]
    assert sorted(choices("destroy")) == ephemeral, correction(["destroy"], ephemeral)


def test_the_tests_of_this_project_are_what_the_checks_run() -> None:
    jobs = workflow("checks")["jobs"]
    commands = {job_id: [step.get("run") for step in job["steps"]] for job_id, job in jobs.items()}
    assert "make test" in commands["test"]
    assert "make test-images" in commands["images"]


@pytest.mark.parametrize("name", WITH_CREDENTIALS)
def test_credentials_last_as_long_as_the_job(name: str) -> None:
    """Credentials that end first leave a deployment that runs on with nobody watching it."""
    hosted_runner_limit_s, role_limit_s = 6 * 3600, 12 * 3600
    timeout_s = only_job(name)["timeout-minutes"] * 60
    assert timeout_s <= role_duration_s(name) <= role_limit_s
    assert timeout_s <= hosted_runner_limit_s


def test_a_deploy_ends_before_its_credentials(synthesis: Synthesis) -> None:
    """A rollout waits for 30-minute conversations; with settings that wait longer than the job,
    nobody would see how it ends.
    """
    templates = synthesis.templates
    (endpoint,) = properties(templates["Speech"], "AWS::SageMaker::Endpoint")
    rollout = endpoint["DeploymentConfig"]["BlueGreenUpdatePolicy"]
    builds = properties(templates["Images"], "AWS::CodeBuild::Project")
    build_min = max((project.get("TimeoutInMinutes", 60) for project in builds), default=0)
    everything_else_s = 1800
    needed_s = rollout["MaximumExecutionTimeoutInSeconds"] + 60 * build_min + everything_else_s
    assert needed_s <= only_job("deploy")["timeout-minutes"] * 60, (
        f"{synthesis.settings.name}.toml: a deploy may take {needed_s / 60:.0f} minutes; raise "
        "timeout-minutes and role-duration-seconds in .github/workflows/deploy.yml, or lower "
        "speech.termination_wait_s or speech.startup_timeout_s"
    )


def test_images_are_built_without_attestations() -> None:
    """With them an image is an index of manifests, and SageMaker does not start it."""
    assert only_job("deploy")["env"]["BUILDX_NO_DEFAULT_ATTESTATIONS"] == "1"


def test_the_comment_shows_what_changes_in_the_templates(
    assembly: Assembly, tmp_path: Path
) -> None:
    """A reviewer sees a construct's one line, not the policy it opens."""
    new = assembly("plain").folder
    base = shutil.copytree(new, tmp_path / "base")
    speech = base / "plain-Speech.template.json"
    speech.write_text(
        speech.read_text().replace(
            '"TerminationWaitInSeconds": 1800', '"TerminationWaitInSeconds": 0'
        )
    )
    (base / "plain-Agent.template.json").rename(base / "plain-Former.template.json")

    def shown(old: Path) -> str:
        return subprocess.run(
            [ROOT / ".github/template-diff.sh", "plain", old, new],
            capture_output=True, text=True, timeout=120, check=True,
        ).stdout  # fmt: skip

    text = shown(base)
    assert re.findall(r"<summary>(.*)</summary>", text) == ["plain-Agent", "plain-Speech"]
    assert re.search(r"\[-\] 0\n.*\[\+\] 1800", text)
    assert "[+] AWS::BedrockAgentCore::Runtime" in text
    assert "plain-Former is removed" in text
    assert shown(new) == "### Templates of `plain`\nNo changes.\n"


def test_a_comment_of_any_length_is_cut(tmp_path: Path) -> None:
    """Three new environments are more than a comment holds; the job must not fail over that."""
    for name in ENVIRONMENT_NAMES:
        (tmp_path / f"diff-{name}.md").write_text("x" * 200_000)
    (script,) = (
        step["run"] for step in workflow("checks")["jobs"]["comment"]["steps"] if "run" in step
    )
    # As GitHub starts it for `shell: bash`, with a `gh` that does nothing.
    subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", f"gh() {{ :; }}\n{script}"],
        cwd=tmp_path, env={**os.environ, "NUMBER": "1"}, timeout=60, check=True,
    )  # fmt: skip
    assert (tmp_path / "comment.md").stat().st_size == 60_000
