"""`[speech]`: the SageMaker endpoint, its instances and the defaults of its container."""

import zoneinfo
from collections.abc import Iterator
from typing import Literal

from pydantic import Field, field_validator

from stacks.settings.base import Misfit, Model
from stacks.settings.cron import cron_problem
from stacks.settings.image import Image
from stacks.settings.instances import (
    CPU_FAMILIES,
    CUDA_MAJOR_BY_AMI,
    GPU_FAMILIES,
    IMAGE_CUDA_MAJOR,
)

SESSION_LIMIT_S = 1800
"""The maximum length of a bidirectional stream. In a rollout, old instances must outlive it."""


class Bounds(Model):
    """The bounds for the number of instances."""

    minimum: int = Field(
        ge=1,
        le=100,
        description="Minimum number of instances. A bidirectional endpoint without inference "
        "components cannot scale to zero.",
    )
    maximum: int = Field(ge=1, le=100, description="Maximum number of instances.")

    def misfits(self) -> Iterator[Misfit]:
        """Yield the minimum if it exceeds the maximum."""
        if self.minimum > self.maximum:
            yield Misfit("minimum", f"{self.minimum} must not exceed maximum {self.maximum}")


class Instances(Bounds):
    """The number of instances, and of sessions on each.

    Without this table, `minimum` and `maximum` are 1. With it, both are required.
    """

    sessions_per_instance: int = Field(
        8,
        ge=1,
        le=500,
        description="Open conversations per instance, the target of scaling. `python -m ops "
        "capacity` measures it.",
    )


class Schedule(Bounds):
    """A scheduled action, which changes the bounds for the number of instances at set times.

    Its `maximum` must not exceed that of `[speech.instances]`.
    """

    name: str = Field(
        pattern=r"^[a-z][a-z0-9-]{0,30}$",
        examples=["evening"],
        description="Name of the scheduled action.",
    )
    cron: str = Field(
        pattern=r"^cron\(\S+ \S+ \S+ \S+ \S+ \S+\)$",
        examples=["cron(0 19 ? * MON-FRI *)"],
        description="Times of the change, as `cron(minute hour day month weekday year)`.",
    )
    time_zone: str = Field("UTC", description="IANA name of the time zone of `cron`.")

    @field_validator("cron")
    @classmethod
    def _cron_is_valid(cls, cron: str) -> str:
        problem = cron_problem(cron)
        if problem:
            raise ValueError(problem)
        return cron

    @field_validator("time_zone")
    @classmethod
    def _zone_exists(cls, name: str) -> str:
        zones = zoneinfo.available_timezones()
        if zones and name not in zones:  # the set is empty on a machine without time zone data
            raise ValueError(f"{name!r} is not an IANA time zone, such as Europe/Berlin")
        return name


