"""The Kokoro endpoint on SageMaker, with its model, rollouts and scaling."""

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
from stacks.rollout import BAKE_S
from stacks.settings.speech import Speech

INVOKE_ACTIONS = (
    "sagemaker:InvokeEndpoint",
    "sagemaker:InvokeEndpointWithResponseStream",
    "sagemaker:InvokeEndpointWithBidirectionalStream",
)
"""Actions for batch requests, streamed responses and bidirectional streams."""

PROVISION_S = 1800
"""Seconds allowed for two starts of instances. One takes about `START_S`."""

ADMITTED_PER_TARGET = 2
"""Sessions that an instance admits for each session of its scaling target. A new instance takes
minutes to start, so the present instances must carry a burst. Beyond this limit they refuse
sessions instead of slowing down."""


class KokoroEndpoint(Construct):
    """A SageMaker real-time endpoint that serves the Kokoro container.

    Model and endpoint configuration have no fixed names, so that a successor can replace each of
    them. The endpoint has a fixed name, because the alarms to which it refers need its name.

    Args:
        endpoint_name: The name of the endpoint, as plain text.
        speech: The settings of the endpoint.
        image: The image of the container.
        rollback_alarms: The alarms that roll a rollout back.
        log_retention: The retention of the container's log.

    Attributes:
        endpoint_name: The name as plain text, so that other stacks need no reference to this stack.
        endpoint_arn: The ARN, also without a reference to this stack.
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
            # A deploy keeps the present number of instances instead of the initial count.
            retain_all_variant_properties=True,
            deployment_config=_rollout(speech, rollback_alarms),
        )
        # Without it, SageMaker creates the log group itself, with no limit on retention.
        endpoint.node.add_dependency(log_group)
        SessionScaling(
            self, "Scaling", endpoint=endpoint, endpoint_name=endpoint_name, speech=speech
        )

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow `grantee` to request speech, by request and by stream."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=list(INVOKE_ACTIONS), resource_arns=[self.endpoint_arn]
        )

    def _role(self, repository: ecr.IRepository, log_group: logs.LogGroup) -> iam.Role:
        """Create the role with which SageMaker pulls the image, logs and publishes metrics.

        It has no more permissions than SageMaker's developer guide lists under "CreateModel API:
        Execution Role Permissions", and only for the log group of this endpoint.
        """
        role = iam.Role(
            self,
            "Role",
            # Only for resources of this account (same guide, "Cross-service confused deputy").
            assumed_by=iam.ServicePrincipal(
                "sagemaker.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}},
            ),
            description=f"Execution role of the SageMaker endpoint {self.endpoint_name}",
        )
        repository.grant_pull(role)
        # The attribute of the group ends with `:*`, which matches the streams in it only.
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
                resources=["*"],  # it supports no resources; the condition limits the namespace
                conditions={"StringLike": {"cloudwatch:namespace": "/aws/sagemaker/*"}},
            )
        )
        acknowledge(
            role,
            "ecr:GetAuthorizationToken and cloudwatch:PutMetricData support no resources, "
            "and a condition limits the latter to SageMaker's namespaces",
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
        # SageMaker pulls the image at once, so the policies of the role must exist before.
        model.node.add_dependency(role)
        return sagemaker.CfnEndpointConfig(
            self,
            "Config",
            # Without KmsKeyId and VolumeSizeInGB: SageMaker refuses them for instances with local
            # storage, such as ml.g5 (SageMaker API reference, CreateEndpointConfig).
            production_variants=[
                sagemaker.CfnEndpointConfig.ProductionVariantProperty(
                    variant_name=names.PRODUCTION_VARIANT,
                    model_name=model.attr_model_name,
                    instance_type=speech.instance_type,
                    initial_instance_count=speech.instances.minimum,
                    initial_variant_weight=1,
                    inference_ami_version=speech.inference_ami,
                    container_startup_health_check_timeout_in_seconds=speech.startup_timeout_s,
                    # Sessions last for minutes; with random routing some instances would hold most.
                    routing_config=sagemaker.CfnEndpointConfig.RoutingConfigProperty(
                        routing_strategy="LEAST_OUTSTANDING_REQUESTS"
                    ),
                )
            ],
        )

    def _environment(self, speech: Speech) -> dict[str, str]:
        """Return the variables for `kokoro_server.settings`; all others keep their defaults."""
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
    """Return a blue/green deployment that is rolled back when one of the alarms goes off.

    A canary may be at most half of the instances (SageMaker API reference, TrafficRoutingConfig).
    Therefore a single instance is replaced at once.
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
            # It must exceed the sum of all waits; at most 28,800 (BlueGreenUpdatePolicy).
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
