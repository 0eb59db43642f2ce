"""The speech endpoint's metrics and alarms."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as cloudwatch_actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from stacks import names
from stacks.settings.alarms import SPEECH_ALARMS, Alarms

INSTANCE_METRICS = ("CPUUtilization", "GPUUtilization")


def speech_metric(endpoint_name: str, name: str, statistic: str) -> cloudwatch.Metric:
    """A metric of the endpoint, by the minute.

    The container writes `names.CONTAINER_METRICS`. `FirstAudio` is in milliseconds, from an
    utterance's turn, which comes when it has arrived and the one before it in its session is
    synthesized: what a client sends ahead of time is not late. `Errors` are utterances the
    container failed to synthesize, without bad requests. `RealTimeFactor` is seconds of work per
    second of audio.

    The others are SageMaker's (developer guide, "Monitor Amazon SageMaker AI with Amazon
    CloudWatch"). `ConcurrentRequestsPerModel` are the open streams of an instance, pauses between
    sentences included. It emits no ModelLatency for bidirectional streams.

    Args:
        endpoint_name: The endpoint's name, as plain text.
        name: The metric's name.
        statistic: The statistic, such as `Sum` or `p95`.
    """
    if name in names.CONTAINER_METRICS:
        namespace, dimensions = names.METRIC_NAMESPACE, {"Endpoint": endpoint_name}
    else:
        of_instances = name in INSTANCE_METRICS
        namespace = "/aws/sagemaker/Endpoints" if of_instances else "AWS/SageMaker"
        dimensions = {"EndpointName": endpoint_name, "VariantName": names.PRODUCTION_VARIANT}
    return cloudwatch.Metric(
        namespace=namespace,
        metric_name=name,
        dimensions_map=dimensions,
        statistic=statistic,
        period=cdk.Duration.minutes(1),
    )


def speech_alarms(
    scope: Construct, endpoint_name: str, limits: Alarms, topic: sns.ITopic
) -> list[cloudwatch.Alarm]:
    """Make the `SPEECH_ALARMS` of one endpoint; returns them in the table's order.

    Args:
        scope: The construct that holds them.
        endpoint_name: The name as plain text, because the endpoint refers to its alarms.
        limits: The alarms' thresholds.
        topic: The topic that they publish to.
    """
    alarms = []
    for watched in SPEECH_ALARMS:
        metric = speech_metric(endpoint_name, watched.metric, watched.statistic)
        alarm = metric.create_alarm(
            scope,
            watched.metric,
            alarm_description=f"{endpoint_name}: {watched.meaning}",
            threshold=watched.threshold(limits),
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            evaluation_periods=watched.minutes,
            datapoints_to_alarm=watched.bad_minutes,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )
        alarm.add_alarm_action(cloudwatch_actions.SnsAction(topic))
        alarm.add_ok_action(cloudwatch_actions.SnsAction(topic))
        alarms.append(alarm)
    return alarms
