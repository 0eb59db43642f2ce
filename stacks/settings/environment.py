"""An environment's settings: `environments/<name>.toml` as one frozen, strict model.

Unknown keys, wrong types and impossible combinations are found before anything is synthesized.
`docs/settings.md` is generated from this model (`make docs`).
"""

import ipaddress
import json
import re
import tomllib
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from stacks.settings.aws_facts import AGENTCORE_AZ_IDS
from stacks.settings.base import Misfit, Model
from stacks.settings.speech import Image, Instances, Schedule, Speech

__all__ = [
    "ENVIRONMENTS",
    "Agent",
    "Alarms",
    "Budget",
    "Image",
    "Instances",
    "Jwt",
    "Network",
    "Schedule",
    "Settings",
    "SettingsError",
    "Speech",
    "load",
]

ENVIRONMENTS = Path(__file__).resolve().parents[2] / "environments"


class SettingsError(ValueError):
    """The settings cannot be used; each line names a key's path and what is accepted."""


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
    system_prompt: str | None = Field(
        None,
        min_length=1,
        max_length=2048,  # of an AgentCore environment variable
        description="instead of the image's own",
    )
    auth: Literal["iam", "jwt"] = Field("iam", description="how callers prove who they are")
    jwt: Jwt | None = Field(None, description='with auth = "jwt"')
    allowed_headers: tuple[str, ...] = Field(
        (),
        max_length=19,  # AgentCore passes 20 on, and with jwt the token is one
        description="request headers passed on to the agent, beside `Authorization` with jwt",
    )
    network: Literal["public", "vpc"] = Field("public", description="`vpc` needs `[network]`")
    idle_timeout_s: int = Field(
        900, ge=60, le=28_800, description="an idle session's microVM is kept so long"
    )
    max_lifetime_s: int = Field(28_800, ge=60, le=28_800, description="of any session's microVM")
    image: Image = Field(Image(), description="where the image comes from")

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if (self.auth == "jwt") != (self.jwt is not None):
            raise Misfit("jwt", 'given with auth = "jwt", and only then')
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


class Alarms(Model):
    """When somebody is told, and a rollout is taken back."""

    email: str | None = Field(
        None, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", description="who is told; nobody without"
    )
    first_audio_p95_ms: int = Field(
        800, ge=50, le=60_000, description="alarm above: a sentence's first audio, 95th percentile"
    )
    errors_per_minute: int = Field(5, ge=1, le=10_000, description="alarm above")


class Budget(Model):
    """A monthly cost budget over the environment's tag."""

    monthly_usd: int = Field(ge=1, le=1_000_000, description="alarm at 80 % and 100 % of it")
    email: str = Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", description="who is told")


class Network(Model):
    """A VPC of the environment's own, in a stack that outlives the others."""

    cidr: str = Field(
        "10.42.0.0/16", pattern=r"^\d{1,3}(\.\d{1,3}){3}/(1[6-9]|2[0-4])$", description="of the VPC"
    )
    az_ids: tuple[str, ...] = Field(
        min_length=2, max_length=3, description="Availability Zone ids that AgentCore supports"
    )

    @field_validator("cidr")
    @classmethod
    def _is_a_block(cls, cidr: str) -> str:
        ipaddress.ip_network(cidr)
        return cidr

    @field_validator("az_ids")
    @classmethod
    def _differ(cls, az_ids: tuple[str, ...]) -> tuple[str, ...]:
        if len(az_ids) != len(set(az_ids)):
            raise ValueError("every zone may occur once")
        return az_ids


