"""The Kokoro endpoint on SageMaker: model, rollout, scaling."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from stacks import names
from stacks.constructs.session_scaling import SessionScaling
from stacks.constructs.source_image import SourceImage
from stacks.nag import acknowledge
from stacks.settings.speech import Speech

INVOKE_ACTIONS = (
    "sagemaker:InvokeEndpoint",
    "sagemaker:InvokeEndpointWithResponseStream",
    "sagemaker:InvokeEndpointWithBidirectionalStream",
)
"""Batch requests, streamed answers, and bidirectional streams."""

BAKE_S = 600
"""How long new instances serve, first some of the traffic, then all, before the rollout goes on:
two evaluations of the slowest alarm."""
PROVISION_S = 1800
"""The time allowed for instances to be found and started, twice; one takes about 320 s on
ml.g5.xlarge (measured in aws-samples/sample-kokoro-tts-for-ai-agents)."""

ADMITTED_PER_TARGET = 2
"""How many sessions an instance admits for each one it is meant to hold. A new instance takes
minutes, so the present ones carry a burst; beyond this they refuse rather than slow down."""


class KokoroEndpoint(Construct):
    """A SageMaker real-time endpoint that serves the Kokoro container.

    Neither model nor endpoint configuration has a name, so each can be replaced by its successor.
    The endpoint has one, so that alarms, which the endpoint refers to, can be about it.

    Args:
        endpoint_name: The endpoint's name, as plain text.
        speech: The settings of the endpoint.
        image: The container's image.
        rollback_alarms: The alarms that take a rollout back.
        log_retention: How long the container's log is kept.

    Attributes:
        endpoint_name: The name as plain text, so that other stacks need no reference to this one.
        endpoint_arn: The ARN, composed of plain text too.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        endpoint_name: str,
        speech: Speech,
        image: SourceImage,
        rollback_alarms: Sequence[cloudwatch.IAlarm],
        log_retention: logs.RetentionDays,
    ) -> None:
        super().__init__(scope, construct_id)
        self.endpoint_name = endpoint_name
        self.endpoint_arn: str = cdk.Stack.of(self).format_arn(
            service="sagemaker", resource="endpoint", resource_name=endpoint_name
        )
        log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=names.endpoint_log_group(endpoint_name),
            retention=log_retention,
        )
        role = self._role(image.repository, log_group)
        config = self._config(speech, image.uri, role)
        endpoint = sagemaker.CfnEndpoint(
            self,
            "Endpoint",
            endpoint_name=endpoint_name,
            endpoint_config_name=config.attr_endpoint_config_name,
            # A deploy keeps the instances that scaling has added, instead of the first count.
            retain_all_variant_properties=True,
            deployment_config=_rollout(speech, rollback_alarms),
        )
        # The service would make the group itself, for ever, if it were not there first.
        endpoint.node.add_dependency(log_group)
        SessionScaling(
            self, "Scaling", endpoint=endpoint, endpoint_name=endpoint_name, speech=speech
        )

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let `grantee` ask for speech, by request and by stream."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=list(INVOKE_ACTIONS), resource_arns=[self.endpoint_arn]
        )

    def _role(self, repository: ecr.IRepository, log_group: logs.LogGroup) -> iam.Role:
        """What SageMaker does in the container's name: pull it, log, publish instance metrics.

        No more than SageMaker's developer guide lists under "CreateModel API: Execution Role
        Permissions", and of logs this endpoint's only.
        """
        role = iam.Role(
            self,
            "Role",
            # For this account's resources only (same guide, "Cross-service confused deputy").
            assumed_by=iam.ServicePrincipal(
                "sagemaker.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}},
            ),
            description=f"SageMaker runs {self.endpoint_name} with it",
        )
        repository.grant_pull(role)
        # Without the `:*` of the group's attribute, which stands for the streams in it.
        group_arn = cdk.Stack.of(self).format_arn(
            service="logs",
            resource="log-group",
            resource_name=log_group.log_group_name,
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=[
                    "logs:CreateLogGroup",
                    "logs:CreateLogStream",
                    "logs:DescribeLogStreams",
                    "logs:PutLogEvents",
                ],
                resources=[group_arn, log_group.log_group_arn],
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["cloudwatch:PutMetricData"],
                resources=["*"],  # it has no resources; the namespace is the bound
                conditions={"StringLike": {"cloudwatch:namespace": "/aws/sagemaker/*"}},
            )
        )
        acknowledge(
            role,
            "Neither ecr:GetAuthorizationToken nor cloudwatch:PutMetricData takes a resource; the "
            "second is bound to SageMaker's namespaces",
            "AwsSolutions-IAM5[Resource::*]",
        )
        return role

    def _config(
        self, speech: Speech, image_uri: str, role: iam.Role
    ) -> sagemaker.CfnEndpointConfig:
        model = sagemaker.CfnModel(
            self,
            "Model",
            execution_role_arn=role.role_arn,
            enable_network_isolation=True,  # the weights are in the image
            primary_container=sagemaker.CfnModel.ContainerDefinitionProperty(
                image=image_uri,
                environment=self._environment(speech),
            ),
        )
        # Of the role and its policies: SageMaker tries the pull at once.
        model.node.add_dependency(role)
        return sagemaker.CfnEndpointConfig(
            self,
            "Config",
            # No KmsKeyId or VolumeSizeInGB: with instance storage, as on ml.g5, they are refused
            # (SageMaker API reference, CreateEndpointConfig).
            production_variants=[
                sagemaker.CfnEndpointConfig.ProductionVariantProperty(
                    variant_name=names.PRODUCTION_VARIANT,
                    model_name=model.attr_model_name,
                    instance_type=speech.instance_type,
                    initial_instance_count=speech.instances.minimum,
                    initial_variant_weight=1,
                    inference_ami_version=speech.inference_ami,
                    container_startup_health_check_timeout_in_seconds=speech.startup_timeout_s,
                    # Sessions last for minutes; at random some instances would hold most of them.
                    routing_config=sagemaker.CfnEndpointConfig.RoutingConfigProperty(
                        routing_strategy="LEAST_OUTSTANDING_REQUESTS"
                    ),
                )
            ],
        )

    def _environment(self, speech: Speech) -> dict[str, str]:
        """What `kokoro_server.settings` reads; the rest keeps its defaults."""
        environment = {
            "KOKORO_ENDPOINT_NAME": self.endpoint_name,
            "KOKORO_METRICS_NAMESPACE": names.METRIC_NAMESPACE,
            "KOKORO_EXECUTION_PROVIDER": "cuda" if speech.variant == "gpu" else "cpu",
            "KOKORO_GRANULARITY": speech.granularity,
            "KOKORO_MAX_SESSIONS": str(
                ADMITTED_PER_TARGET * speech.instances.sessions_per_instance
            ),
        }
        if speech.default_voice is not None:
            environment["KOKORO_DEFAULT_VOICE"] = speech.default_voice
        if speech.session_idle_s is not None:
            environment["KOKORO_IDLE_TIMEOUT_S"] = str(speech.session_idle_s)
        return environment


