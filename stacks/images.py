"""The environment's two images."""

import aws_cdk as cdk
from aws_cdk import aws_ecr_assets as ecr_assets

from stacks.constructs.source_image import SourceImage
from stacks.nag import acknowledge_image_builds
from stacks.settings import Settings
from stacks.stack import EnvironmentStack


class ImagesStack(EnvironmentStack):
    """The speech image and the agent's, each with its repository.

    With `source = "codebuild"` (the default) the repositories are the environment's own. With
    `"docker"` the image lies in the repository of the account's CDK bootstrap, which all
    environments share and which `cdk destroy` leaves alone (`cdk gc` collects it). With `"digest"`
    nothing is created.

    Args:
        app: The CDK app.
        settings: The environment's settings.

    Attributes:
        speech: The Kokoro container's image.
        agent: The agent's image.
    """

    def __init__(self, app: cdk.App, *, settings: Settings) -> None:
        super().__init__(
            app, "images", settings=settings, description="Voice agent: container images"
        )
        self.speech = SourceImage(
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
        self.agent = SourceImage(
            self,
            "Agent",
            image=settings.agent.image,
            folder="agent",
            # AgentCore runs nothing else (its developer guide, "HTTP protocol contract").
            platform=ecr_assets.Platform.LINUX_ARM64,
            build_args={},
            retain=settings.is_stable,
        )
        acknowledge_image_builds(self)
        if "codebuild" not in (settings.speech.image.source, settings.agent.image.source):
            # CloudFormation refuses a stack without resources; this one is nothing.
            cdk.CfnWaitConditionHandle(self, "Nothing")
