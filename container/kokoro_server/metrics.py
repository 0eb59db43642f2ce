"""Metrics of each utterance's synthesis, for CloudWatch.

They are written to standard output in CloudWatch's embedded metric format. CloudWatch extracts the
metrics from the log lines that SageMaker forwards, so the container needs neither network access
nor credentials.
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
"""Records the metrics of an utterance that has ended."""


def recorder(settings: Settings) -> Record:
    """Return a function that prints one line for each utterance; nothing without a namespace.

    Cancelled utterances are not recorded, because a fraction of one says little about the rest.
    """
    namespace, endpoint_name = settings.metrics_namespace, settings.endpoint_name

    def record(utterance: Utterance) -> None:
        if namespace is None or endpoint_name is None:
            return
        if utterance.state in (UtteranceState.COMPLETE, UtteranceState.FAILED):
            line = metric_line(utterance, namespace, endpoint_name, time.time())
            try:
                print(line, flush=True)
            except OSError as error:  # Synthesis continues even if nobody reads the metrics.
                logger.error("a metrics line could not be written: %s", error)

    return record


def metric_line(utterance: Utterance, namespace: str, endpoint_name: str, unix_s: float) -> str:
    """Describe an ended utterance in the embedded metric format, as one line of JSON.

    `Errors` counts faults of the server; a text that cannot be spoken is not one. `FirstAudio` is
    the time from the utterance's turn to its first audio. Clients may send many requests at once,
    so the turn begins when the request arrives or, if that is later, when all audio of the
    session's previous request has been synthesized. `RealTimeFactor` is engine time divided by the
    duration of the audio, without the pauses that the text asks for. Waiting for the engine, which
    other sessions use too, counts in `FirstAudio` only. `UnspokenWords` is there only if a word had
    no sound.

    Args:
        utterance: An utterance that is complete or has failed.
        namespace: The CloudWatch namespace of the metrics.
        endpoint_name: The value of their only dimension, `Endpoint`.
        unix_s: The time of day.
    """
    # Write 0 errors explicitly: an alarm without data cannot tell that all is well.
    error, tally = utterance.error, utterance.tally
    metrics: dict[str, tuple[str, float]] = {
        "Requests": ("Count", 1),
        "Errors": ("Count", int(error is not None and error.code == "internal")),
    }
    if utterance.began_s is not None and utterance.first_audio_s is not None:
        first_audio_s = utterance.first_audio_s - utterance.began_s
        metrics["FirstAudio"] = ("Milliseconds", round(1000 * first_audio_s, 1))
    if utterance.unspoken:
        metrics["UnspokenWords"] = ("Count", len(utterance.unspoken))
    if tally.spoken_s > 0:
        metrics["RealTimeFactor"] = ("None", round(tally.engine_s / tally.spoken_s, 4))
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
