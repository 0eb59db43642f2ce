"""The speech endpoint."""

import aws_cdk as cdk
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_sns as sns
from constructs import Construct

from stacks.constructs.kokoro_endpoint import KokoroEndpoint
from stacks.settings import Settings
from stacks.stack import EnvironmentStack


class SpeechStack(EnvironmentStack):
    """The SageMaker endpoint, with its rollout, scaling and alarms.

    Args:
        scope: the app.
        construct_id: `<environment>-Speech`.
        settings: of the environment.
        image_uri: of the Kokoro container.
        repository: where the image is.
        alarm_topic: what the alarms tell; nobody without.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Settings,
        image_uri: str,
        repository: ecr.IRepository,
        alarm_topic: sns.ITopic | None = None,
    ) -> None:
        super().__init__(
            scope, construct_id, settings=settings, description="Voice agent: speech on SageMaker"
        )
        self.endpoint = KokoroEndpoint(
            self,
            "Kokoro",
            settings=settings,
            image_uri=image_uri,
            repository=repository,
            alarm_topic=alarm_topic,
        )
        cdk.CfnOutput(self, "EndpointName", value=self.endpoint.endpoint_name)
