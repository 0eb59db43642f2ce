"""Settings of the server: `KOKORO_*` environment variables, validated once at the start."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from kokoro_server.messages import Granularity
from kokoro_voice.onnx_model import ExecutionProvider
from kokoro_voice.text import SENTENCE_PAUSE_S

PREFIX = "KOKORO_"


class SettingsError(Exception):
    """A setting is unknown, missing or out of range. The message names it."""


class Settings(BaseModel):
    """Everything that can be set: each setting is the variable `KOKORO_` and its name in capitals.

    Times are in seconds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    model_dir: Path
    """Directory of the model: its graphs (`*.onnx`), `vocab.json` and `voices/*.bin`."""
    threads: int = Field(default_factory=lambda: len(os.sched_getaffinity(0)), ge=1, le=256)
    """Threads of the engine; all available CPU cores by default. More threads than cores are
    slower, not faster."""
    execution_provider: ExecutionProvider = "cpu"
    """What the engine runs on; the server does not fall back to anything else. The GPU image sets
    `cuda`. An image contains the graphs of its own device only."""
    default_voice: str = "af_heart"
    """The voice, or mix of voices, of a request that names none."""
    granularity: Granularity = "window"
    """The granularity of a request that names none: audio is synthesized and sent in windows
    inside a sentence, or in whole sentences."""
    lexicon: Path | None = None
    """The file of the pronunciation lexicon. By default `lexicon.toml` in the folder of the
    server, which an image gets from `container/lexicon.toml`."""
    voices_dir: Path | None = None
    """The folder of a deployment's own voices (`*.npy`). By default `voices` in the folder of the
    server, which an image gets from `container/voices`."""
    sentence_pause_s: float = Field(SENTENCE_PAUSE_S, ge=0, le=5)
    """The pause after a sentence at normal speed. About 0.1 s of silence around the
    sentences is added to it."""
    name_pictures: bool = False
    """Whether the names of emoji are said, such as "red heart". Without it, emoji are silent."""
    level_voices: bool = False
    """Whether all voices are made as loud as `af_heart`. Without it, the loudest is 13 dB above the
    quietest."""
    max_sessions: int = Field(64, ge=1)
    """WebSocket sessions and batch requests that may be open at once; more get status 503."""
    max_queued_requests: int = Field(32, ge=1)
    """Requests that one session may have in flight; one more is a `busy` error."""
    max_text_chars: int = Field(20_000, ge=1)
    """Characters in one request. The default is about 20 minutes of speech, which fits a 30-minute
    session."""
    max_buffered_audio_s: float = Field(10.0, gt=0)
    """How far synthesis may run ahead of a slow reader, in seconds of audio per session."""
    admission_headroom: float = Field(1.35, ge=0, allow_inf_nan=False)
    """A new turn is refused as `busy` unless there is time for this many times the expected work.

    The factor is above 1 because machines have slow spells. A higher one refuses more turns; with a
    lower one, listeners wait longer, for their first sound or in the middle of speech. 0 refuses
    nobody.
    """
    max_request_age_s: float = Field(30.0, gt=0)
    """A request whose `request_timestamp` is older than this is a `stale` error."""
    peer_timeout_s: float = Field(120.0, gt=0)
    """The server closes a connection if its client takes no frame and answers no ping for this
    long.

    The time has to be long: a client that reads audio only as fast as it plays it answers a ping
    only after it has read all audio that was sent before the ping.
    """
    idle_timeout_s: float = Field(900.0, gt=0)
    """A session in which nothing happens for this long is closed."""
    session_limit_s: float = Field(1790.0, gt=0)
    """A session is closed after this long. SageMaker ends a session after 30 minutes; the server
    announces its own close before that."""
    notice_s: float = Field(30.0, gt=0)
    """How long before an idle close or the session limit `going_away` is sent."""
    shutdown_s: float = Field(25.0, ge=0, lt=30)
    """How long open sessions may go on after SIGTERM. SageMaker sends SIGKILL after 30 s."""
    metrics_namespace: str | None = Field(None, min_length=1, max_length=255)
    """The CloudWatch namespace of the metrics that are written to standard output, one line for
    each utterance. No metrics are written without it."""
    endpoint_name: str | None = Field(None, min_length=1, max_length=63)
    """The value of the metrics' dimension `Endpoint`."""

    @model_validator(mode="after")
    def _metrics_have_a_dimension(self) -> Self:
        if self.metrics_namespace is not None and self.endpoint_name is None:
            raise ValueError(
                f"{PREFIX}METRICS_NAMESPACE is set, so {PREFIX}ENDPOINT_NAME must be set, too"
            )
        return self

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str], model_dir: Path | None = None
    ) -> "Settings":
        """Read the settings from environment variables.

        Args:
            environment: Names and values. Variables without the prefix are ignored.
            model_dir: Model directory. It takes precedence over `KOKORO_MODEL_DIR`.

        Raises:
            SettingsError: A `KOKORO_*` variable is unknown or has a value that is not accepted, or
                there is no model directory.
        """
        values: dict[str, object] = {
            name.removeprefix(PREFIX).lower(): value
            for name, value in environment.items()
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
        if not item["loc"]:  # An error of several settings together.
            problems.append(item["msg"].removeprefix("Value error, "))
            continue
        name = PREFIX + str(item["loc"][0]).upper()
        if item["type"] == "extra_forbidden":
            known = ", ".join(PREFIX + field.upper() for field in Settings.model_fields)
            problems.append(f"{name}: unknown setting; the settings are {known}")
        elif item["type"] == "missing":
            problems.append(f"{name}: not set; it is required and has no default")
        else:
            problems.append(f"{name}: {item['input']!r} is not accepted: {item['msg']}")
    return "; ".join(problems)
