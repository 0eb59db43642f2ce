"""`[alarms]` and `[budget]`: the alarms there are, their limits, and who is notified."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import Field

from stacks.settings.base import Model

EMAIL = r"^[^@\s]+@[^@\s]+\.[^@\s]+$"


class Alarms(Model):
    """When somebody is notified, and a rollout is taken back."""

    email: str | None = Field(None, pattern=EMAIL, description="who is notified; nobody by default")
    first_audio_p95_ms: int = Field(
        800, ge=50, le=60_000, description="alarm above: a sentence's first audio, 95th percentile"
    )
    errors_per_minute: int = Field(
        5, ge=1, le=10_000, description="alarm above: failed utterances, and broken streams"
    )


class Budget(Model):
    """A monthly cost budget over the environment's tag."""

    monthly_usd: int = Field(ge=1, le=1_000_000, description="alarm at 80 % and 100 % of it")
    email: str = Field(pattern=EMAIL, description="who is notified")


@dataclass(frozen=True)
class SpeechAlarm:
    """An alarm about the speech endpoint: it notifies people, and takes a rollout back.

    Attributes:
        metric: The CloudWatch metric it watches, by the minute.
        statistic: The metric's statistic.
        meaning: What is wrong while it rings.
        threshold: The value above which a minute is bad, from the environment's limits.
        bad_minutes: How many of the last `minutes` must be bad for it to ring.
        minutes: How many minutes it looks at.
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
"""One for each direction in which the number of instances is scaled; they notify nobody."""
