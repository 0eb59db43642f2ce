"""The agent's settings, from `VOICE_AGENT_*` environment variables.

AWS's own variables (`AWS_REGION`, credentials, `AWS_ENDPOINT_URL_*`, `AWS_CA_BUNDLE`) keep the
meaning they have for every AWS SDK and are not repeated here.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

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
    """The agent's settings; `from_environment` documents their variables."""

    # Each field's docstring becomes its `description`.
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    endpoint_name: str = Field(min_length=1, max_length=63)
    """Name of the SageMaker endpoint that speaks."""
    region: str = Field(min_length=1)
    """AWS Region of the endpoint and of Bedrock."""
    ca_file: str | None = None
    """PEM file of the only certificate authorities to trust."""
    model_id: str = Field("global.amazon.nova-2-lite-v1:0", min_length=1)
    """Bedrock model or inference profile that writes the replies."""
    voice: str = Field("af_heart", min_length=1, max_length=200)
    """Voice of a reply whose prompt names none."""
    language: str | None = None
    """Language whose sentence rules replies follow (ISO 639-1); without it, the voice's."""
    first_chunk: Literal["sentence", "clause"] = "sentence"
    """What speech waits for: the first sentence, or only the first clause of a long one."""
    system_prompt: str = Field(SYSTEM_PROMPT, min_length=1)
    """Instructions to the model."""
    max_prompt_chars: int = Field(4000, ge=1, le=100_000)
    """Longest prompt that is accepted, in characters."""
    max_reply_tokens: int = Field(1024, ge=1, le=8192)
    """Length at which a reply is cut off, in tokens."""
    max_conversations: int = Field(32, ge=1, le=1000)
    """Conversations open at a time: `/ws` connections, sessions and single prompts together."""
    conversation_idle_s: Seconds = 900.0
    """Seconds without a prompt after which a session's conversation is closed."""
    speech_open_timeout_s: Seconds = 4.5
    """Seconds that opening a speech stream may take."""
    speech_silence_timeout_s: Seconds = 15.0
    """Seconds without a sign of life from the speech container after which a reply fails."""
    model_silence_timeout_s: Seconds = 20.0
    """Seconds without a sign of life from Bedrock after which a reply fails."""
    batch_timeout_s: Seconds = 60.0
    """Seconds without data from the endpoint after which a reply in mode batch fails."""

    @field_validator("language")
    @classmethod
    def _check_language(cls, language: str | None) -> str | None:
        if language is not None and not re.fullmatch("[a-z]{2}", language):
            raise PydanticCustomError("language", "must be an ISO 639-1 code such as 'en'")
        return language

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read `VOICE_AGENT_<FIELD>` for every field but `region` and `ca_file`.

        `region` is `AWS_REGION` or `AWS_DEFAULT_REGION`; `ca_file` is `AWS_CA_BUNDLE`.

        Raises:
            SettingsError: A variable is missing, unknown or wrong; the message names each.
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
