"""A graph of the dashboard."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

MINUTE = cdk.Duration.minutes(1)


def graph(
    title: str, *metrics: cloudwatch.IMetric, mark: tuple[str, float] | None = None
) -> cloudwatch.GraphWidget:
    """A third of a row.

    Args:
        title: The quantity it shows, with its unit.
        metrics: The metrics, one curve each.
        mark: The label and value of a horizontal line.
    """
    annotations = [cloudwatch.HorizontalAnnotation(label=mark[0], value=mark[1])] if mark else []
    return cloudwatch.GraphWidget(
        title=title, left=list(metrics), left_annotations=annotations, width=8
    )
