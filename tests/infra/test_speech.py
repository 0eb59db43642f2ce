"""The speech endpoint: what is named, how it rolls out, scales, alarms, and what it may do."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from kokoro_server.metrics import metric_line
from kokoro_server.settings import Settings as ContainerSettings
from stacks.images import ImagesStack
from stacks.names import CONTAINER_METRICS
from stacks.observability import ObservabilityStack
from stacks.settings import load
from stacks.settings.alarms import SCALING_ALARMS, SPEECH_ALARMS
from stacks.settings.speech import SESSION_LIMIT_S
from stacks.speech import SpeechStack
from tests.infra.conftest import Assembly
from tests.infra.synthesis import OTHERS, Synthesis, context
from tests.utterances import new_utterance

MODEL = "AWS::SageMaker::Model"
CONFIG = "AWS::SageMaker::EndpointConfig"
ENDPOINT = "AWS::SageMaker::Endpoint"
ALARM = "AWS::CloudWatch::Alarm"
TARGET = "AWS::ApplicationAutoScaling::ScalableTarget"
POLICY = "AWS::ApplicationAutoScaling::ScalingPolicy"


def one(synthesis: Synthesis, kind: str) -> dict[str, Any]:
    """The whole of the only resource of a type."""
    (resource,) = synthesis.resources(kind)
    return resource.whole


def variant(synthesis: Synthesis) -> dict[str, Any]:
    (found,) = one(synthesis, CONFIG)["Properties"]["ProductionVariants"]
    properties: dict[str, Any] = found
    return properties


def alarms(synthesis: Synthesis) -> dict[str, dict[str, Any]]:
    """The endpoint's alarms by logical id."""
    return {
        resource.name: resource.properties
        for resource in synthesis.resources(ALARM)
        if resource.stack == "Speech"
    }


def rollback_alarms(synthesis: Synthesis) -> dict[str, dict[str, Any]]:
    """Those that take a rollout back, by metric."""
    rollout = one(synthesis, ENDPOINT)["Properties"]["DeploymentConfig"]
    names = [alarm["AlarmName"]["Ref"] for alarm in rollout["AutoRollbackConfiguration"]["Alarms"]]
    return {alarms(synthesis)[name]["MetricName"]: alarms(synthesis)[name] for name in names}


def update_policy(synthesis: Synthesis) -> dict[str, Any]:
    rollout = one(synthesis, ENDPOINT)["Properties"]["DeploymentConfig"]
    policy: dict[str, Any] = rollout["BlueGreenUpdatePolicy"]
    return policy


def statements(synthesis: Synthesis, stack: str) -> list[dict[str, Any]]:
    return [
        statement
        for resource in synthesis.resources("AWS::IAM::Policy")
        if resource.stack == stack
        for statement in resource.properties["PolicyDocument"]["Statement"]
    ]


def test_only_the_endpoint_has_a_name(synthesis: Synthesis) -> None:
    """Guards against a named model or configuration, which cannot be replaced by its successor."""
    assert "ModelName" not in one(synthesis, MODEL)["Properties"]
    assert "EndpointConfigName" not in one(synthesis, CONFIG)["Properties"]
    endpoint = one(synthesis, ENDPOINT)["Properties"]
    assert endpoint["EndpointName"] == synthesis.settings.endpoint_name


def test_the_container_takes_its_environment(synthesis: Synthesis) -> None:
    """Guards against a variable that the server refuses at the start: stuck in Creating."""
    environment = one(synthesis, MODEL)["Properties"]["PrimaryContainer"]["Environment"]
    settings = ContainerSettings.from_environment(environment, Path("/opt/model"))
    speech = synthesis.settings.speech
    assert settings.execution_provider == ("cuda" if speech.variant == "gpu" else "cpu")
    # Above the target of scaling, or it would never be reached.
    assert settings.max_sessions > speech.instances.sessions_per_instance
    # Said, so that the image's own default cannot change what an environment was deployed with.
    assert environment["KOKORO_GRANULARITY"] == speech.granularity
    for variable, found, wanted in (
        ("KOKORO_DEFAULT_VOICE", settings.default_voice, speech.default_voice),
        ("KOKORO_IDLE_TIMEOUT_S", settings.idle_timeout_s, speech.session_idle_s),
    ):
        # Not rendered, a setting keeps the image's default.
        assert (variable in environment) == (wanted is not None)
        assert wanted in (None, found)


