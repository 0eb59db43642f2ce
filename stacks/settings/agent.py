"""`[agent]`: the agent on AgentCore, with its model, voice and callers."""

import re
from collections.abc import Iterator
from typing import Literal

from pydantic import Field, field_validator

from stacks.settings.base import Misfit, Model
from stacks.settings.image import Image


class Jwt(Model):
    """The tokens that the agent accepts. Needed with `auth = "jwt"`, and allowed only then."""

    discovery_url: str = Field(
        pattern=r"^https://\S+/\.well-known/openid-configuration$",
        examples=["https://login.example.com/.well-known/openid-configuration"],
        description="Discovery URL of the OpenID Connect provider.",
    )
    allowed_clients: tuple[str, ...] = Field((), description="Accepted `client_id` values.")
    allowed_audiences: tuple[str, ...] = Field((), description="Accepted `aud` values.")

    def misfits(self) -> Iterator[Misfit]:
        """Yield the clients if nobody is allowed."""
        if not (self.allowed_clients or self.allowed_audiences):
            yield Misfit(
                "allowed_clients",
                "name a client, or an audience in allowed_audiences; otherwise nobody is allowed",
            )


class Agent(Model):
    """The agent, which runs on Amazon Bedrock AgentCore Runtime."""

    model_id: str = Field(
        "global.amazon.nova-2-lite-v1:0",
        pattern=r"^[a-z0-9.-]+\.[a-z0-9.-]+(:\d+)?$",
        examples=["amazon.nova-lite-v1:0"],
        description="Bedrock model or inference profile that writes the replies.",
    )
    voice: str = Field(
        "af_heart",
        min_length=1,
        max_length=200,
        description="Voice, or mix of voices, of a reply whose prompt names none.",
    )
    language: str | None = Field(
        None,
        pattern=r"^[a-z]{2}$",
        examples=["en"],
        description="ISO 639-1 code of the language of the replies. Default: that of the voice.",
    )
    system_prompt: str | None = Field(
        None,
        min_length=1,
        max_length=2048,  # the limit of an AgentCore environment variable
        description="Instructions to the model, instead of those in the image.",
    )
    first_chunk: Literal["sentence", "clause"] | None = Field(
        None,
        description="What speech waits for: the first sentence, or only the first clause of a "
        "long one. Default: that of the image.",
    )
    max_reply_tokens: int | None = Field(
        None,
        ge=1,
        le=8192,
        description="Length at which a reply is cut off, in tokens. Default: that of the image.",
    )
    auth: Literal["iam", "jwt"] = Field(
        "iam",
        description="Authentication of callers: signed requests (`iam`) or bearer tokens (`jwt`).",
    )
    jwt: Jwt | None = Field(None, description='Needed with `auth = "jwt"`.')
    allowed_headers: tuple[str, ...] = Field(
        (),
        max_length=19,  # AgentCore passes on 20, and with jwt `Authorization` is one of them
        description="Request headers that AgentCore passes on to the agent. Each begins with "
        "`X-Amzn-Bedrock-AgentCore-Runtime-Custom-`. With `jwt`, `Authorization` is passed on too.",
    )
    network: Literal["public", "vpc"] = Field(
        "public",
        description="Network of the agent. `vpc` needs `[network]`, which needs `region`.",
    )
    idle_timeout_s: int = Field(
        900,
        ge=60,
        le=28_800,
        description="Seconds after which the microVM of an idle session is stopped. Also sets "
        "`VOICE_AGENT_CONVERSATION_IDLE_S`, to at most 3600.",
    )
    max_lifetime_s: int = Field(
        28_800, ge=60, le=28_800, description="Maximum lifetime of a microVM, in seconds."
    )
    image: Image = Field(Image(), description="Source of the agent's image.")

    def misfits(self) -> Iterator[Misfit]:
        """Yield the keys that do not fit `auth` or one another."""
        if (self.auth == "jwt") != (self.jwt is not None):
            yield Misfit("jwt", 'is needed with auth = "jwt", and allowed only then')
        if self.idle_timeout_s > self.max_lifetime_s:
            yield Misfit(
                "idle_timeout_s", f"must not exceed max_lifetime_s, which is {self.max_lifetime_s}"
            )

    @field_validator("allowed_headers")
    @classmethod
    def _headers_may_pass(cls, headers: tuple[str, ...]) -> tuple[str, ...]:
        for header in headers:
            if not re.fullmatch(r"X-Amzn-Bedrock-AgentCore-Runtime-Custom-[A-Za-z0-9-]+", header):
                raise ValueError(
                    f"{header!r} must begin with X-Amzn-Bedrock-AgentCore-Runtime-Custom-"
                )
        return headers
