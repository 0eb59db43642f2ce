"""The environment's two images."""

import aws_cdk as cdk
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_ecr_assets as ecr_assets
from constructs import Construct

from stacks.constructs.image_builds import acknowledge_image_builds
from stacks.constructs.source_image import SourceImage
from stacks.settings import Settings
from stacks.stack import EnvironmentStack


class ImagesStack(EnvironmentStack):
    """The speech image and the agent's, each with its repository.

    With `source = "codebuild"` (the default) the repositories are the environment's own. With
    `"docker"` the image lies in the repository of the account's CDK bootstrap, which all
    environments share and which `cdk destroy` leaves alone (`cdk gc` collects it). With `"digest"`
    nothing is made.

    Args:
        scope: the app.
        construct_id: `<environment>-Images`.
        settings: of the environment.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(
            scope, construct_id, settings=settings, description="Voice agent: container images"
        )
        speech = SourceImage(
            self,
            "Speech",
            image=settings.speech.image,
            folder="container",
            # What ml.* instances are, all families that the settings accept.
            platform=ecr_assets.Platform.LINUX_AMD64,
            build_args={
                "VARIANT": settings.speech.variant,
                "MODEL_SOURCE": settings.speech.model_source,
            },
            retain=settings.is_stable,
        )
        agent = SourceImage(
            self,
            "Agent",
            image=settings.agent.image,
            folder="agent",
            # AgentCore runs nothing else (its developer guide, "HTTP protocol contract").
            platform=ecr_assets.Platform.LINUX_ARM64,
            build_args={},
            retain=settings.is_stable,
        )
        self.speech_image_uri: str = speech.uri
        self.speech_repository: ecr.IRepository = speech.repository
        self.agent_image_uri: str = agent.uri
        self.agent_repository: ecr.IRepository = agent.repository
        acknowledge_image_builds(self)
        if "codebuild" not in (settings.speech.image.source, settings.agent.image.source):
            # CloudFormation refuses a stack without resources; this one is nothing.
            cdk.CfnWaitConditionHandle(self, "Nothing")
