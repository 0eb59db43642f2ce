"""What all stacks of an environment have in common."""

import aws_cdk as cdk
from constructs import Construct

from stacks.settings import Settings


class EnvironmentStack(cdk.Stack):
    """A stack of one environment: name, place, tags, protection and the bound on its roles.

    Args:
        scope: the app.
        construct_id: `<environment>-<Part>`; the stack's name is `voice-<environment>-<part>`.
        settings: of the environment.
        description: what CloudFormation's console shows.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, description: str
    ) -> None:
        boundary = settings.permissions_boundary
        super().__init__(
            scope,
            construct_id,
            stack_name=f"voice-{construct_id.lower()}",
            description=description,
            env=cdk.Environment(account=settings.account, region=settings.region),
            termination_protection=settings.is_stable,
            permissions_boundary=cdk.PermissionsBoundary.from_name(boundary) if boundary else None,
        )
        # Log groups a library makes are kept unless told. A first deploy that fails keeps none: the
        # names that services choose must be free for the next one.
        cdk.RemovalPolicies.of(self).apply(
            cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
            if settings.is_stable
            else cdk.RemovalPolicy.DESTROY,
            apply_to_resource_types=["AWS::Logs::LogGroup"],
        )
        for key, value in ({"environment": settings.name} | settings.tags).items():
            cdk.Tags.of(self).add(key, value)
