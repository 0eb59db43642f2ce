"""Images: where they are built, what of, and that a new one reaches its consumers."""

import json
from pathlib import Path
from typing import Any, Literal

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Match, Template

from stacks.images import ImagesStack
from stacks.observability import ObservabilityStack
from stacks.settings import load
from stacks.settings.image import Image
from stacks.speech import SpeechStack
from tests.images.test_dockerfiles import copied_from_context
from tests.infra.conftest import Assembly, Templates
from tests.infra.synthesis import OTHERS, ROOT, Synthesis, context

REPOSITORY = "AWS::ECR::Repository"
BUILD = "Custom::CDKContainerImageBuild"
DIGEST = f"123456789012.dkr.ecr.eu-central-1.amazonaws.com/kokoro@sha256:{64 * '0'}"


def properties(template: Template, kind: str) -> list[dict[str, Any]]:
    return [found["Properties"] for found in template.find_resources(kind).values()]


def uploaded(synthesis: Synthesis) -> dict[str, Path]:
    """The build contexts that are uploaded, by the folder of their Dockerfile."""
    return {
        dockerfile.parent.name: dockerfile.parents[1]
        for dockerfile in synthesis.folder.glob("asset.*/*/Dockerfile")
    }


def test_repositories_are_scanned_immutable_and_bounded(synthesis: Synthesis) -> None:
    """Guards against a tag that changes under a running endpoint, and unbounded storage."""
    repositories = [found.properties for found in synthesis.resources(REPOSITORY)]
    assert len(repositories) == 2
    for repository in repositories:
        assert "RepositoryName" not in repository  # one that is kept would block the next deploy
        assert repository["ImageScanningConfiguration"] == {"ScanOnPush": True}
        assert repository["ImageTagMutability"] == "IMMUTABLE"
        (rule,) = json.loads(repository["LifecyclePolicy"]["LifecyclePolicyText"])["rules"]
        assert rule["selection"]["countNumber"] >= 10


def test_an_ephemeral_environment_leaves_no_images(synthesis: Synthesis) -> None:
    """Guards against a destroy that fails on a full repository, or empties a stable one."""
    for repository in synthesis.templates["Images"]["Resources"].values():
        if repository["Type"] != REPOSITORY:
            continue
        if synthesis.settings.is_stable:
            assert repository["DeletionPolicy"] == repository["UpdateReplacePolicy"] == "Retain"
            assert repository["Properties"]["EmptyOnDelete"] is False
        else:
            assert repository["DeletionPolicy"] == repository["UpdateReplacePolicy"] == "Delete"
            assert repository["Properties"]["EmptyOnDelete"] is True


def test_each_image_is_built_for_the_machine_it_runs_on(built: Synthesis) -> None:
    """Guards against `exec format error`, and against attestations that break the pull."""
    speech = built.settings.speech
    commands = {
        build.properties["tagPrefix"]: build.properties["buildCommand"]
        for build in built.resources(BUILD)
    }
    assert len(commands) == 2
    assert all("--provenance=false" in command for command in commands.values())
    assert all(command.endswith(" .") for command in commands.values())
    (agent,) = [command for command in commands.values() if "--platform linux/arm64" in command]
    (kokoro,) = [command for command in commands.values() if "--platform linux/amd64" in command]
    assert f"--build-arg VARIANT={speech.variant}" in kokoro
    assert f"--build-arg MODEL_SOURCE={speech.model_source}" in kokoro
    assert "VARIANT" not in agent
    assert "--file agent/Dockerfile" in agent
    assert "--file container/Dockerfile" in kokoro
    # On their own architecture: emulated, a build takes longer than CodeBuild waits.
    projects = [
        found.properties["Environment"]["Type"]
        for found in built.resources("AWS::CodeBuild::Project")
    ]
    assert sorted(projects) == ["ARM_CONTAINER", "LINUX_CONTAINER"]


def test_bases_come_from_where_codebuild_may_pull(built: Synthesis) -> None:
    """Guards against Docker Hub's limit on pulls, which CodeBuild's shared addresses have met."""
    for build in built.resources(BUILD):
        command = build.properties["buildCommand"]
        assert "--build-arg BASE_IMAGE=public.ecr.aws/docker/library/python:" in command


def test_tags_are_new_with_each_build(synthesis: Synthesis) -> None:
    """Guards against a push that an immutable repository refuses, and against `latest`."""
    for build in synthesis.resources(BUILD):
        assert "imageTag" not in build.properties
    assert ":latest" not in json.dumps(synthesis.templates["Images"])