def _rollout(
    speech: Speech, alarms: Sequence[cloudwatch.IAlarm]
) -> sagemaker.CfnEndpoint.DeploymentConfigProperty:
    """Blue/green, taken back when one of the alarms goes off.

    A canary may be at most half of the instances (SageMaker API reference, TrafficRoutingConfig),
    so a single one is replaced at once.
    """
    canary = sagemaker.CfnEndpoint.CapacitySizeProperty(type="INSTANCE_COUNT", value=1)
    several = speech.fewest_instances > 1
    routing = sagemaker.CfnEndpoint.TrafficRoutingConfigProperty(
        type="CANARY" if several else "ALL_AT_ONCE",
        canary_size=canary if several else None,
        wait_interval_in_seconds=BAKE_S,
    )
    return sagemaker.CfnEndpoint.DeploymentConfigProperty(
        blue_green_update_policy=sagemaker.CfnEndpoint.BlueGreenUpdatePolicyProperty(
            traffic_routing_configuration=routing,
            termination_wait_in_seconds=speech.termination_wait_s,
            # Must be more than all waits; at most 28,800 (BlueGreenUpdatePolicy).
            maximum_execution_timeout_in_seconds=(
                PROVISION_S + speech.startup_timeout_s + 2 * BAKE_S + speech.termination_wait_s
            ),
        ),
        auto_rollback_configuration=sagemaker.CfnEndpoint.AutoRollbackConfigProperty(
            alarms=[
                sagemaker.CfnEndpoint.AlarmProperty(alarm_name=alarm.alarm_name) for alarm in alarms
            ]
        ),
    )
