"""The metrics of the agent runtime, and its row of the dashboard."""

from aws_cdk import aws_cloudwatch as cloudwatch

from stacks import names
from stacks.constructs.dashboard_graph import MINUTE, graph


def agent_widgets(runtime_name: str) -> list[list[cloudwatch.IWidget]]:
    """Return the row of the dashboard that shows whether the agent responds."""
    return [
        [
            graph(
                "Agent: calls and new sessions",
                _metric(runtime_name, "Invocations", "Sum"),
                _metric(runtime_name, "SessionCount", "Sum"),
            ),
            graph(
                "Agent: errors and throttled calls",
                _metric(runtime_name, "SystemErrors", "Sum"),
                _metric(runtime_name, "UserErrors", "Sum"),
                _metric(runtime_name, "Throttles", "Sum"),
            ),
            graph("Agent: duration of a call, ms", _metric(runtime_name, "Latency", "Average")),
        ],
    ]


def _metric(runtime_name: str, name: str, statistic: str) -> cloudwatch.MathExpression:
    """Return a metric of the AgentCore runtime, with one curve for each of its endpoints.

    This is a search, because one of the dimensions is the ARN of the runtime, which is known only
    after the deploy (AgentCore developer guide, "AgentCore generated runtime observability data").
    """
    endpoints = f'"{runtime_name}::DEFAULT" OR "{runtime_name}::{names.QUALIFIER}"'
    search = (
        f'{{AWS/Bedrock-AgentCore,Name,Operation,Resource}} MetricName="{name}" Name=({endpoints})'
    )
    return cloudwatch.MathExpression(
        expression=f"SEARCH('{search}', '{statistic}', 60)", label=name, period=MINUTE
    )
