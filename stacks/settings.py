"""An environment's settings: `environments/<name>.toml` as one frozen, strict model.

Unknown keys, wrong types and impossible combinations are found before anything is synthesized.
`docs/settings.md` is generated from this model (`make docs`).
"""

import ipaddress
import json
import re
import tomllib
import zoneinfo
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from stacks import aws_facts

ENVIRONMENTS = Path(__file__).resolve().parent.parent / "environments"

IMAGE_CUDA_MAJOR = 13
"""Of the GPU image that `container/` builds: that of the packages in its lock."""


class SettingsError(ValueError):
    """The settings cannot be used; each line names a key's path and what is accepted."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Image(_Model):
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
            raise ValueError('`uri` is given with source = "digest", and only then')
        return self


class Instances(_Model):
    """How many instances serve speech, and when."""

    minimum: int = Field(
        1,
        ge=1,
        le=100,
        description="never fewer; a bidirectional endpoint "
        "without inference components cannot scale to zero",
    )
    maximum: int = Field(1, ge=1, le=100, description="never more")
    sessions_per_instance: int = Field(
        8,
        ge=1,
        le=500,
        description="open conversations an instance is meant to hold; the target of scaling "
        "(`python -m ops capacity` measures it)",
    )


class Schedule(_Model):
    """From a moment on, other bounds for the number of instances."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,30}$", description="of the scheduled action")
    cron: str = Field(
        pattern=r"^cron\(\S+ \S+ \S+ \S+ \S+ \S+\)$",
        description="when, as `cron(minute hour day month weekday year)`",
    )
    time_zone: str = Field("UTC", min_length=1, description="IANA name of the cron's time zone")
    minimum: int = Field(ge=1, le=100, description="from then on never fewer")
    maximum: int = Field(ge=1, le=100, description="from then on never more")

    @field_validator("time_zone")
    @classmethod
    def _zone_exists(cls, name: str) -> str:
        zones = zoneinfo.available_timezones()
        if zones and name not in zones:  # none: the machine has no time zone data
            raise ValueError(f"{name!r} is no IANA time zone such as Europe/Berlin")
        return name

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Self:
        _check_bounds(self.minimum, self.maximum)
        return self


class Speech(_Model):
    """The SageMaker endpoint."""

    variant: Literal["gpu", "cpu"] = Field("gpu", description="which image is built")
    instance_type: str = Field(
        "ml.g5.xlarge", pattern=r"^ml\.[a-z0-9-]+\.[a-z0-9]+$", description="of the endpoint"
    )
    inference_ami: str | None = Field(
        None,
        description="with a gpu: the host's image; its CUDA major must be the container's. One of "
        + ", ".join(f"`{ami}`" for ami in aws_facts.CUDA_MAJOR_BY_AMI),
    )
    cuda_major: Literal[12, 13] | None = Field(None, description="with a gpu: of the container")
    instances: Instances = Field(Instances(), description="how many")
    schedule: tuple[Schedule, ...] = Field((), description="other bounds at set times")
    model_source: Literal["packages", "release"] = Field(
        "packages", description="where the image's build gets the weights"
    )
    image: Image = Field(Image(), description="where the image comes from")
    startup_timeout_s: int = Field(
        600, ge=60, le=3600, description="until the container answers /ping"
    )
    termination_wait_s: int = Field(
        aws_facts.SESSION_LIMIT_S,
        ge=0,
        le=3600,
        description="how long old instances live on in a rollout; a session lasts up to 1800 s",
    )

    @property
    def fewest_instances(self) -> int:
        """The lowest minimum there ever is."""
        return min([self.instances.minimum, *(action.minimum for action in self.schedule)])

    @model_validator(mode="after")
    def _hardware_fits(self) -> Self:
        family = self.instance_type.split(".")[1]
        families = aws_facts.GPU_FAMILIES if self.variant == "gpu" else aws_facts.CPU_FAMILIES
        if family not in families:
            raise ValueError(
                f"instance_type {self.instance_type!r} does not fit variant {self.variant!r}: "
                f"its family must be one of {', '.join(families)}"
            )
        if self.variant == "cpu":
            if self.inference_ami is not None or self.cuda_major is not None:
                raise ValueError('inference_ami and cuda_major are for variant "gpu" only')
            return self
        if self.inference_ami not in aws_facts.CUDA_MAJOR_BY_AMI:
            raise ValueError(
                f'inference_ami {self.inference_ami!r}: variant "gpu" needs one of '
                f"{', '.join(aws_facts.CUDA_MAJOR_BY_AMI)}"
            )
        needed = aws_facts.CUDA_MAJOR_BY_AMI[self.inference_ami]
        if self.cuda_major != needed:
            raise ValueError(f"cuda_major {self.cuda_major}: {self.inference_ami} needs {needed}")
        if self.image.source != "digest" and self.cuda_major != IMAGE_CUDA_MAJOR:
            raise ValueError(
                f"cuda_major {self.cuda_major}: the image that is built here has "
                f'{IMAGE_CUDA_MAJOR}; another needs image.source = "digest"'
            )
        return self

    @model_validator(mode="after")
    def _counts_fit(self) -> Self:
        _check_bounds(self.instances.minimum, self.instances.maximum)
        names = [action.name for action in self.schedule]
        if len(names) != len(set(names)):
            raise ValueError("schedule: every name may occur once")
        return self


