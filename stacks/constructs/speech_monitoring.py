"""The metrics of the speech endpoint, its alarms and its rows of the dashboard."""

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
    """Return a metric of the endpoint, with a period of one minute.

    The container writes the metrics in `names.CONTAINER_METRICS`:

    - `FirstAudio` is in milliseconds. It begins when the utterance has arrived and the previous
      utterance of its session is synthesized, so an utterance that a client sends ahead of time
      does not count as late.
    - `Errors` counts the utterances that the container failed to synthesize, without bad requests.
    - `RealTimeFactor` is the seconds of work per second of audio.

    SageMaker emits the other metrics (developer guide, "Monitor Amazon SageMaker AI with Amazon
    CloudWatch"). `ConcurrentRequestsPerModel` is the number of open streams of an instance,
    including those in a pause between sentences. SageMaker emits no `ModelLatency` for
    bidirectional streams.

    Args:
        endpoint_name: The name of the endpoint, as plain text.
        name: The name of the metric.
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
        endpoint_name: The name as plain text, because the endpoint itself refers to its alarms.
        limits: The thresholds of the alarms.
        topic: The topic to which the alarms publish; None for alarms that notify nobody.

    Attributes:
        alarms: The alarms, in the order of `SPEECH_ALARMS`.
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
            alarm_description=f"{endpoint_name}: {alarm.meaning}; see docs/operations.md, Alarms",
            threshold=alarm.threshold(limits),
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
            evaluation_periods=alarm.minutes,
            datapoints_to_alarm=alarm.bad_minutes,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )


def speech_widgets(
    endpoint_name: str, limits: Alarms, instances: Instances
) -> list[list[cloudwatch.IWidget]]:
    """Return the rows of the dashboard that show timeliness of speech and spare capacity."""

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
                "Sentences and errors",
                metric("Requests", "Sum"),
                metric("Errors", "Sum"),
                metric("MidStreamErrors", "Sum"),
            ),
            graph(
                "Seconds of work per second of audio",
                metric("RealTimeFactor", "p95"),
                mark=("real time", 1),
            ),
        ],
        [
            graph(
                "Open conversations per instance",
                metric("ConcurrentRequestsPerModel", "Maximum"),
                mark=("target", instances.sessions_per_instance),
            ),
            graph(
                "Instances",
                # Each instance reports its load once a minute.
                metric("CPUUtilization", "SampleCount").with_(label="instances"),
                mark=("maximum", instances.maximum),
            ),
            graph(
                "Utilization, % of a core or GPU",
                *(metric(name, "Average") for name in INSTANCE_METRICS),
            ),
        ],
    ]
