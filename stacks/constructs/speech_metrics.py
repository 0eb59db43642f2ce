"""What the speech endpoint measures: for its alarms and for the dashboard."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from stacks.settings.speech import PRODUCTION_VARIANT

NAMESPACE = "VoiceAgent"
"""Of the metrics the container writes itself, with the dimension `Endpoint`."""

_MINUTE = cdk.Duration.minutes(1)


def first_audio(endpoint_name: str, statistic: str = "p95") -> cloudwatch.Metric:
    """From an utterance's turn to its first audio, in milliseconds.

    Its turn comes when it arrives at the container, or when the one before it in its session is
    made: what a client sends ahead of time is not late.
    """
    return _own(endpoint_name, "FirstAudio", statistic)


def errors(endpoint_name: str) -> cloudwatch.Metric:
    """Utterances the container failed to make, a minute; what was wrong to ask for is not one."""
    return _own(endpoint_name, "Errors", "Sum")


def requests(endpoint_name: str) -> cloudwatch.Metric:
    """Utterances ended, a minute."""
    return _own(endpoint_name, "Requests", "Sum")


def real_time_factor(endpoint_name: str, statistic: str = "p95") -> cloudwatch.Metric:
    """Seconds of work per second of audio; above 1 speech is made slower than it is heard."""
    return _own(endpoint_name, "RealTimeFactor", statistic)


def mid_stream_errors(endpoint_name: str) -> cloudwatch.Metric:
    """Streams SageMaker saw break, a minute.

    It emits no ModelLatency for bidirectional streams, so errors and our own metrics are what
    there is (SageMaker developer guide, "Monitor Amazon SageMaker AI with Amazon CloudWatch").
    """
    return _sagemaker(endpoint_name, "MidStreamErrors", "Sum")


def sessions_per_instance(endpoint_name: str, statistic: str = "Average") -> cloudwatch.Metric:
    """Open streams an instance holds, pauses between sentences included."""
    return _sagemaker(endpoint_name, "ConcurrentRequestsPerModel", statistic)


def _own(endpoint_name: str, name: str, statistic: str) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=name,
        dimensions_map={"Endpoint": endpoint_name},
        statistic=statistic,
        period=_MINUTE,
    )


def _sagemaker(endpoint_name: str, name: str, statistic: str) -> cloudwatch.Metric:
    return cloudwatch.Metric(
        namespace="AWS/SageMaker",
        metric_name=name,
        dimensions_map={"EndpointName": endpoint_name, "VariantName": PRODUCTION_VARIANT},
        statistic=statistic,
        period=_MINUTE,
    )
