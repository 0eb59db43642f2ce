"""The agent's settings, from `VOICE_AGENT_*` environment variables.

AWS's own variables (`AWS_REGION`, credentials, `AWS_ENDPOINT_URL_*`, `AWS_CA_BUNDLE`) keep the
meaning they have for every AWS SDK and are not repeated here.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

PREFIX = "VOICE_AGENT_"

SYSTEM_PROMPT = (
    "You are a voice assistant: everything you write is read aloud. Answer in a few short "
    "sentences of plain spoken language. Begin with a short sentence. Write numbers, units and "
    "abbreviations as words. Use no lists, headings, code, emoji or markup."
)

Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]


class SettingsError(ValueError):
    """A setting is missing, unknown or out of range; the message names the variable."""


class Settings(BaseModel):
    """What the agent needs to know; `from_environment` says where each comes from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint_name: str = Field(min_length=1, max_length=63, description="SageMaker endpoint")
    region: str = Field(min_length=1, description="AWS Region of the endpoint and of Bedrock")
    ca_file: str | None = None
    model_id: str = Field("global.amazon.nova-2-lite-v1:0", min_length=1)
    voice: str = Field("af_heart", min_length=1, max_length=200)
    first_chunk: Literal["sentence", "clause"] = "sentence"
    system_prompt: str = Field(SYSTEM_PROMPT, min_length=1)
    max_prompt_chars: int = Field(4000, ge=1, le=100_000)
    max_reply_tokens: int = Field(1024, ge=1, le=8192)
    max_conversations: int = Field(32, ge=1, le=1000)
    conversation_idle_s: Seconds = 900.0
    speech_open_timeout_s: Seconds = 4.5
    speech_silence_timeout_s: Seconds = 15.0
    model_silence_timeout_s: Seconds = 20.0
    batch_timeout_s: Seconds = 60.0

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read `VOICE_AGENT_<FIELD>` for every field but `region` and `ca_file`.

        `region` is `AWS_REGION` or `AWS_DEFAULT_REGION`; `ca_file` is `AWS_CA_BUNDLE`.

        Raises:
            SettingsError: names every variable that is missing, unknown or wrong.
        """
        values: dict[str, str | None] = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environment.items()
            if name.startswith(PREFIX)
        }
        problems = [
            f"{PREFIX}{name.upper()}: is not a setting of the agent"
            for name in values
            if name not in cls.model_fields or name in ("region", "ca_file")
        ]
        if problems:
            raise SettingsError("\n".join(problems))
        region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
        if region:
            values["region"] = region
        values["ca_file"] = environment.get("AWS_CA_BUNDLE") or None
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise SettingsError("\n".join(_problem(e) for e in error.errors())) from error


def _problem(error: Mapping[str, object]) -> str:
    location = error["loc"]
    assert isinstance(location, tuple)
    name = str(location[0])
    variable = "AWS_REGION" if name == "region" else PREFIX + name.upper()
    if error["type"] == "missing":
        return f"{variable}: must be set"
    return f"{variable}: {error['msg']}, not {error['input']!r}"