def test_the_model_waits_for_its_roles_policy(synthesis: Synthesis) -> None:
    """Guards against a first pull that is refused because the policy came a second later."""
    model = one(synthesis, MODEL)
    assert model["Properties"]["EnableNetworkIsolation"] is True
    role = model["Properties"]["ExecutionRoleArn"]["Fn::GetAtt"][0]
    policies = [
        resource.name
        for resource in synthesis.resources("AWS::IAM::Policy")
        if {"Ref": role} in resource.properties["Roles"]
    ]
    assert policies
    assert set(policies) <= set(model["DependsOn"])


def test_the_hosts_fit_the_image(synthesis: Synthesis) -> None:
    """Guards against the default AMI, whose driver a CUDA 13 image does not start on."""
    speech = synthesis.settings.speech
    assert variant(synthesis).get("InferenceAmiVersion") == speech.inference_ami
    assert (speech.variant == "gpu") == ("InferenceAmiVersion" in variant(synthesis))
    assert variant(synthesis)["InstanceType"] == speech.instance_type


def test_instance_storage_is_left_alone(synthesis: Synthesis) -> None:
    """Guards against a key or volume size, with which ml.g5 cannot be created."""
    assert "KmsKeyId" not in one(synthesis, CONFIG)["Properties"]
    assert "VolumeSizeInGB" not in variant(synthesis)


def test_sessions_go_to_the_least_busy_instance(synthesis: Synthesis) -> None:
    """Guards against long sessions piled up on one instance by chance."""
    assert variant(synthesis)["RoutingConfig"] == {"RoutingStrategy": "LEAST_OUTSTANDING_REQUESTS"}


def test_a_container_that_does_not_start_is_given_up(synthesis: Synthesis) -> None:
    """Guards against an endpoint that stays in Creating for hours."""
    timeout_s = variant(synthesis)["ContainerStartupHealthCheckTimeoutInSeconds"]
    assert 60 <= timeout_s <= 3600  # CreateEndpointConfig: valid range
    assert timeout_s == synthesis.settings.speech.startup_timeout_s


def test_a_deploy_keeps_the_instances_that_scaling_added(synthesis: Synthesis) -> None:
    """Guards against eight instances that become two in the busiest hour."""
    assert one(synthesis, ENDPOINT)["Properties"]["RetainAllVariantProperties"] is True


def test_a_rollout_outlasts_its_waits(synthesis: Synthesis) -> None:
    """Guards against a time-out in the middle of a shift, and waits SageMaker does not accept."""
    policy = update_policy(synthesis)
    bake_s = policy["TrafficRoutingConfiguration"]["WaitIntervalInSeconds"]
    wait_s = policy["TerminationWaitInSeconds"]
    assert 0 <= bake_s <= 3600
    assert wait_s == synthesis.settings.speech.termination_wait_s
    start_s = variant(synthesis)["ContainerStartupHealthCheckTimeoutInSeconds"]
    assert 2 * bake_s + wait_s + start_s < policy["MaximumExecutionTimeoutInSeconds"] <= 28_800


def test_conversations_outlive_a_rollout(assembly: Assembly) -> None:
    """Guards against sessions of up to 30 minutes that are cut by a deploy, unless a team sets
    `termination_wait_s` to less.
    """
    assert update_policy(assembly("plain"))["TerminationWaitInSeconds"] >= SESSION_LIMIT_S


def test_a_canary_needs_two_instances(synthesis: Synthesis) -> None:
    """Guards against a canary of more than half the fleet, which SageMaker refuses."""
    routing = update_policy(synthesis)["TrafficRoutingConfiguration"]
    speech = synthesis.settings.speech
    minima = [speech.instances.minimum, *(action.minimum for action in speech.schedule)]
    if min(minima) >= 2:
        assert routing["Type"] == "CANARY"
        assert routing["CanarySize"] == {"Type": "INSTANCE_COUNT", "Value": 1}
    else:
        assert routing["Type"] == "ALL_AT_ONCE"
        assert "CanarySize" not in routing


def test_alarms_take_a_rollout_back(synthesis: Synthesis) -> None:
    """Guards against a bad image that stays, and alarms about another endpoint or metric."""
    found = rollback_alarms(synthesis)
    assert set(found) == {"FirstAudio", "Errors", "MidStreamErrors"}
    limits = synthesis.settings.alarms
    assert found["FirstAudio"]["ExtendedStatistic"] == "p95"
    assert found["FirstAudio"]["Threshold"] == limits.first_audio_p95_ms
    assert found["Errors"]["Threshold"] == limits.errors_per_minute
    for alarm in found.values():
        # A new endpoint, or a quiet night, has no data and is well.
        assert alarm["TreatMissingData"] == "notBreaching"
        (name,) = [
            dimension["Value"]
            for dimension in alarm["Dimensions"]
            if dimension["Name"] in ("Endpoint", "EndpointName")
        ]
        assert name == synthesis.settings.endpoint_name


