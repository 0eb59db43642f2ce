"""Scales the speech endpoint by the number of open sessions, and on a schedule."""

import aws_cdk as cdk
from aws_cdk import aws_applicationautoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as cloudwatch_actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from stacks import names
from stacks.constructs.speech_monitoring import speech_metric
from stacks.settings.speech import Instances, Speech

SCALE_IN_BELOW = 0.4
"""Below this share of the target, one instance is removed. Even if it is one of two instances, the
other one is then below the target."""
SCALE_IN_MINUTES = 15


class SessionScaling(Construct):
    """Adds instances when there are many sessions, and removes them one by one when there are few.

    Args:
        endpoint: The endpoint to scale; its only production variant is `names.PRODUCTION_VARIANT`.
        endpoint_name: The name of the endpoint, as plain text.
        speech: The bounds, the target of sessions per instance, and the schedule.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        endpoint: sagemaker.CfnEndpoint,
        endpoint_name: str,
        speech: Speech,
    ) -> None:
        super().__init__(scope, construct_id)
        target = self._target(endpoint_name, speech.instances)
        # The target refers to the endpoint by name only. It must be created after the endpoint and
        # deleted before it.
        target.node.add_dependency(endpoint)
        target.scale_to_track_metric(
            "ScaleOut",
            predefined_metric=(
                autoscaling.PredefinedMetric.SAGEMAKER_VARIANT_CONCURRENT_REQUESTS_PER_MODEL_HIGH_RESOLUTION
            ),
            target_value=speech.instances.sessions_per_instance,
            scale_out_cooldown=cdk.Duration.minutes(5),  # about the start of a new instance
            # A removed instance ends its conversations after 30 s, so removal is slow.
            disable_scale_in=True,
        )
        self._scale_in(target, endpoint_name, speech.instances)
        for action in speech.schedule:
            target.scale_on_schedule(
                action.name,
                schedule=autoscaling.Schedule.expression(action.cron),
                time_zone=cdk.TimeZone.of(action.time_zone),
                min_capacity=action.minimum,
                max_capacity=action.maximum,
            )

    def _target(self, endpoint_name: str, instances: Instances) -> autoscaling.ScalableTarget:
        return autoscaling.ScalableTarget(
            self,
            "Target",
            # Application Auto Scaling always uses its service-linked role. Without this argument,
            # the CDK would create a role that has no permissions and no use.
            role=iam.Role.from_role_arn(
                self,
                "Role",
                cdk.Stack.of(self).format_arn(
                    service="iam",
                    region="",
                    resource=f"role/aws-service-role/{names.SCALING_SERVICE}",
                    resource_name=names.SCALING_ROLE,
                ),
            ),
            service_namespace=autoscaling.ServiceNamespace.SAGEMAKER,
            scalable_dimension=names.SCALABLE_DIMENSION,
            resource_id=names.scalable_resource(endpoint_name),
            min_capacity=instances.minimum,
            max_capacity=instances.maximum,
        )

    def _scale_in(
        self, target: autoscaling.ScalableTarget, endpoint_name: str, instances: Instances
    ) -> None:
        scale_in = autoscaling.StepScalingAction(
            self,
            "ScaleIn",
            scaling_target=target,
            adjustment_type=autoscaling.AdjustmentType.CHANGE_IN_CAPACITY,
            cooldown=cdk.Duration.minutes(SCALE_IN_MINUTES),
        )
        scale_in.add_adjustment(adjustment=-1, upper_bound=0)
        quiet = speech_metric(endpoint_name, "ConcurrentRequestsPerModel", "Average").create_alarm(
            self,
            "ScaleInAlarm",
            alarm_description=f"{endpoint_name}: few sessions; removes an instance, alerts nobody",
            threshold=SCALE_IN_BELOW * instances.sessions_per_instance,
            comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            evaluation_periods=SCALE_IN_MINUTES,
            # Without open streams there may be no data at all.
            treat_missing_data=cloudwatch.TreatMissingData.BREACHING,
        )
        quiet.add_alarm_action(cloudwatch_actions.ApplicationScalingAction(scale_in))
