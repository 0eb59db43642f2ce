"""The stack with the SageMaker endpoint of the speech server, its scaling and its alarms."""

import aws_cdk as cdk
from aws_cdk import aws_sns as sns

from stacks.constructs.kokoro_endpoint import KokoroEndpoint
from stacks.constructs.source_image import SourceImage
from stacks.constructs.speech_monitoring import SpeechAlarms
from stacks.settings import Settings
from stacks.stack import EnvironmentStack


class SpeechStack(EnvironmentStack):
    """The SageMaker endpoint, with its rollouts, scaling and alarms.

    Args:
        app: The CDK app.
        settings: The environment's settings.
        image: The image of the Kokoro container.
        alarm_topic: The topic to which alarms publish; None for alarms that notify nobody.

    Attributes:
        endpoint: The SageMaker endpoint.
    """

    def __init__(
        self,
        app: cdk.App,
        *,
        settings: Settings,
        image: SourceImage,
        alarm_topic: sns.ITopic | None = None,
    ) -> None:
        super().__init__(
            app, "speech", settings=settings, description="Voice agent: speech on SageMaker"
        )
        alarms = SpeechAlarms(
            self,
            "Alarms",
            endpoint_name=settings.endpoint_name,
            limits=settings.alarms,
            topic=alarm_topic,
        )
        self.endpoint = KokoroEndpoint(
            self,
            "Kokoro",
            endpoint_name=settings.endpoint_name,
            speech=settings.speech,
            image=image,
            rollback_alarms=alarms.alarms,
            log_retention=self.log_retention,
        )
        cdk.CfnOutput(self, "EndpointName", value=self.endpoint.endpoint_name)
