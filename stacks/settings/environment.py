"""The settings of one environment, and the function that loads them.

Unknown keys, wrong types and impossible combinations are found before anything is synthesized.
`make docs` generates `docs/settings.md` from this model and from those of the images.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, field_validator

from stacks import names
from stacks.settings.agent import Agent
from stacks.settings.alarms import Alarms, Budget
from stacks.settings.base import Misfit, Model
from stacks.settings.network import Network
from stacks.settings.problems import problems, unquoted_text
from stacks.settings.regions import AGENTCORE_AZ_IDS, region_problem
from stacks.settings.speech import Speech
from stacks.settings.voices import voice_problem

ENVIRONMENTS = Path(__file__).resolve().parents[2] / "environments"


class SettingsError(ValueError):
    """Settings cannot be used; each line of the message names a key and what it accepts."""


class Settings(Model):
    """The keys outside of any table."""

    name: str = Field(
        pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=20, description="Name of the file."
    )
    kind: Literal["ephemeral", "stable"] = Field(
        description="`stable`: data is retained, the stacks are protected from deletion, and two "
        "or more instances are required. `ephemeral`: `cdk destroy` deletes everything."
    )
    account: str | None = Field(
        None,
        pattern=r"^\d{12}$",
        examples=["123456789012"],
        description="AWS account. By default, the account of the credentials.",
    )
    region: str | None = Field(
        None,
        pattern=r"^[a-z]{2}(-[a-z]+)+-\d$",
        examples=["eu-central-1"],
        description="AWS Region. Required with `[network]`; otherwise, the default is the Region "
        "of the AWS configuration.",
    )
    permissions_boundary: str | None = Field(
        None,
        pattern=r"^[\w+=,.@-]{1,128}$",
        examples=["developer-boundary"],
        description="Name of an IAM policy that is the permissions boundary of every role. "
        "[operations.md](operations.md#permissions) lists what it must allow.",
    )
    tags: dict[str, str] = Field(
        {}, max_length=40, description="Tags of every resource, in addition to `environment`."
    )
    speech: Speech = Field(description="The SageMaker endpoint.")
    agent: Agent = Field(Agent(), description="The AgentCore runtime.")
    alarms: Alarms = Field(Alarms(), description="Thresholds of the alarms.")
    budget: Budget | None = Field(None, description="A cost budget; none without this table.")
    network: Network | None = Field(None, description="A VPC; none without this table.")

    @field_validator("region")
    @classmethod
    def _region_exists(cls, region: str | None) -> str | None:
        problem = region_problem(region) if region else None
        if problem:
            raise ValueError(problem)
        return region

    @field_validator("tags")
    @classmethod
    def _tags_are_allowed(cls, tags: dict[str, str]) -> dict[str, str]:
        for key, value in tags.items():
            if key == "environment" or key.startswith("aws:"):
                raise ValueError(
                    f"{key!r}: `environment` and names that begin with `aws:` are reserved"
                )
            allowed = r"[\w .:/=+@-]"
            if not re.fullmatch(allowed + "{1,128}", key) or not re.fullmatch(
                allowed + "{0,256}", value
            ):
                raise ValueError(
                    f"{key!r}: a key must have 1 to 128 letters, digits, spaces and .:/=+@_-, and "
                    "a value at most 256 of them"
                )
        return tags

    @property
    def is_stable(self) -> bool:
        """Whether the environment retains its data and is protected from deletion."""
        return self.kind == "stable"

    @property
    def endpoint_name(self) -> str:
        """The name of the SageMaker endpoint, fixed so that alarms can use it before it exists."""
        return names.endpoint_name(self.name)

    @property
    def runtime_name(self) -> str:
        """The name of the AgentCore runtime."""
        return names.runtime_name(self.name)

    def misfits(self) -> Iterator[Misfit]:
        """Yield the keys of different tables that do not fit together."""
        if self.is_stable and self.speech.fewest_instances < 2:
            yield Misfit(
                "speech.instances.minimum",
                'kind "stable" needs a minimum of 2 or more, for two zones, also in every schedule',
            )
        if (self.agent.network == "vpc") != (self.network is not None):
            yield Misfit("network", 'is needed with agent.network = "vpc", and allowed only then')
        elif self.network is not None:
            yield from self._zone_misfits(self.network)
        if self.speech.image.source != "digest":  # Another image may have other voices.
            yield from self._voice_misfits()

    def _voice_misfits(self) -> Iterator[Misfit]:
        voices = {
            "speech.default_voice": self.speech.default_voice,
            "agent.voice": self.agent.voice,
        }
        for key, voice in voices.items():
            problem = voice_problem(voice) if voice else None
            if problem:
                yield Misfit(key, problem)

    def _zone_misfits(self, network: Network) -> Iterator[Misfit]:
        supported = AGENTCORE_AZ_IDS.get(self.region or "")
        if supported is None:
            regions = f"one of {', '.join(AGENTCORE_AZ_IDS)}"
            problem = (
                "is required with `[network]`"
                if self.region is None
                else f"{self.region!r}: `[network]` needs a Region in which AgentCore supports VPCs"
            )
            yield Misfit("region", f"{problem}: {regions}")
            return
        wrong = [repr(az_id) for az_id in network.az_ids if az_id not in supported]
        if wrong:
            yield Misfit(
                "network.az_ids",
                f"{', '.join(wrong)}: in {self.region} AgentCore supports {', '.join(supported)}",
            )


def environment_names(folder: Path | None = None) -> list[str]:
    """Return the names of the environments that have a file, in alphabetical order.

    Args:
        folder: The folder with the files of the environments; by default, `ENVIRONMENTS`.
    """
    return sorted(file.stem for file in (folder or ENVIRONMENTS).glob("*.toml"))


def load(name: str, folder: Path | None = None) -> Settings:
    """Load the settings of one environment.

    Args:
        name: The name of the environment, whose file is `<name>.toml` in `folder`.
        folder: The folder with the files of the environments; by default, `ENVIRONMENTS`.

    Raises:
        SettingsError: The file does not exist, is not TOML, or does not fit the model.
    """
    folder = folder or ENVIRONMENTS
    path = folder / f"{name}.toml"
    if not path.is_file():
        known = environment_names(folder)
        close = difflib.get_close_matches(Path(name).stem, known, 1)
        meant = f"did you mean {close[0]}? " if close else ""
        raise SettingsError(
            f"environment {name!r}: there is none of this name in {folder.name}/; {meant}"
            f"there are: {', '.join(known) or 'none'}"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")  # Windows editors add the mark
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path.name}: is not UTF-8 text: {error}") from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        hint = unquoted_text(text, error)
        raise SettingsError(f"{path.name}: is not TOML: {error}{hint}") from error
    if "name" in values:
        raise SettingsError(
            f"{path.name}: name: is not a key; the name of the file is the name of the environment"
        )
    try:
        # Through JSON, because a strict model accepts an array as a tuple only from JSON.
        return Settings.model_validate_json(json.dumps(values | {"name": name}, default=str))
    except ValidationError as error:
        lines = [f"{path.name}: {problem}" for problem in problems(Settings, error)]
        raise SettingsError("\n".join(lines)) from error
