"""The speech endpoint's metrics, its alarms and its rows of the dashboard."""

from collections.abc import Sequence

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as cloudwatch_actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from stacks import names
from stacks.constructs.dashboard_graph import MINUTE, graph
from stacks.settings.alarms import SPEECH_ALARMS, Alarms, SpeechAlarm
from stacks.settings.speech import Instances

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
        period=MINUTE,
    )


class SpeechAlarms(Construct):
    """The `SPEECH_ALARMS` of one endpoint.

    Args:
        endpoint_name: The name as plain text, because the endpoint refers to its alarms.
        limits: The alarms' thresholds.
        topic: The topic that they publish to; None for alarms that notify nobody.

    Attributes:
        alarms: The alarms, in the table's order.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        endpoint_name: str,
        limits: Alarms,
        topic: sns.ITopic | None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.alarms: Sequence[cloudwatch.Alarm] = [
            self._alarm(alarm, endpoint_name, limits) for alarm in SPEECH_ALARMS
        ]
        if topic is not None:
            for alarm in self.alarms:
                alarm.add_alarm_action(cloudwatch_actions.SnsAction(topic))
                alarm.add_ok_action(cloudwatch_actions.SnsAction(topic))

    def _alarm(self, alarm: SpeechAlarm, endpoint_name: str, limits: Alarms) -> cloudwatch.Alarm:
        return speech_metric(endpoint_name, alarm.metric, alarm.statistic).create_alarm(
            self,
            alarm.metric,
            alarm_description=f"{endpoint_name}: {alarm.meaning}",
            threshold=alarm.threshold(limits),
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            evaluation_periods=alarm.minutes,
            datapoints_to_alarm=alarm.bad_minutes,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )


def speech_widgets(
    endpoint_name: str, limits: Alarms, instances: Instances
) -> list[list[cloudwatch.IWidget]]:
    """The endpoint's rows of the dashboard: does it speak in time, and is there room."""

    def metric(name: str, statistic: str) -> cloudwatch.Metric:
        return speech_metric(endpoint_name, name, statistic)

    return [
        [
            graph(
                "First audio of a sentence, ms",
                metric("FirstAudio", "p50"),
                metric("FirstAudio", "p95"),
                mark=("alarm", limits.first_audio_p95_ms),
            ),
            graph(
                "Sentences, and what failed",
                metric("Requests", "Sum"),
                metric("Errors", "Sum"),
                metric("MidStreamErrors", "Sum"),
            ),
            graph(
                "Seconds of work per second of audio",
                metric("RealTimeFactor", "p95"),
                mark=("slower than speech", 1),
            ),
        ],
        [
            graph(
                "Open conversations an instance",
                metric("ConcurrentRequestsPerModel", "Maximum"),
                mark=("target", instances.sessions_per_instance),
            ),
            graph(
                "Instances",
                # Each reports its load once a minute.
                metric("CPUUtilization", "SampleCount").with_(label="instances"),
                mark=("maximum", instances.maximum),
            ),
            graph(
                "Utilization, % of a core or GPU",
                *(metric(name, "Average") for name in INSTANCE_METRICS),
            ),
        ],
    ]