class Settings(Model):
    """One environment."""

    name: str = Field(
        pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=20, description="the file's name"
    )
    kind: Literal["ephemeral", "stable"] = Field(
        description="`stable` retains data, is protected from deletion and runs two instances or "
        "more; `ephemeral` is destroyed whole"
    )
    account: str | None = Field(None, pattern=r"^\d{12}$", description="else the deployer's")
    region: str | None = Field(
        None, pattern=r"^[a-z]{2}(-[a-z]+)+-\d$", description="else the deployer's"
    )
    permissions_boundary: str | None = Field(
        None,
        pattern=r"^[\w+=,.@-]{1,128}$",
        description="name of the IAM policy that bounds every role",
    )
    tags: dict[str, str] = Field(
        {}, max_length=40, description="on every resource, beside `environment`"
    )
    speech: Speech = Field(description="the SageMaker endpoint")
    agent: Agent = Field(Agent(), description="the AgentCore runtime")
    alarms: Alarms = Field(Alarms(), description="when somebody is told")
    budget: Budget | None = Field(None, description="none without")
    network: Network | None = Field(None, description="no VPC without")

    @field_validator("tags")
    @classmethod
    def _tags_are_allowed(cls, tags: dict[str, str]) -> dict[str, str]:
        for key, value in tags.items():
            if key == "environment" or key.startswith("aws:"):
                raise ValueError(f"{key!r}: `environment` and `aws:…` are not yours to set")
            allowed = r"[\w .:/=+@-]"
            if not re.fullmatch(allowed + "{1,128}", key) or not re.fullmatch(
                allowed + "{0,256}", value
            ):
                raise ValueError(
                    f"{key!r}: a key has at most 128 letters, digits, spaces and .:/=+@_-, a value "
                    "at most 256 of them"
                )
        return tags

    @property
    def is_stable(self) -> bool:
        """Whether the environment is kept and protected."""
        return self.kind == "stable"

    @property
    def endpoint_name(self) -> str:
        """The SageMaker endpoint's, fixed so that alarms can name it before it exists."""
        return f"kokoro-{self.name}"

    @property
    def runtime_name(self) -> str:
        """The AgentCore runtime's, which may hold no hyphens."""
        return f"voice_agent_{self.name.replace('-', '_')}"

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if self.is_stable and self.speech.fewest_instances < 2:
            raise Misfit(
                "speech.instances.minimum",
                'kind "stable" needs 2 or more, in two zones, at all times of the schedule',
            )
        if (self.agent.network == "vpc") != (self.network is not None):
            raise Misfit("network", 'given with agent.network = "vpc", and only then')
        if self.network is not None:
            self._check_zones(self.network)
        return self

    def _check_zones(self, network: Network) -> None:
        supported = AGENTCORE_AZ_IDS.get(self.region or "")
        if supported is None:
            raise Misfit(
                "region",
                f"{self.region!r}: with `[network]` one of {', '.join(AGENTCORE_AZ_IDS)}, where "
                "AgentCore attaches to VPCs",
            )
        for az_id in network.az_ids:
            if az_id not in supported:
                raise Misfit(
                    "network.az_ids",
                    f"{az_id!r}: in {self.region} AgentCore supports {', '.join(supported)}",
                )


def load(name: str, folder: Path = ENVIRONMENTS) -> Settings:
    """The settings of one environment.

    Args:
        name: of the environment: the file `<name>.toml` in `folder`.
        folder: where the environments' files are.

    Raises:
        SettingsError: there is no such file, it is not TOML, or it does not fit the model.
    """
    path = folder / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob("*.toml"))) or "none"
        raise SettingsError(f"environment {name!r}: there is no {path.name}; there are: {known}")
    try:
        values = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path.name}: {error}") from error
    if "name" in values:
        raise SettingsError(f"{path.name}: name: is the file's name, not a key in it")
    try:
        # As JSON, because there an array may become a tuple even if types are strict.
        return Settings.model_validate_json(json.dumps(values | {"name": name}, default=str))
    except ValidationError as error:
        lines = [f"{path.name}: {_problem(item)}" for item in error.errors(include_url=False)]
        raise SettingsError("\n".join(lines)) from error


def _problem(error: Any) -> str:
    path = [str(part) for part in error["loc"]]
    message = error["msg"] + f", not {error['input']!r}"
    match error["type"]:
        case "extra_forbidden":
            message = "unknown key"
        case "missing":
            message = "must be given"
        case "value_error":
            reason = error["ctx"]["error"]
            message = str(reason)
            if isinstance(reason, Misfit):
                path.append(reason.key)
    return f"{'.'.join(path)}: {message}"
