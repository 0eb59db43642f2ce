"""The base class of all stacks of an environment."""

import aws_cdk as cdk
from aws_cdk import aws_logs as logs

from stacks import names
from stacks.settings import Settings


class EnvironmentStack(cdk.Stack):
    """A stack with the environment's name, account, Region, tags, protection and role boundary.

    Args:
        app: The CDK app.
        stack: The name of the stack in `names.STACKS`.
        settings: The environment's settings.
        description: The description in the CloudFormation console.

    Attributes:
        log_retention: The retention of the environment's logs.
    """

    def __init__(self, app: cdk.App, stack: str, *, settings: Settings, description: str) -> None:
        boundary = settings.permissions_boundary
        super().__init__(
            app,
            names.stack_id(settings.name, stack),
            stack_name=names.stack_name(settings.name, stack),
            description=description,
            env=cdk.Environment(account=settings.account, region=settings.region),
            termination_protection=settings.is_stable,
            permissions_boundary=cdk.PermissionsBoundary.from_name(boundary) if boundary else None,
        )
        self.log_retention = (
            logs.RetentionDays.SIX_MONTHS if settings.is_stable else logs.RetentionDays.ONE_WEEK
        )
        # By default, the log groups that a library creates are retained. After a first deploy that
        # failed none is retained, because their fixed names must be free for the next deploy.
        cdk.RemovalPolicies.of(self).apply(
            cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
            if settings.is_stable
            else cdk.RemovalPolicy.DESTROY,
            apply_to_resource_types=["AWS::Logs::LogGroup"],
        )
        for key, value in ({"environment": settings.name} | settings.tags).items():
            cdk.Tags.of(self).add(key, value)
