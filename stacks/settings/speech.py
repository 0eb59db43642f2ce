"""`[speech]`: the SageMaker endpoint, its instances, and its container's defaults."""

import zoneinfo
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from stacks.settings.base import Misfit, Model
from stacks.settings.image import Image
from stacks.settings.instances import (
    CPU_FAMILIES,
    CUDA_MAJOR_BY_AMI,
    GPU_FAMILIES,
    IMAGE_CUDA_MAJOR,
)

SESSION_LIMIT_S = 1800
"""A bidirectional stream lasts 30 minutes at most; old instances must outlive it in a rollout."""


class Bounds(Model):
    """How many instances there may be."""

    minimum: int = Field(
        ge=1,
        le=100,
        description="lower bound; a bidirectional endpoint without inference components cannot "
        "scale to zero",
    )
    maximum: int = Field(ge=1, le=100, description="upper bound")

    @model_validator(mode="after")
    def _are_in_order(self) -> Self:
        if self.minimum > self.maximum:
            raise Misfit("minimum", f"{self.minimum} must not exceed maximum {self.maximum}")
        return self


class Instances(Bounds):
    """How many instances serve speech, and how many sessions each."""

    sessions_per_instance: int = Field(
        8,
        ge=1,
        le=500,
        description="open conversations an instance is meant to hold; the target of scaling "
        "(`python -m ops capacity` measures it)",
    )


class Schedule(Bounds):
    """From a moment on, other bounds for the number of instances."""

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,30}$", description="name of the scheduled action")
    cron: str = Field(
        pattern=r"^cron\(\S+ \S+ \S+ \S+ \S+ \S+\)$",
        description="when the bounds change, as `cron(minute hour day month weekday year)`",
    )
    time_zone: str = Field("UTC", description="IANA name of the cron's time zone")

    @field_validator("cron")
    @classmethod
    def _one_day_field_is_open(cls, cron: str) -> str:
        _, _, day, _, weekday, _ = cron.removeprefix("cron(").removesuffix(")").split()
        if (day == "?") == (weekday == "?"):
            raise ValueError(f"{cron!r}: day or weekday must be `?`, and the other not")
        return cron

    @field_validator("time_zone")
    @classmethod
    def _zone_exists(cls, name: str) -> str:
        zones = zoneinfo.available_timezones()
        if zones and name not in zones:  # none: the machine has no time zone data
            raise ValueError(f"{name!r} is not an IANA time zone, such as Europe/Berlin")
        return name


class Speech(Model):
    """The SageMaker endpoint."""

    variant: Literal["gpu", "cpu"] = Field("gpu", description="which image is built")
    instance_type: str = Field(
        "ml.g5.xlarge",
        pattern=r"^ml\.[a-z0-9-]+\.[a-z0-9]+$",
        description="type of the endpoint's instances",
    )
    inference_ami: str | None = Field(
        None,
        description="with `gpu`: the host's image, with the container's CUDA major; one of "
        + ", ".join(f"`{ami}`" for ami in CUDA_MAJOR_BY_AMI),
    )
    cuda_major: Literal[12, 13] | None = Field(
        None, description="with `gpu`: CUDA major of the container"
    )
    granularity: Literal["window", "sentence"] = Field(
        "window",
        description="how audio is sent when a request does not say: `window`, in windows inside a "
        "sentence; `sentence`, in whole sentences",
    )
    default_voice: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="voice, or mix, of a request that names none; the image's by default",
    )
    session_idle_s: int | None = Field(
        None,
        ge=60,
        le=SESSION_LIMIT_S - 60,
        description="seconds after which an idle session is closed; the image's by default",
    )
    instances: Instances = Field(Instances(minimum=1, maximum=1), description="number of instances")
    schedule: tuple[Schedule, ...] = Field((), description="other bounds at set times")
    model_source: Literal["packages", "release"] = Field(
        "packages", description="where the image's build gets the weights"
    )
    image: Image = Field(Image(), description="where the image comes from")
    startup_timeout_s: int = Field(
        600, ge=60, le=3600, description="seconds until the container must answer /ping"
    )
    termination_wait_s: int = Field(
        SESSION_LIMIT_S,
        ge=0,
        le=3600,
        description="seconds that old instances live on in a rollout; a session lasts up to 1800 s",
    )

    @property
    def fewest_instances(self) -> int:
        """The lowest minimum there ever is."""
        return min([self.instances.minimum, *(action.minimum for action in self.schedule)])

    @field_validator("schedule")
    @classmethod
    def _names_differ(cls, schedule: tuple[Schedule, ...]) -> tuple[Schedule, ...]:
        names = [action.name for action in schedule]
        if len(names) != len(set(names)):
            raise ValueError("every name may occur once")
        return schedule

    @model_validator(mode="after")
    def _hardware_fits(self) -> Self:
        family = self.instance_type.split(".")[1]
        families = GPU_FAMILIES if self.variant == "gpu" else CPU_FAMILIES
        if family not in families:
            raise Misfit(
                "instance_type",
                f"{self.instance_type!r} does not fit variant {self.variant!r}: its family must be "
                f"one of {', '.join(families)}",
            )
        if self.variant == "gpu":
            self._check_cuda()
        else:
            for key in ("inference_ami", "cuda_major"):
                if getattr(self, key) is not None:
                    raise Misfit(key, 'is for variant "gpu" only')
        return self

    def _check_cuda(self) -> None:
        if self.inference_ami not in CUDA_MAJOR_BY_AMI:
            raise Misfit(
                "inference_ami",
                f'{self.inference_ami!r}: variant "gpu" needs one of '
                f"{', '.join(CUDA_MAJOR_BY_AMI)}",
            )
        needed = CUDA_MAJOR_BY_AMI[self.inference_ami]
        if self.cuda_major != needed:
            raise Misfit("cuda_major", f"{self.cuda_major}: {self.inference_ami} needs {needed}")
        if self.image.source != "digest" and self.cuda_major != IMAGE_CUDA_MAJOR:
            raise Misfit(
                "cuda_major",
                f"{self.cuda_major}: the image that is built here has {IMAGE_CUDA_MAJOR}; another "
                'needs image.source = "digest"',
            )
