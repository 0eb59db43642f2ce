"""A container image in ECR that is built from a Dockerfile of this repository."""

from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecr_assets as ecr_assets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from cdklabs.deploy_time_build import ContainerImageBuild
from constructs import Construct

from stacks.settings.image import Image

ROOT = Path(__file__).resolve().parents[2]

BASE_IMAGE = "public.ecr.aws/docker/library/python:3.12-slim-bookworm"
"""Docker Hub's official image, on ECR Public. Docker Hub limits anonymous pulls for each address,
and CodeBuild's addresses are shared."""

KEPT_IMAGES = 20
"""The number of images that a repository keeps. Instances pull when they start, so the image in
service and the images for a rollback must be among them."""


class SourceImage(Construct):
    """An image, with the repository from which it is pulled.

    The environment's own repository exists for every source, so that a change from `codebuild` to
    another source deletes no images. A rollback to a digest needs the image that was built before.

    Args:
        image: The settings for the source of the image.
        folder: The folder with the Dockerfile, relative to the root of this repository. The root is
            the build context, limited by the file `Dockerfile.dockerignore` in the folder.
        platform: The platform on which the image runs.
        build_args: The build arguments of the Dockerfile.
        retain: Whether the repository and its images outlive the stack.

    Attributes:
        repository: The repository, on which pulling can be granted.
        uri: The whole URI. Another source changes this text, also in the template of a stack that
            uses it, because the CDK skips a stack whose template is unchanged.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        image: Image,
        folder: str,
        platform: ecr_assets.Platform,
        build_args: dict[str, str],
        retain: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        self.repository: ecr.IRepository
        self.uri: str
        own = self._repository(retain)
        dockerfile = f"{folder}/Dockerfile"
        build_args = {"BASE_IMAGE": BASE_IMAGE} | build_args
        if image.uri is not None:
            self.repository, self.uri = _existing(self, image.uri), image.uri
        elif image.source == "docker":
            asset = ecr_assets.DockerImageAsset(
                self,
                "Asset",
                directory=str(ROOT),
                file=dockerfile,
                exclude=_ignored(dockerfile),
                ignore_mode=cdk.IgnoreMode.DOCKER,
                platform=platform,
                build_args=build_args,
            )
            self.repository, self.uri = asset.repository, asset.image_uri
        else:
            self.repository = own
            self.uri = self._build(own, dockerfile, platform, build_args)

    def _repository(self, retain: bool) -> ecr.Repository:
        return ecr.Repository(
            self,
            "Repository",
            image_scan_on_push=True,
            image_tag_mutability=ecr.TagMutability.IMMUTABLE,
            lifecycle_rules=[ecr.LifecycleRule(max_image_count=KEPT_IMAGES)],
            empty_on_delete=not retain,
            removal_policy=cdk.RemovalPolicy.RETAIN if retain else cdk.RemovalPolicy.DESTROY,
        )

    def _build(
        self,
        repository: ecr.Repository,
        dockerfile: str,
        platform: ecr_assets.Platform,
        build_args: dict[str, str],
    ) -> str:
        """Let CodeBuild build the image at deploy time, and return its URI."""
        ignored = _ignored(dockerfile)
        source_hash = cdk.FileSystem.fingerprint(
            str(ROOT),
            exclude=ignored,
            ignore_mode=cdk.IgnoreMode.DOCKER,
            extra_hash=repr((sorted(build_args.items()), platform.platform)),
        )[:16]
        build = ContainerImageBuild(
            self,
            "Build",
            directory=str(ROOT),
            file=dockerfile,
            exclude=ignored,
            ignore_mode=cdk.IgnoreMode.DOCKER,
            repository=repository,
            platform=platform,
            build_args=build_args,
            # The builder appends random characters, because an existing tag cannot be pushed again.
            tag_prefix=f"{source_hash}-",
        )
        _own_build_logs(build)
        output = cdk.CfnOutput(self, "Uri", value=f"{repository.repository_uri}:{build.image_tag}")
        output.override_logical_id(f"{self.node.id}Image{source_hash}")
        return cdk.Fn.get_stack_output(cdk.Stack.of(self).stack_name, output.logical_id)


def _ignored(dockerfile: str) -> list[str]:
    """Return the patterns for the files of the repository that the build does not need.

    The CDK applies them to what it uploads, in which `*` would exclude the Dockerfile itself.
    """
    patterns = (ROOT / f"{dockerfile}.dockerignore").read_text(encoding="utf-8").splitlines()
    return [*patterns, f"!{dockerfile}"]


def _own_build_logs(build: ContainerImageBuild) -> None:
    """Create the log group of the builds; CodeBuild would keep its logs without a limit."""
    role = build.grant_principal
    assert isinstance(role, iam.Role)
    project = role.node.scope
    assert isinstance(project, codebuild.Project)
    logs.LogGroup(
        project,
        "Logs",
        log_group_name=f"/aws/codebuild/{project.project_name}",
        retention=logs.RetentionDays.ONE_MONTH,
    )
    # This includes the log group of the function that starts the builds, which Lambda would create.
    for construct in cdk.Stack.of(build).node.find_all():
        if isinstance(construct, logs.LogGroup):
            build.node.add_dependency(construct)


def _existing(scope: Construct, uri: str) -> ecr.IRepository:
    """Return the repository in `ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME@sha256:…`."""
    host, _, name = uri.split("@")[0].partition("/")
    account, _, _, region, *_ = host.split(".")
    arn = cdk.Stack.of(scope).format_arn(
        service="ecr", region=region, account=account, resource="repository", resource_name=name
    )
    return ecr.Repository.from_repository_attributes(
        scope, "Existing", repository_arn=arn, repository_name=name
    )
