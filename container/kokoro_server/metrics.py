"""How the synthesis of each utterance went, as CloudWatch metrics.

Written to standard output in CloudWatch's embedded metric format: CloudWatch makes metrics of the
log lines that SageMaker passes on, so the container needs no network and no credentials.
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
"""

import json
import logging
import time
from collections.abc import Callable

from kokoro_server.settings import Settings
from kokoro_server.utterance import Utterance, UtteranceState

logger = logging.getLogger(__name__)

Record = Callable[[Utterance], None]
"""Records how an utterance went, at its end."""


def recorder(settings: Settings) -> Record:
    """Return what prints a line for each utterance, or does nothing if no namespace is set.

    Nothing is recorded of an utterance that was cancelled: half of one says little about the rest.
    """
    namespace, endpoint_name = settings.metrics_namespace, settings.endpoint_name

    def record(utterance: Utterance) -> None:
        if namespace is None or endpoint_name is None:
            return
        if utterance.state in (UtteranceState.COMPLETE, UtteranceState.FAILED):
            line = metric_line(utterance, namespace, endpoint_name, time.time())
            try:
                print(line, flush=True)
            except OSError as error:  # speech goes on where nobody reads the metrics
                logger.error("a metric line is lost: %s", error)

    return record


def metric_line(utterance: Utterance, namespace: str, endpoint_name: str, unix_s: float) -> str:
    """Describe an utterance that has ended in the embedded metric format, one line of JSON.

    `Errors` counts faults of the server; an utterance that could not be spoken for its text's sake
    is none. `FirstAudio` is the time from the utterance's turn to its first audio: its turn comes
    when it arrives, or when all audio of the request before it in the session has been synthesized,
    because clients may send many at once. `RealTimeFactor` is engine time by duration of audio;
    waiting for the engine, which other sessions use too, is in `FirstAudio` only.

    Args:
        utterance: An utterance that is complete or has failed.
        namespace: The metrics' namespace in CloudWatch.
        endpoint_name: The value of their one dimension, `Endpoint`.
        unix_s: The time of day.
    """
    # An error of 0 tells CloudWatch that all is well; without data an alarm knows nothing.
    error, tally = utterance.error, utterance.tally
    metrics: dict[str, tuple[str, float]] = {
        "Requests": ("Count", 1),
        "Errors": ("Count", int(error is not None and error.code == "internal")),
    }
    if utterance.began_s is not None and utterance.first_audio_s is not None:
        first_audio_s = utterance.first_audio_s - utterance.began_s
        metrics["FirstAudio"] = ("Milliseconds", round(1000 * first_audio_s, 1))
    if tally.audio_s > 0:
        metrics["RealTimeFactor"] = ("None", round(tally.engine_s / tally.audio_s, 4))
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
