"""Acknowledging what cdk-nag finds, where it finds it."""

import aws_cdk as cdk
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_lambda as lambda_
from constructs import IConstruct

from stacks import names

MANAGED_POLICY = "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy"


def acknowledge(construct: IConstruct, reason: str, *findings: str) -> None:
    """Accept findings on a construct and on what is below it.

    Args:
        construct: The closest one that holds the finding.
        reason: The reason, complete enough for a reviewer to agree.
        findings: The findings as cdk-nag names them, such as `AwsSolutions-CB4` or
            `AwsSolutions-IAM5[Resource::…]`; partition, Region and account may be tokens.
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
    """Accept what cdk-nag finds in `cdklabs.deploy-time-build`: its CodeBuild projects, one an
    architecture, and the function that starts them.
    """
    for construct in stack.node.find_all():
        owner = construct.node.scope  # of a resource and its role
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
            "The project keeps nothing that could be encrypted: its only output is an image in ECR",
            "AwsSolutions-CB4",
        ),
        (
            "Read access to public images on ECR Public, where the base image comes from",
            f"{MANAGED_POLICY}/AmazonElasticContainerRegistryPublicReadOnly]",
        ),
        (
            "ecr:GetAuthorizationToken, with which a push begins, takes no resource",
            "AwsSolutions-IAM5[Resource::*]",
        ),
        (
            "CodeBuild names the log streams and report groups of this project itself",
            f"AwsSolutions-IAM5[Resource::{aws}:logs:{here}:log-group:/aws/codebuild/{name}:*]",
            f"AwsSolutions-IAM5[Resource::{aws}:codebuild:{here}:report-group/{name}-*]",
        ),
        (
            "Reads the build context from the bucket of the account's CDK bootstrap, where an "
            "asset's key is its hash",
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
        "The package chooses the runtime its bundle is made for, Node.js 22, which Lambda supports",
        "AwsSolutions-L1",
    )
    acknowledge(
        handler,
        "Writing the function's log is all that the policy allows",
        f"{MANAGED_POLICY}/service-role/AWSLambdaBasicExecutionRole]",
    )