def test_alarms_and_container_mean_the_same_metrics(synthesis: Synthesis) -> None:
    """Guards against an alarm on a name, unit or dimension that the container does not write."""
    environment = one(synthesis, MODEL)["Properties"]["PrimaryContainer"]["Environment"]
    utterance = new_utterance()
    utterance.begin(0.0)
    utterance.add_audio(1.0, 0.1)
    utterance.complete()
    line = json.loads(
        metric_line(
            utterance,
            environment["KOKORO_METRICS_NAMESPACE"],
            environment["KOKORO_ENDPOINT_NAME"],
            0.0,
        )
    )
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    written = {metric["Name"] for metric in directive["Metrics"]}
    assert written == set(CONTAINER_METRICS)  # each has its price in `ops cost`
    (dimensions,) = directive["Dimensions"]
    own = [
        alarm
        for alarm in rollback_alarms(synthesis).values()
        if alarm["Namespace"] != "AWS/SageMaker"
    ]
    assert len(own) == 2
    for alarm in own:
        assert alarm["Namespace"] == directive["Namespace"]
        assert alarm["MetricName"] in written
        assert alarm["Dimensions"] == [{"Name": name, "Value": line[name]} for name in dimensions]


def test_alarms_tell_somebody(synthesis: Synthesis) -> None:
    """Guards against alarms in an empty room, and pages for scaling in."""
    for alarm in rollback_alarms(synthesis).values():
        assert len(alarm["AlarmActions"]) == len(alarm["OKActions"]) == 1
        assert "Topic" in json.dumps(alarm["AlarmActions"])
    others = [alarm for alarm in alarms(synthesis).values() if "OKActions" not in alarm]
    assert [alarm["MetricName"] for alarm in others] == ["ConcurrentRequestsPerModel"]


def test_operations_know_the_alarms_there_are(synthesis: Synthesis) -> None:
    """Guards against an alarm that `ops cost` does not count, and a quiet one that `ops preflight`
    takes for one which ends a rollout."""
    assert set(rollback_alarms(synthesis)) == {alarm.metric for alarm in SPEECH_ALARMS}
    # Application Auto Scaling makes the alarm that adds instances itself.
    assert len(synthesis.resources(ALARM)) == len(SPEECH_ALARMS) + SCALING_ALARMS - 1


def test_scaling_goes_before_the_endpoint(synthesis: Synthesis) -> None:
    """Guards against a registered target, which blocks the endpoint's deletion."""
    target = one(synthesis, TARGET)
    (endpoint,) = synthesis.resources(ENDPOINT)
    assert endpoint.name in target["DependsOn"]
    assert target["Properties"]["MinCapacity"] >= 1
    name = synthesis.settings.endpoint_name
    assert target["Properties"]["ResourceId"] == (
        f"endpoint/{name}/variant/{variant(synthesis)['VariantName']}"
    )


def test_instances_are_added_by_target_and_taken_away_by_step(synthesis: Synthesis) -> None:
    """Guards against a metric nobody emits, and target tracking that ends conversations."""
    policies = {
        resource.properties["PolicyType"]: resource for resource in synthesis.resources(POLICY)
    }
    assert set(policies) == {"TargetTrackingScaling", "StepScaling"}
    tracking = policies["TargetTrackingScaling"].properties[
        "TargetTrackingScalingPolicyConfiguration"
    ]
    assert tracking["DisableScaleIn"] is True
    assert tracking["PredefinedMetricSpecification"] == {
        "PredefinedMetricType": "SageMakerVariantConcurrentRequestsPerModelHighResolution"
    }
    target = synthesis.settings.speech.instances.sessions_per_instance
    assert tracking["TargetValue"] == target
    step = policies["StepScaling"]
    (adjustment,) = step.properties["StepScalingPolicyConfiguration"]["StepAdjustments"]
    assert adjustment["ScalingAdjustment"] == -1
    (quiet,) = [
        alarm
        for alarm in alarms(synthesis).values()
        if alarm["AlarmActions"] == [{"Ref": step.name}]
    ]
    # When one of two goes, the other takes over its sessions and must stay below the target.
    assert 2 * quiet["Threshold"] < target


