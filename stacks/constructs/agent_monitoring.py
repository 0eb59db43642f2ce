"""The agent runtime's metrics and its row of the dashboard."""

from aws_cdk import aws_cloudwatch as cloudwatch

from stacks import names
from stacks.constructs.dashboard_graph import MINUTE, graph


def agent_widgets(runtime_name: str) -> list[list[cloudwatch.IWidget]]:
    """The agent's row of the dashboard: does it answer."""
    return [
        [
            graph(
                "Agent: calls and new sessions",
                _metric(runtime_name, "Invocations", "Sum"),
                _metric(runtime_name, "SessionCount", "Sum"),
            ),
            graph(
                "Agent: what failed",
                _metric(runtime_name, "SystemErrors", "Sum"),
                _metric(runtime_name, "UserErrors", "Sum"),
                _metric(runtime_name, "Throttles", "Sum"),
            ),
            graph("Agent: length of a call, ms", _metric(runtime_name, "Latency", "Average")),
        ],
    ]


def _metric(runtime_name: str, name: str, statistic: str) -> cloudwatch.MathExpression:
    """A metric of the AgentCore runtime, a curve for each of its endpoints.

    A search, because the metric's dimensions hold the runtime's ARN, which is known only after the
    deploy (AgentCore developer guide, "AgentCore generated runtime observability data").
    """
    endpoints = f'"{runtime_name}::DEFAULT" OR "{runtime_name}::{names.QUALIFIER}"'
    search = (
        f'{{AWS/Bedrock-AgentCore,Name,Operation,Resource}} MetricName="{name}" Name=({endpoints})'
    )
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{search}', '{statistic}', 60)", label=name, period=MINUTE
    )
