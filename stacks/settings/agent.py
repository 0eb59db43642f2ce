"""`[agent]`: the agent on AgentCore, its model, voice and callers."""

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from stacks.settings.base import Misfit, Model
from stacks.settings.image import Image


class Jwt(Model):
    """Whose tokens the agent accepts."""

    discovery_url: str = Field(
        pattern=r"^https://\S+/\.well-known/openid-configuration$",
        description="of the OpenID Connect provider",
    )
    allowed_clients: tuple[str, ...] = Field((), description="`client_id` values")
    allowed_audiences: tuple[str, ...] = Field((), description="`aud` values")

    @model_validator(mode="after")
    def _somebody_is_allowed(self) -> Self:
        if not (self.allowed_clients or self.allowed_audiences):
            raise Misfit("allowed_clients", "needed, or allowed_audiences: else nobody gets in")
        return self


class Agent(Model):
    """The AgentCore runtime."""

    model_id: str = Field(
        "global.amazon.nova-2-lite-v1:0",
        pattern=r"^[a-z0-9.-]+\.[a-z0-9.-]+(:\d+)?$",
        description="Bedrock model or inference profile",
    )
    voice: str = Field(
        "af_heart", min_length=1, max_length=200, description="default voice, or a mix of several"
    )
    language: str | None = Field(
        None,
        pattern=r"^[a-z]{2}$",
        description="ISO 639-1 code of the replies' language; the voice's by default",
    )
    system_prompt: str | None = Field(
        None,
        min_length=1,
        max_length=2048,  # of an AgentCore environment variable
        description="replaces the image's own prompt",
    )
    first_chunk: Literal["sentence", "clause"] | None = Field(
        None, description="what a reply's speech begins with; the image's by default"
    )
    max_reply_tokens: int | None = Field(
        None, ge=1, le=8192, description="most tokens of one reply; the image's by default"
    )
    auth: Literal["iam", "jwt"] = Field("iam", description="how callers prove who they are")
    jwt: Jwt | None = Field(None, description='needed with auth = "jwt"')
    allowed_headers: tuple[str, ...] = Field(
        (),
        max_length=19,  # AgentCore passes 20 on, and with jwt the token is one
        description="request headers passed on to the agent, beside `Authorization` with jwt",
    )
    network: Literal["public", "vpc"] = Field("public", description="`vpc` needs `[network]`")
    idle_timeout_s: int = Field(
        900, ge=60, le=28_800, description="seconds that an idle session's microVM is kept"
    )
    max_lifetime_s: int = Field(
        28_800, ge=60, le=28_800, description="seconds that a microVM lives at most"
    )
    image: Image = Field(Image(), description="where the image comes from")

    @model_validator(mode="after")
    def _keys_fit(self) -> Self:
        if (self.auth == "jwt") != (self.jwt is not None):
            raise Misfit("jwt", 'is needed with auth = "jwt", and allowed only then')
        if self.idle_timeout_s > self.max_lifetime_s:
            raise Misfit(
                "idle_timeout_s", f"must not exceed max_lifetime_s, which is {self.max_lifetime_s}"
            )
        return self

    @field_validator("allowed_headers")
    @classmethod
    def _headers_may_pass(cls, headers: tuple[str, ...]) -> tuple[str, ...]:
        for header in headers:
            if not re.fullmatch(r"X-Amzn-Bedrock-AgentCore-Runtime-Custom-[A-Za-z0-9-]+", header):
                raise ValueError(
                    f"{header!r} must begin with X-Amzn-Bedrock-AgentCore-Runtime-Custom-"
                )
        return headers