class Speech(Model):
    """The SageMaker endpoint that serves speech."""

    variant: Literal["gpu", "cpu"] = Field("gpu", description="Variant of the image.")
    instance_type: str = Field(
        "ml.g5.xlarge",
        pattern=r"^ml\.[a-z0-9-]+\.[a-z0-9]+$",
        examples=["ml.g5.xlarge"],
        description="Instance type of the endpoint. Its family must fit `variant`.",
    )
    inference_ami: str | None = Field(
        None,
        description="Required with `gpu`, not allowed with `cpu`: the image of the host, with the "
        "CUDA major version of the container. One of "
        + ", ".join(f"`{ami}`" for ami in CUDA_MAJOR_BY_AMI)
        + ".",
    )
    cuda_major: Literal[12, 13] | None = Field(
        None,
        description="Required with `gpu`, not allowed with `cpu`: CUDA major version of the "
        "container.",
    )
    granularity: Literal["window", "sentence"] = Field(
        "window",
        description="Granularity of a request that names none: audio is sent in windows inside a "
        "sentence (`window`), or in whole sentences (`sentence`).",
    )
    default_voice: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="Voice, or mix of voices, of a request that names none. Default: that "
        "of the image.",
    )
    session_idle_s: int | None = Field(
        None,
        ge=60,
        le=SESSION_LIMIT_S - 60,
        description="Seconds after which an idle session is closed. Default: that of the image.",
    )
    instances: Instances = Field(
        Instances(minimum=1, maximum=1), description="Number of instances."
    )
    schedule: tuple[Schedule, ...] = Field((), description="Other bounds at set times.")
    model_source: Literal["packages", "release"] = Field(
        "packages", description="Source of the model's weights in the build of the image."
    )
    image: Image = Field(Image(), description="Source of the speech image.")
    startup_timeout_s: int = Field(
        600,
        ge=60,
        le=3600,
        description="Seconds within which the container must respond to `/ping`.",
    )
    termination_wait_s: int = Field(
        SESSION_LIMIT_S,
        ge=0,
        le=3600,
        description="Seconds for which old instances stay in a rollout, so that their sessions can "
        "end. A session lasts up to 1800 s.",
    )

    @property
    def fewest_instances(self) -> int:
        """The lowest minimum, with and without the schedule."""
        return min([self.instances.minimum, *(action.minimum for action in self.schedule)])

    @field_validator("schedule")
    @classmethod
    def _names_differ(cls, schedule: tuple[Schedule, ...]) -> tuple[Schedule, ...]:
        names = [action.name for action in schedule]
        if len(names) != len(set(names)):
            raise ValueError("each name may occur only once")
        return schedule

    def misfits(self) -> Iterator[Misfit]:
        """Yield the keys that do not fit the number or the type of the instances."""
        most = self.instances.maximum
        for index, action in enumerate(self.schedule):
            if action.maximum > most:
                yield Misfit(
                    f"schedule.{index}.maximum",
                    f"{action.maximum} must not exceed speech.instances.maximum, which is {most}",
                )
        family = self.instance_type.split(".")[1]
        gpu = self.variant == "gpu"
        families, others = (GPU_FAMILIES, CPU_FAMILIES) if gpu else (CPU_FAMILIES, GPU_FAMILIES)
        if family not in families:
            other = f'; or set variant = "{"cpu" if gpu else "gpu"}"' if family in others else ""
            yield Misfit(
                "instance_type",
                f"{self.instance_type!r} does not fit variant {self.variant!r}: the family must be "
                f"one of {', '.join(families)}{other}",
            )
            return  # the other keys depend on the variant, which may be the wrong one
        if gpu:
            yield from self._cuda_misfits()
        else:
            for key in ("inference_ami", "cuda_major"):
                if getattr(self, key) is not None:
                    yield Misfit(key, 'is allowed with variant "gpu" only')

    def _cuda_misfits(self) -> Iterator[Misfit]:
        ami, amis = self.inference_ami, " or ".join(CUDA_MAJOR_BY_AMI)
        if ami is None:
            yield Misfit("inference_ami", f'is required with variant "gpu"; use {amis}')
        elif ami not in CUDA_MAJOR_BY_AMI:
            yield Misfit("inference_ami", f'{ami!r}: variant "gpu" needs {amis}')
        needed = CUDA_MAJOR_BY_AMI.get(ami or "")
        if self.cuda_major is None:
            advice = f"{ami} needs {needed}" if needed else "it must be that of inference_ami"
            yield Misfit("cuda_major", f'is required with variant "gpu"; {advice}')
        elif needed and self.cuda_major != needed:
            yield Misfit("cuda_major", f"{self.cuda_major}: {ami} needs {needed}")
        elif self.image.source != "digest" and self.cuda_major != IMAGE_CUDA_MAJOR:
            yield Misfit(
                "cuda_major",
                f"{self.cuda_major}: the image of this repository has {IMAGE_CUDA_MAJOR}; another "
                'version needs an image of your own, with image.source = "digest"',
            )
