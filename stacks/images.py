"""The stack that builds the images of the agent and the speech server and stores them in ECR."""

import aws_cdk as cdk
from aws_cdk import aws_ecr_assets as ecr_assets

from stacks.constructs.source_image import SourceImage
from stacks.nag import acknowledge_image_builds
from stacks.settings import Settings
from stacks.stack import EnvironmentStack


class ImagesStack(EnvironmentStack):
    """The speech image and the agent image, each with its repository.

    The environment has its own repositories for every `source`. With `"codebuild"` (the default)
    they hold the images. With `"docker"` the image is in the repository of the account's CDK
    bootstrap, which all environments share and which `cdk destroy` does not touch (`cdk gc` cleans
    it up). With `"digest"` the image already exists. The last two sources push nothing to the
    environment's repositories, and keep the images that `"codebuild"` stored there.

    Args:
        app: The CDK app.
        settings: The environment's settings.

    Attributes:
        speech: The image of the Kokoro container.
        agent: The image of the agent.
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
            # All instance families that the settings accept are x86-64.
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
            # AgentCore runs no other platform (developer guide, "HTTP protocol contract").
            platform=ecr_assets.Platform.LINUX_ARM64,
            build_args={},
            retain=settings.is_stable,
        )
        acknowledge_image_builds(self)
