"""The graphs of the dashboard."""

from functools import partial

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

from stacks import names
from stacks.constructs.speech_monitoring import INSTANCE_METRICS, speech_metric
from stacks.settings.alarms import Alarms
from stacks.settings.speech import Instances


def speech_widgets(
    endpoint_name: str, limits: Alarms, instances: Instances
) -> list[cloudwatch.IWidget]:
    """The endpoint's two rows of the dashboard: does it speak in time, and is there room."""
    metric = partial(speech_metric, endpoint_name)
    return [
        _graph(
            "First audio of a sentence, ms",
            metric("FirstAudio", "p50"),
            metric("FirstAudio", "p95"),
            mark=("alarm", limits.first_audio_p95_ms),
        ),
        _graph(
            "Sentences, and what failed",
            metric("Requests", "Sum"),
            metric("Errors", "Sum"),
            metric("MidStreamErrors", "Sum"),
        ),
        _graph(
            "Seconds of work per second of audio",
            metric("RealTimeFactor", "p95"),
            mark=("slower than speech", 1),
        ),
        _graph(
            "Open conversations an instance",
            metric("ConcurrentRequestsPerModel", "Maximum"),
            mark=("target", instances.sessions_per_instance),
        ),
        _graph(
            "Instances",
            # Each reports its load once a minute.
            metric("CPUUtilization", "SampleCount").with_(label="instances"),
            mark=("maximum", instances.maximum),
        ),
        _graph(
            "Utilization, % of a core or GPU",
            *(metric(name, "Average") for name in INSTANCE_METRICS),
        ),
    ]


def agent_widgets(runtime_name: str) -> list[cloudwatch.IWidget]:
    """The agent's row of the dashboard: does it answer."""
    metric = partial(_agent_metric, runtime_name)
    return [
        _graph(
            "Agent: calls and new sessions",
            metric("Invocations", "Sum"),
            metric("SessionCount", "Sum"),
        ),
        _graph(
            "Agent: what failed",
            metric("SystemErrors", "Sum"),
            metric("UserErrors", "Sum"),
            metric("Throttles", "Sum"),
        ),
        _graph("Agent: length of a call, ms", metric("Latency", "Average")),
    ]


def _agent_metric(runtime_name: str, name: str, statistic: str) -> cloudwatch.MathExpression:
    """A metric of the AgentCore runtime, a curve for each of its endpoints.

    A search, because the metric's dimensions hold the runtime's ARN, which is known only after the
    deploy (AgentCore developer guide, "AgentCore generated runtime observability data").
    """
    endpoints = f'"{runtime_name}::DEFAULT" OR "{runtime_name}::{names.QUALIFIER}"'
    search = (
        f'{{AWS/Bedrock-AgentCore,Name,Operation,Resource}} MetricName="{name}" Name=({endpoints})'
    )
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{search}', '{statistic}', 60)",
        label=name,
        period=cdk.Duration.minutes(1),
    )


def _graph(
    title: str, *metrics: cloudwatch.IMetric, mark: tuple[str, float] | None = None
) -> cloudwatch.GraphWidget:
    """A third of a row, which wraps.

    Args:
        title: The quantity it shows, with its unit.
        metrics: The metrics, one curve each.
        mark: The label and value of a horizontal line.
    """
    annotations = [cloudwatch.HorizontalAnnotation(label=mark[0], value=mark[1])] if mark else []
    return cloudwatch.GraphWidget(
        title=title, left=list(metrics), left_annotations=annotations, width=8
    )
