"""Settings of the server: `KOKORO_*` environment variables, validated once at the start."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from kokoro_server.messages import Granularity
from kokoro_voice.onnx_model import ExecutionProvider

PREFIX = "KOKORO_"


class SettingsError(Exception):
    """A setting is unknown, missing or out of range; the message names it."""


class Settings(BaseModel):
    """Everything that can be set, each as `KOKORO_` and the name in capitals.

    Times are in seconds, audio is 24 kHz mono.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model_dir: Path
    """Folder with the model's graphs (`*.onnx`), `vocab.json` and `voices/*.bin`."""
    threads: int = Field(default_factory=lambda: len(os.sched_getaffinity(0)), ge=1, le=256)
    """Threads of the engine. More than there are cores is slower, not faster."""
    execution_provider: ExecutionProvider = "cpu"
    """What the engine runs on; it does not start on anything else. The GPU image says `cuda`. An
    image has the graphs of its own device only."""
    default_voice: str = "af_heart"
    """Of a request that names none; a mix is one, too."""
    granularity: Granularity = "window"
    """Of a request that names none: what audio is made and sent in."""
    max_sessions: int = Field(64, ge=1)
    """WebSocket sessions and batch requests open at once; more are refused with 503."""
    max_queued_requests: int = Field(32, ge=1)
    """Requests of one session in flight; one more is a `busy` error."""
    max_text_chars: int = Field(20_000, ge=1)
    """Characters in one request: about 20 minutes of speech, which fits a 30-minute session."""
    max_buffered_audio_s: float = Field(10.0, gt=0)
    """How far synthesis may run ahead of a slow reader, per session."""
    admission_headroom: float = Field(1.35, ge=0, allow_inf_nan=False)
    """For how many times the expected work there must be time, or a new turn is refused as `busy`.

    More than 1, because machines have slow spells. More refuses more; with less, listeners wait
    longer, for their first sound or in the middle of speech. 0 refuses nobody.
    """
    max_request_age_s: float = Field(30.0, gt=0)
    """A request whose `request_timestamp` is older is `stale`."""
    peer_timeout_s: float = Field(120.0, gt=0)
    """A peer that takes no frame and answers no ping for this long is dead.

    Generous, because a client may read at the pace of playback, and then a ping waits behind audio.
    """
    idle_timeout_s: float = Field(900.0, gt=0)
    session_limit_s: float = Field(1790.0, gt=0)
    """SageMaker ends a session after 30 minutes; we say so first."""
    notice_s: float = Field(30.0, gt=0)
    """How long before an idle close or the session limit `going_away` is sent."""
    shutdown_s: float = Field(25.0, ge=0, lt=30)
    """From SIGTERM to the end of open sessions. SageMaker sends SIGKILL after 30 s."""
    metrics_namespace: str | None = Field(None, min_length=1, max_length=255)
    """CloudWatch's, of a metric line for each utterance on standard output; no lines without."""
    endpoint_name: str | None = Field(None, min_length=1, max_length=63)
    """The metrics' dimension `Endpoint`."""

    @model_validator(mode="after")
    def _metrics_have_a_dimension(self) -> Self:
        if self.metrics_namespace is not None and self.endpoint_name is None:
            raise ValueError(f"{PREFIX}METRICS_NAMESPACE needs {PREFIX}ENDPOINT_NAME")
        return self

    @classmethod
    def from_env(cls, env: Mapping[str, str], model_dir: Path | None = None) -> "Settings":
        """Settings from the environment; `model_dir`, when given, wins over `KOKORO_MODEL_DIR`.

        Raises:
            SettingsError: a `KOKORO_*` variable is unknown or has a value that is not accepted, or
                there is no model directory.
        """
        values: dict[str, object] = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in env.items()
            if name.startswith(PREFIX)
        }
        if model_dir is not None:
            values["model_dir"] = model_dir
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            raise SettingsError(_describe(error)) from None


def _describe(error: ValidationError) -> str:
    problems = []
    for item in error.errors(include_url=False):
        if not item["loc"]:  # of a combination
            problems.append(item["msg"].removeprefix("Value error, "))
            continue
        name = PREFIX + str(item["loc"][0]).upper()
        if item["type"] == "extra_forbidden":
            known = ", ".join(PREFIX + field.upper() for field in Settings.model_fields)
            problems.append(f"{name}: unknown setting; known are {known}")
        elif item["type"] == "missing":
            problems.append(f"{name}: not set, and it has no default")
        else:
            problems.append(f"{name}: {item['input']!r} is not accepted: {item['msg']}")
    return "; ".join(problems)
