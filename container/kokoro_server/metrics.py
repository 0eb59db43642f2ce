"""What each utterance was like, as CloudWatch metrics.

Written to standard output in CloudWatch's embedded metric format: CloudWatch makes metrics of the
log lines that SageMaker passes on, so the container needs no network and no credentials.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from kokoro_server.codecs import duration_s
from kokoro_server.messages import ProtocolError
from kokoro_server.settings import Settings
from kokoro_server.synthesis import Part


@dataclass
class Outcome:
    """How the synthesis of one utterance went."""

    failed: bool = False
    """By a fault of the server; what could not be spoken for the text's sake did not fail."""
    first_audio_s: float | None = None
    """From its turn to its first audio. Its turn comes when it arrives, or when the request before
    it in the session is made: clients may send many at once. None if there was no audio."""
    work_s: float = 0.0
    """Spent waiting for the engine, which is shared with the other sessions."""
    audio_s: float = 0.0
    """How long its audio plays."""


Record = Callable[[Outcome], None]
"""Takes an utterance's outcome at its end."""


async def measured(
    parts: AsyncGenerator[Part], record: Record, clock: Callable[[], float] = time.monotonic
) -> AsyncGenerator[Part]:
    """Pass on the audio of an utterance, and record the outcome once no more comes.

    Args:
        parts: as `Speech.speak` makes them; closed with this generator.
        record: is not called if the generator is closed, or its caller cancelled, before the end.
        clock: seconds.

    Yields:
        The parts.

    Raises:
        ProtocolError: the text cannot be spoken.
    """
    outcome = Outcome()
    async with aclosing(parts):
        try:
            began_s = clock()
            async for part in parts:
                outcome.work_s += clock() - began_s
                outcome.audio_s += duration_s(len(part.pcm))
                if outcome.first_audio_s is None:
                    outcome.first_audio_s = outcome.work_s
                yield part
                began_s = clock()
        except ProtocolError:
            record(outcome)
            raise
        except Exception:
            outcome.failed = True
            record(outcome)
            raise
    record(outcome)


def recorder(settings: Settings) -> Record:
    """Prints a line for each utterance, or does nothing if no namespace is set."""
    namespace, endpoint_name = settings.metrics_namespace, settings.endpoint_name
    if namespace is None or endpoint_name is None:
        return lambda outcome: None
    return lambda outcome: print(
        metric_line(outcome, namespace, endpoint_name, time.time()), flush=True
    )


def metric_line(outcome: Outcome, namespace: str, endpoint_name: str, unix_s: float) -> str:
    """One utterance in the embedded metric format, a line of JSON.

    Args:
        outcome: of the utterance.
        namespace: CloudWatch's, of the metrics.
        endpoint_name: the value of their one dimension, `Endpoint`.
        unix_s: the time of day.
    """
    # An error of 0 tells CloudWatch that all is well; without data an alarm knows nothing.
    metrics: dict[str, tuple[str, float]] = {
        "Requests": ("Count", 1),
        "Errors": ("Count", int(outcome.failed)),
    }
    if outcome.first_audio_s is not None:
        metrics["FirstAudio"] = ("Milliseconds", round(1000 * outcome.first_audio_s, 1))
    if outcome.audio_s > 0:
        metrics["RealTimeFactor"] = ("None", round(outcome.work_s / outcome.audio_s, 4))
    directive = {
        "Namespace": namespace,
        "Dimensions": [["Endpoint"]],
        "Metrics": [{"Name": name, "Unit": unit} for name, (unit, _) in metrics.items()],
    }
    return json.dumps(
        {
            "_aws": {"Timestamp": int(1000 * unix_s), "CloudWatchMetrics": [directive]},
            "Endpoint": endpoint_name,
        }
        | {name: value for name, (_, value) in metrics.items()}
    )
