"""A graph of the CloudWatch dashboard."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch

MINUTE = cdk.Duration.minutes(1)


def graph(
    title: str, *metrics: cloudwatch.IMetric, mark: tuple[str, float] | None = None
) -> cloudwatch.GraphWidget:
    """Return a graph that fills a third of a row.

    Args:
        title: The quantity in the graph, with its unit.
        metrics: The metrics, one for each curve.
        mark: The label and the value of a horizontal line; None for no line.
    """
    annotations = [cloudwatch.HorizontalAnnotation(label=mark[0], value=mark[1])] if mark else []
    return cloudwatch.GraphWidget(
        title=title, left=list(metrics), left_annotations=annotations, width=8
    )
