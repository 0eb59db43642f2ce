"""`[alarms]` and `[budget]`: the alarms, their thresholds and whom they notify."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import Field

from stacks.settings.base import Model

EMAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"


class Alarms(Model):
    """The thresholds of the alarms, which notify `email` and roll a rollout back."""

    email: str | None = Field(
        None,
        pattern=EMAIL,
        examples=["oncall@example.com"],
        description="Address that is notified. By default, nobody is.",
    )
    first_audio_p95_ms: int = Field(
        800,
        ge=50,
        le=60_000,
        description="Threshold for the time to first audio of a sentence, 95th percentile, in "
        "milliseconds.",
    )
    errors_per_minute: int = Field(
        5,
        ge=1,
        le=10_000,
        description="Threshold for failed utterances, and for broken streams, per minute.",
    )


class Budget(Model):
    """A monthly cost budget for the resources with the environment's tag."""

    monthly_usd: int = Field(
        ge=1,
        le=1_000_000,
        description="Budget in USD. Notifications are sent at 80 % and at 100 %.",
    )
    email: str = Field(
        pattern=EMAIL, examples=["oncall@example.com"], description="Address that is notified."
    )


@dataclass(frozen=True)
class SpeechAlarm:
    """An alarm on the speech endpoint, which notifies people and rolls a rollout back.

    Attributes:
        metric: The CloudWatch metric, with a period of one minute.
        statistic: The statistic of the metric.
        meaning: What is wrong while the alarm is on.
        threshold: A function of the settings; above the value that it returns, a minute is bad.
        bad_minutes: The number of bad minutes within `minutes` at which the alarm goes off.
        minutes: The number of minutes that are evaluated.
    """

    metric: str
    statistic: str
    meaning: str
    threshold: Callable[[Alarms], int]
    bad_minutes: int
    minutes: int


SPEECH_ALARMS = (
    SpeechAlarm("FirstAudio", "p95", "sentences begin late", lambda s: s.first_audio_p95_ms, 3, 5),
    SpeechAlarm("Errors", "Sum", "utterances fail", lambda s: s.errors_per_minute, 2, 3),
    SpeechAlarm("MidStreamErrors", "Sum", "streams break", lambda s: s.errors_per_minute, 2, 3),
)
SCALING_ALARMS = 2
"""The number of scaling alarms, one for each direction; they notify nobody."""