def test_scheduled_bounds_are_those_of_the_settings(synthesis: Synthesis) -> None:
    """Guards against an evening that is never reduced, or in another time zone."""
    scheduled = one(synthesis, TARGET)["Properties"].get("ScheduledActions", [])
    assert [
        (action["Schedule"], action["Timezone"], action["ScalableTargetAction"])
        for action in scheduled
    ] == [
        (
            action.cron,
            action.time_zone,
            {"MinCapacity": action.minimum, "MaxCapacity": action.maximum},
        )
        for action in synthesis.settings.speech.schedule
    ]


def test_logs_end_with_the_environment(synthesis: Synthesis) -> None:
    """Guards against logs that are lost with a stable environment, or outlive an ephemeral one."""
    name = f"/aws/sagemaker/Endpoints/{synthesis.settings.endpoint_name}"
    (group,) = [
        resource
        for resource in synthesis.resources("AWS::Logs::LogGroup")
        if resource.properties.get("LogGroupName") == name
    ]
    assert group.properties["RetentionInDays"] > 0
    expected = "RetainExceptOnCreate" if synthesis.settings.is_stable else "Delete"
    assert group.whole["DeletionPolicy"] == expected
    # Else SageMaker is first, and CloudFormation finds that it exists.
    assert group.name in one(synthesis, ENDPOINT)["DependsOn"]


def test_the_role_may_pull_log_and_count(synthesis: Synthesis) -> None:
    """Guards against a container that can do more than SageMaker needs in its name."""
    allowed: set[str] = set()
    for statement in statements(synthesis, "Speech"):
        actions = statement["Action"]
        allowed |= {actions} if isinstance(actions, str) else set(actions)
        if statement["Resource"] == "*":
            assert actions in ("ecr:GetAuthorizationToken", "cloudwatch:PutMetricData")
    assert allowed == {
        "cloudwatch:PutMetricData",
        "ecr:BatchCheckLayerAvailability",
        "ecr:BatchGetImage",
        "ecr:GetAuthorizationToken",
        "ecr:GetDownloadUrlForLayer",
        "logs:CreateLogGroup",
        "logs:CreateLogStream",
        "logs:DescribeLogStreams",
        "logs:PutLogEvents",
    }


def test_scaling_makes_no_role(synthesis: Synthesis) -> None:
    """Guards against a role that nothing uses; the service-linked one does the work."""
    trusted = json.dumps([role.properties for role in synthesis.resources("AWS::IAM::Role")])
    assert "application-autoscaling" not in trusted


def test_whoever_is_granted_may_use_every_route(synthesis: Synthesis) -> None:
    """Guards against a stream that is refused although requests are allowed."""
    (speak,) = [
        statement
        for statement in statements(synthesis, "Agent")
        if "sagemaker:InvokeEndpointWithBidirectionalStream" in statement["Action"]
    ]
    assert sorted(speak["Action"]) == [
        "sagemaker:InvokeEndpoint",
        "sagemaker:InvokeEndpointWithBidirectionalStream",
        "sagemaker:InvokeEndpointWithResponseStream",
    ]
    assert f":endpoint/{synthesis.settings.endpoint_name}" in json.dumps(speak["Resource"])


@pytest.mark.parametrize("name", ["Images", "Speech"])
def test_only_stable_environments_are_protected(synthesis: Synthesis, name: str) -> None:
    """Guards against a stable environment deleted by mistake, and one that cannot be deleted."""
    manifest = json.loads((synthesis.folder / "manifest.json").read_text())
    stack = manifest["artifacts"][f"{synthesis.settings.name}-{name}"]["properties"]
    assert bool(stack.get("terminationProtection")) == synthesis.settings.is_stable


def test_other_thresholds_touch_alarms_only() -> None:
    """Guards against a ringing alarm that cannot be quietened without the rollout it takes back."""
    settings = load("plain", OTHERS)
    limits = settings.alarms.model_copy(
        update={"first_audio_p95_ms": 60_000, "errors_per_minute": 10_000}
    )
    resources = []
    for each in (settings, settings.model_copy(update={"alarms": limits})):
        app = cdk.App(analytics_reporting=False, context=context())
        image = ImagesStack(app, settings=each).speech
        topic = ObservabilityStack(app, settings=each).alarm_topic
        stack = SpeechStack(app, settings=each, image=image, alarm_topic=topic)
        resources.append(Template.from_stack(stack).to_json()["Resources"])
    before, after = resources
    changed = [before[name]["Type"] for name in before if before[name] != after[name]]
    assert changed == [ALARM] * 3
    assert before.keys() == after.keys()