def test_the_context_is_what_the_dockerfile_copies(built: Synthesis) -> None:
    """Guards against a build without its Dockerfile, and a hash that changes with a .pyc file."""
    contexts = uploaded(built)
    assert contexts.keys() == {"container", "agent"}
    for folder, directory in contexts.items():
        expected = copied_from_context(folder) | {f"{folder}/Dockerfile"}
        found = {
            path.relative_to(directory).as_posix()
            for path in directory.rglob("*")
            if path.is_file()
        }
        assert {path for path in expected if not (directory / path).exists()} == set()
        assert {
            path for path in found if not any(f"{path}/".startswith(f"{e}/") for e in expected)
        } == set()
        assert list(directory.rglob("__pycache__")) == []
        assert list(directory.rglob("*.in")) == []
        assert (directory / folder / "Dockerfile").read_text() == (
            ROOT / folder / "Dockerfile"
        ).read_text()


def test_builds_log_where_the_environment_cleans_up(built: Synthesis) -> None:
    """Guards against log groups that services make, which are kept for ever and stop a deploy."""
    images = Template.from_json(built.templates["Images"])
    groups = images.find_resources(
        "AWS::Logs::LogGroup",
        {
            "Properties": {
                "LogGroupName": {"Fn::Join": ["", ["/aws/codebuild/", Match.any_value()]]}
            }
        },
    )
    assert len(groups) == 2
    (of_the_function,) = images.find_resources(
        "AWS::Logs::LogGroup",
        {"Properties": {"LogGroupName": {"Fn::Join": ["", ["/aws/lambda/", Match.any_value()]]}}},
    )
    for build in images.find_resources(BUILD).values():
        # Else CodeBuild or Lambda is first, and CloudFormation finds that its group exists.
        assert set(build["DependsOn"]) & groups.keys()
        assert of_the_function in build["DependsOn"]


def test_a_new_image_changes_what_consumes_it() -> None:
    """Guards against a deploy that builds an image and rolls out nothing.

    References between stacks are resolved when a stack is deployed, and a stack whose template is
    as before is not.
    """
    settings = load("plain", OTHERS)
    other = settings.model_copy(
        update={"speech": settings.speech.model_copy(update={"model_source": "release"})}
    )
    consumers = []
    for each in (settings, other):
        app = cdk.App(analytics_reporting=False, context=context())
        image = ImagesStack(app, settings=each).speech
        topic = ObservabilityStack(app, settings=each).alarm_topic
        speech = SpeechStack(app, settings=each, image=image, alarm_topic=topic)
        (model,) = properties(Template.from_stack(speech), "AWS::SageMaker::Model")
        consumers.append(model["PrimaryContainer"]["Image"])
    assert consumers[0] != consumers[1]


def test_an_image_that_exists_is_not_built(template: Templates) -> None:
    """Guards against a build of what exists, and a role that may pull something else."""
    uri = load("images", OTHERS).speech.image.uri
    assert uri is not None
    template("images", "Images").resource_count_is(BUILD, 0)
    (model,) = properties(template("images", "Speech"), "AWS::SageMaker::Model")
    assert model["PrimaryContainer"]["Image"] == uri
    statements = [
        statement
        for policy in properties(template("images", "Speech"), "AWS::IAM::Policy")
        for statement in policy["PolicyDocument"]["Statement"]
        if "ecr:BatchGetImage" in statement["Action"]
    ]
    (pull,) = statements
    arn = json.dumps(pull["Resource"])
    assert ":ecr:eu-central-1:123456789012:repository/kokoro" in arn


@pytest.mark.parametrize("source", ["docker", "digest"])
def test_every_source_keeps_the_repositories(
    synthesis: Synthesis, source: Literal["docker", "digest"]
) -> None:
    """Guards against a rollback to a digest that deletes the images it rolls back to."""
    settings = synthesis.settings
    image = Image(source=source, uri=DIGEST if source == "digest" else None)
    other = settings.model_copy(
        update={
            "speech": settings.speech.model_copy(update={"image": image}),
            "agent": settings.agent.model_copy(update={"image": image}),
        }
    )
    app = cdk.App(analytics_reporting=False, context=context())
    found = Template.from_stack(ImagesStack(app, settings=other)).find_resources(REPOSITORY)
    assert len(found) == 2
    assert found == {
        repository.name: repository.whole for repository in synthesis.resources(REPOSITORY)
    }


def test_docker_builds_for_arm_with_the_same_base(assembly: Assembly) -> None:
    """Guards against an agent built for the deployer's own processor."""
    assets = json.loads((assembly("images").folder / "images-Images.assets.json").read_text())
    (image,) = assets["dockerImages"].values()
    assert image["source"]["platform"] == "linux/arm64"
    assert image["source"]["dockerFile"] == "agent/Dockerfile"
    assert "latest" not in json.dumps(image)


@pytest.mark.parametrize("name", ["plain", "images"])
def test_nothing_else_is_uploaded(assembly: Assembly, name: str) -> None:
    """Guards against a context that is the repository, with cdk.out and .venv in it."""
    folders = [path for path in assembly(name).folder.glob("asset.*") if path.is_dir()]
    for folder in folders:
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        assert size < 10_000_000, folder  # of which the table of statistics is 7.2 MB
