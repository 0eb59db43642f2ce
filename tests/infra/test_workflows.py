"""The workflows in .github/: who may do what, and whether they fit the environments."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from stacks.settings import ENVIRONMENTS, load

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github/workflows"
NAMES = sorted(path.stem for path in WORKFLOWS.glob("*.yml"))
ENVIRONMENT_NAMES = sorted(path.stem for path in ENVIRONMENTS.glob("*.toml"))
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


def role_duration_s(name: str) -> int:
    (duration,) = (
        step["with"]["role-duration-seconds"]
        for step in only_job(name)["steps"]
        if "configure-aws-credentials" in step.get("uses", "")
    )
    return duration


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
    assert sorted(matrix["environment"]) == ENVIRONMENT_NAMES
    assert sorted(choices("deploy")) == ENVIRONMENT_NAMES


def test_only_ephemeral_environments_can_be_destroyed() -> None:
    """One wrong choice in a list must not take production down."""
    ephemeral = [name for name in ENVIRONMENT_NAMES if not load(name).is_stable]
    assert sorted(choices("destroy")) == ephemeral


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


def test_images_are_built_without_attestations() -> None:
    """With them an image is an index of manifests, and SageMaker does not start it."""
    assert only_job("deploy")["env"]["BUILDX_NO_DEFAULT_ATTESTATIONS"] == "1"