class Jwt(_Model):
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
            raise ValueError("name allowed_clients or allowed_audiences: else nobody gets in")
        return self


class Agent(_Model):
    """The AgentCore runtime."""

    model_id: str = Field(
        "global.amazon.nova-2-lite-v1:0",
        pattern=r"^[a-z0-9.-]+\.[a-z0-9.-]+(:\d+)?$",
        description="Bedrock model or inference profile",
    )
    voice: str = Field("af_heart", min_length=1, max_length=200, description="default voice")
    system_prompt: str | None = Field(None, min_length=1, description="instead of the image's own")
    auth: Literal["iam", "jwt"] = Field("iam", description="how callers prove who they are")
    jwt: Jwt | None = Field(None, description='with auth = "jwt"')
    allowed_headers: tuple[str, ...] = Field(
        (),
        max_length=20,
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
            raise ValueError('`[agent.jwt]` is given with auth = "jwt", and only then')
        if self.idle_timeout_s > self.max_lifetime_s:
            raise ValueError("idle_timeout_s must not exceed max_lifetime_s")
        for header in self.allowed_headers:
            if not re.fullmatch(r"X-Amzn-Bedrock-AgentCore-Runtime-Custom-[A-Za-z0-9-]+", header):
                raise ValueError(
                    f"allowed_headers {header!r}: must begin with "
                    "X-Amzn-Bedrock-AgentCore-Runtime-Custom-"
                )
        return self


class Alarms(_Model):
    """When somebody is told, and a rollout is taken back."""

    email: str | None = Field(
        None, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", description="who is told; nobody without"
    )
    first_audio_p95_ms: int = Field(
        800, ge=50, le=60_000, description="alarm above: a sentence's first audio, 95th percentile"
    )
    errors_per_minute: int = Field(5, ge=1, le=10_000, description="alarm above")


class Budget(_Model):
    """A monthly cost budget over the environment's tag."""

    monthly_usd: int = Field(ge=1, le=1_000_000, description="alarm at 80 % and 100 % of it")
    email: str = Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", description="who is told")


class Network(_Model):
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


class Settings(_Model):
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
                raise ValueError(f"{key!r} is set by somebody else")
            if not re.fullmatch(r"[\w .:/=+@-]{1,128}", key) or len(value) > 256:
                raise ValueError(
                    f"{key!r}: at most 128 characters of a tag's, and 256 in its value"
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
            raise ValueError(
                'speech: minimum, of instances and schedule: kind "stable" needs 2 or more, in two '
                "zones"
            )
        if (self.agent.network == "vpc") != (self.network is not None):
            raise ValueError('`[network]` is given with agent.network = "vpc", and only then')
        if self.network is not None:
            self._check_zones(self.network)
        return self

    def _check_zones(self, network: Network) -> None:
        if self.region is None:
            raise ValueError("region: must be set with `[network]`, whose zones belong to one")
        if self.region not in aws_facts.AGENTCORE_AZ_IDS:
            raise ValueError(
                f"region {self.region!r}: AgentCore attaches to VPCs in "
                f"{', '.join(aws_facts.AGENTCORE_AZ_IDS)}"
            )
        supported = aws_facts.AGENTCORE_AZ_IDS[self.region]
        for az_id in network.az_ids:
            if az_id not in supported:
                raise ValueError(
                    f"network.az_ids {az_id!r}: in {self.region} AgentCore supports "
                    f"{', '.join(supported)}"
                )


def _check_bounds(minimum: int, maximum: int) -> None:
    if minimum > maximum:
        raise ValueError(f"minimum {minimum} must not exceed maximum {maximum}")


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
    path = ".".join(str(part) for part in error["loc"])
    match error["type"]:
        case "extra_forbidden":
            return f"{path}: unknown key"
        case "missing":
            return f"{path}: must be given"
        case "value_error":
            message = str(error["ctx"]["error"])
            return f"{path}: {message}" if path else message
    return f"{path}: {error['msg']}, not {error['input']!r}"
