"""Acknowledging what cdk-nag finds, where it finds it."""

import aws_cdk as cdk
from constructs import IConstruct


def acknowledge(construct: IConstruct, reason: str, *findings: str) -> None:
    """Accept findings on a construct and on what is below it.

    Args:
        construct: the closest one that holds the finding.
        reason: what a reviewer needs to agree.
        findings: as cdk-nag names them, `AwsSolutions-CB4` or `AwsSolutions-IAM5[Resource::…]`;
            the stack's partition, Region and account may be given as tokens.
    """
    stack = cdk.Stack.of(construct)
    for finding in findings:
        rendered = finding
        for token, name in (
            (stack.partition, "<AWS::Partition>"),
            (stack.region, "<AWS::Region>"),
            (stack.account, "<AWS::AccountId>"),
        ):
            if cdk.Token.is_unresolved(token):
                rendered = rendered.replace(token, name)
        cdk.Validations.of(construct).acknowledge(cdk.Acknowledgment(id=rendered, reason=reason))
