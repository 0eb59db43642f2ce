"""`[speech.image]` and `[agent.image]`: where an image comes from."""

from typing import Literal, Self

from pydantic import Field, model_validator

from stacks.settings.base import Misfit, Model


class Image(Model):
    """Where an image comes from."""

    source: Literal["codebuild", "docker", "digest"] = Field(
        "codebuild",
        description="`codebuild`: built in the account at deploy time, no Docker needed; `docker`: "
        "built on the machine that deploys; `digest`: an image that exists",
    )
    uri: str | None = Field(
        None,
        pattern=r"^\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/[^\s@:]+@sha256:[0-9a-f]{64}$",
        description="with `digest`: the image as "
        "`ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME@sha256:…`; AWS pulls from ECR only",
    )

    @model_validator(mode="after")
    def _uri_goes_with_digest(self) -> Self:
        if (self.source == "digest") != (self.uri is not None):
            raise Misfit("uri", 'is needed with source = "digest", and allowed only then')
        return self
