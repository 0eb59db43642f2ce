"""Accepts cdk-nag findings, each with a reason, on the constructs that have them."""

import aws_cdk as cdk
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_lambda as lambda_
from constructs import IConstruct

from stacks import names

MANAGED_POLICY = "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy"


def acknowledge(construct: IConstruct, reason: str, *findings: str) -> None:
    """Accept findings on a construct and on the constructs below it.

    Args:
        construct: The innermost construct that contains all resources with these findings.
        reason: The reason, complete enough for a reviewer to judge it.
        findings: The names that cdk-nag gives to the findings, such as `AwsSolutions-CB4` or
            `AwsSolutions-IAM5[Resource::…]`. They may contain the stack's tokens for partition,
            Region and account.
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


def acknowledge_image_builds(stack: cdk.Stack) -> None:
    """Accept the findings in the constructs of `cdklabs.deploy-time-build`.

    The findings concern its CodeBuild projects, one for each architecture, and the Lambda function
    that starts the builds.
    """
    for construct in stack.node.find_all():
        owner = construct.node.scope  # the construct that holds the resource and its role
        assert owner is not None
        if isinstance(construct, codebuild.CfnProject):
            _acknowledge_project(owner, construct)
        elif isinstance(construct, lambda_.CfnFunction):
            _acknowledge_handler(owner)


def _acknowledge_project(project: IConstruct, resource: codebuild.CfnProject) -> None:
    stack = resource.stack
    aws = f"arn:{stack.partition}"
    here = f"{stack.region}:{stack.account}"
    name = f"<{stack.get_logical_id(resource)}>"
    assets = f"cdk-{names.BOOTSTRAP_QUALIFIER}-assets-{stack.account}-{stack.region}"
    for reason, *findings in (
        (
            "The project stores nothing that needs encryption: its only output is an image in ECR",
            "AwsSolutions-CB4",
        ),
        (
            "Read access to the public images on ECR Public, one of which is the base image",
            f"{MANAGED_POLICY}/AmazonElasticContainerRegistryPublicReadOnly]",
        ),
        (
            "ecr:GetAuthorizationToken, the first call of a push, cannot be limited to a resource",
            "AwsSolutions-IAM5[Resource::*]",
        ),
        (
            "CodeBuild chooses the names of this project's log streams and report groups itself",
            f"AwsSolutions-IAM5[Resource::{aws}:logs:{here}:log-group:/aws/codebuild/{name}:*]",
            f"AwsSolutions-IAM5[Resource::{aws}:codebuild:{here}:report-group/{name}-*]",
        ),
        (
            "The project reads the build context from the bucket of the CDK bootstrap, in which "
            "the key of an asset is its hash",
            "AwsSolutions-IAM5[Action::s3:GetBucket*]",
            "AwsSolutions-IAM5[Action::s3:GetObject*]",
            "AwsSolutions-IAM5[Action::s3:List*]",
            f"AwsSolutions-IAM5[Resource::{aws}:s3:::{assets}/*]",
        ),
    ):
        acknowledge(project, reason, *findings)


def _acknowledge_handler(handler: IConstruct) -> None:
    acknowledge(
        handler,
        "The package chooses the runtime of its bundle, Node.js 22, which Lambda supports",
        "AwsSolutions-L1",
    )
    acknowledge(
        handler,
        "The policy allows nothing except writing the log of the function",
        f"{MANAGED_POLICY}/service-role/AWSLambdaBasicExecutionRole]",
    )
