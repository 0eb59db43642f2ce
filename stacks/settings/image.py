"""`[speech.image]` and `[agent.image]`: the source of an image."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from stacks.settings.base import Misfit, Model


class Image(Model):
    """The source of the image."""

    source: Literal["codebuild", "docker", "digest"] = Field(
        "codebuild",
        description="`codebuild`: CodeBuild builds the image in the account at deploy time, "
        "without Docker. `docker`: the machine that deploys builds it. `digest`: `uri` "
        "names an existing image.",
    )
    uri: str | None = Field(
        None,
        pattern=r"^\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/[^\s@:]+@sha256:[0-9a-f]{64}$",
        examples=["123456789012.dkr.ecr.eu-central-1.amazonaws.com/kokoro@sha256:" + 64 * "0"],
        description="Required with `digest`, and allowed only then: the image as "
        "`ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME@sha256:…`. AWS pulls from ECR only.",
    )

    def misfits(self) -> Iterator[Misfit]:
        """Yield the URI if it does not go with the source."""
        if (self.source == "digest") != (self.uri is not None):
            yield Misfit("uri", 'is needed with source = "digest", and allowed only then')
