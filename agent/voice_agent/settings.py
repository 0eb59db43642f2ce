"""The agent's settings, which are read from `VOICE_AGENT_*` environment variables.

AWS's own variables (`AWS_REGION`, credentials, `AWS_ENDPOINT_URL_*`, `AWS_CA_BUNDLE`) have the same
meaning as in every AWS SDK.
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
    """A setting is missing, unknown or out of range. The message names the variable."""


class Settings(BaseModel):
    """The agent's settings. `from_environment` documents their variables."""

    # Each field's docstring becomes its `description`.
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    endpoint_name: str = Field(min_length=1, max_length=63)
    """Name of the SageMaker endpoint for speech."""
    region: str = Field(min_length=1)
    """AWS Region of the endpoint and of Bedrock."""
    ca_file: str | None = None
    """PEM file of the only certificate authorities that the agent trusts."""
    model_id: str = Field("global.amazon.nova-2-lite-v1:0", min_length=1)
    """Id of the Bedrock model or inference profile that writes the replies."""
    model_server: str | None = None
    """Address of the server that answers in place of Bedrock, for error messages."""
    page_url: str | None = None
    """Page to which a browser that opens the agent's own address is redirected."""
    voice: str = Field("af_heart", min_length=1, max_length=200)
    """Voice of a reply whose prompt does not choose one."""
    speed: float = Field(1.0, ge=0.5, le=2.0, allow_inf_nan=False)
    """Speed of a reply whose prompt does not choose one; 1 is the voice's own pace."""
    language: str | None = None
    """Language whose rules split replies into sentences (ISO 639-1); the voice's by default."""
    first_chunk: Literal["sentence", "clause"] = "sentence"
    """Text that speech waits for: the first sentence, or only its first clause if it is long."""
    system_prompt: str = Field(SYSTEM_PROMPT, min_length=1)
    """Instructions for the model."""
    max_prompt_chars: int = Field(4000, ge=1, le=100_000)
    """Greatest length of a prompt, in characters."""
    max_reply_tokens: int = Field(1024, ge=1, le=8192)
    """Greatest length of a reply, in tokens; a longer one is cut off."""
    max_conversations: int = Field(32, ge=1, le=1000)
    """Most conversations at a time: `/ws` connections, sessions and single prompts together."""
    conversation_idle_s: Seconds = 900.0
    """Seconds without a prompt after which a session's conversation is closed."""
    speech_open_timeout_s: Seconds = 4.5
    """Most seconds that opening a speech stream may take."""
    speech_silence_timeout_s: Seconds = 15.0
    """Seconds without data from the speech container after which a reply fails."""
    model_silence_timeout_s: Seconds = 20.0
    """Seconds without data from Bedrock after which a reply fails."""
    batch_timeout_s: Seconds = 60.0
    """Seconds without data from the endpoint after which a reply in mode `batch` fails."""

    @field_validator("language")
    @classmethod
    def _check_language(cls, language: str | None) -> str | None:
        if language is not None and not re.fullmatch("[a-z]{2}", language):
            raise PydanticCustomError("language", "must be an ISO 639-1 code such as 'en'")
        return language

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read every field from `VOICE_AGENT_<FIELD>`, except `region` and `ca_file`.

        `region` is read from `AWS_REGION` or `AWS_DEFAULT_REGION`, and `ca_file` from
        `AWS_CA_BUNDLE`.

        Raises:
            SettingsError: Variables are missing, unknown or wrong. The message names each of them.
        """
        values: dict[str, str | None] = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environment.items()
            if name.startswith(PREFIX)
        }
        problems = [
            f"{PREFIX}{name.upper()}: is not a setting of the agent; remove it or correct its name "
            "(docs/settings.md lists the settings)"
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
        return f"{variable}: is missing; set it"
    # pydantic: "Input should be a valid integer, unable to parse string as an integer"
    requirement = re.sub("^(Input|String|Value) should ", "must ", str(error["msg"]))
    requirement = re.sub(", unable to parse.*", "", requirement)
    return f"{variable}: {requirement}, not {error['input']!r}"
