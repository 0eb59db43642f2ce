"""What hurts teams on this platform, by number: what a template can hold is tested here, on every
environment's; the rest where it lives, listed at the end."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.infra.conftest import Assembly
from tests.infra.synthesis import ROOT, Resource, Synthesis

BIDIRECTIONAL_STREAM_PORT = 8443


def one(synthesis: Synthesis, kind: str) -> Resource:
    (resource,) = synthesis.resources(kind)
    return resource


def texts(value: Any) -> Iterator[str]:
    """Every string in a template, wherever it is."""
    if isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def test_trap_01_models_and_configurations_have_no_names(synthesis: Synthesis) -> None:
    """Named, the new one collides with the old one, which is deleted only after the update."""
    assert "ModelName" not in one(synthesis, "AWS::SageMaker::Model").properties
    assert "EndpointConfigName" not in one(synthesis, "AWS::SageMaker::EndpointConfig").properties


def test_trap_02_a_new_image_is_a_new_template(synthesis: Synthesis) -> None:
    """The same tag for another image rolls nothing out. The address holds the source's hash, or a
    digest, where the image is used: the command line skips a stack whose template is unchanged."""
    for stack, template in synthesis.templates.items():
        assert not [text for text in texts(template) if re.search(r":latest\b", text)], stack
    model = one(synthesis, "AWS::SageMaker::Model").properties
    runtime = one(synthesis, "AWS::BedrockAgentCore::Runtime").properties
    for image in (
        model["PrimaryContainer"]["Image"],
        runtime["AgentRuntimeArtifact"]["ContainerConfiguration"]["ContainerUri"],
    ):
        address = json.dumps(image)
        assert re.search(r"[0-9a-f]{16}", address), address


def test_trap_03_a_deploy_keeps_the_instances_scaling_added(synthesis: Synthesis) -> None:
    """Otherwise each deploy at the busiest hour goes back to the first count."""
    assert one(synthesis, "AWS::SageMaker::Endpoint").properties["RetainAllVariantProperties"]


def test_trap_04_scaling_goes_before_the_endpoint(synthesis: Synthesis) -> None:
    """Still registered, it blocks the deletion of what it scales."""
    endpoint = one(synthesis, "AWS::SageMaker::Endpoint")
    target = one(synthesis, "AWS::ApplicationAutoScaling::ScalableTarget")
    assert endpoint.name in target.whole["DependsOn"]


def test_trap_05_scaling_follows_a_metric_that_is_emitted(synthesis: Synthesis) -> None:
    """Invocations a minute count a conversation once, however long it is."""
    metrics = {
        policy.properties["TargetTrackingScalingPolicyConfiguration"][
            "PredefinedMetricSpecification"
        ]["PredefinedMetricType"]
        for policy in synthesis.resources("AWS::ApplicationAutoScaling::ScalingPolicy")
        if policy.properties["PolicyType"] == "TargetTrackingScaling"
    }
    assert metrics == {"SageMakerVariantConcurrentRequestsPerModelHighResolution"}


def test_trap_06_nothing_scales_to_zero(synthesis: Synthesis) -> None:
    """Only inference components can; a bidirectional endpoint stays at an error."""
    target = one(synthesis, "AWS::ApplicationAutoScaling::ScalableTarget").properties
    bounds = [
        target,
        *(action["ScalableTargetAction"] for action in target.get("ScheduledActions", [])),
    ]
    assert all(bound["MinCapacity"] >= 1 for bound in bounds)


def test_trap_07_a_rollout_is_taken_back_by_alarms_that_exist(synthesis: Synthesis) -> None:
    """A rollback leaves the endpoint in service, on the old configuration (see `ops smoke`)."""
    deployment = one(synthesis, "AWS::SageMaker::Endpoint").properties["DeploymentConfig"]
    alarms = {alarm.name for alarm in synthesis.resources("AWS::CloudWatch::Alarm")}
    named = {
        alarm["AlarmName"]["Ref"] for alarm in deployment["AutoRollbackConfiguration"]["Alarms"]
    }
    assert len(named) == 3
    assert named <= alarms


def test_trap_08_a_container_that_does_not_start_is_given_up(synthesis: Synthesis) -> None:
    """Beyond what SageMaker accepts, or without a limit, the deploy hangs for hours."""
    config = one(synthesis, "AWS::SageMaker::EndpointConfig").properties
    (variant,) = config["ProductionVariants"]
    assert 60 <= variant["ContainerStartupHealthCheckTimeoutInSeconds"] <= 3600


def test_trap_09_only_the_network_has_subnets(synthesis: Synthesis) -> None:
    """AgentCore's interfaces stay for hours and block the deletion of the stack that has them."""
    for resource in synthesis.resources():
        if resource.stack != "Network":
            assert not resource.type.startswith("AWS::EC2::"), resource.name


def test_trap_10_subnets_are_in_zones_by_id(assembly: Assembly) -> None:
    """Zone names mean other zones in every account; AgentCore supports some zones only."""
    subnets = assembly("everything").resources("AWS::EC2::Subnet")
    zones = [subnet.properties["AvailabilityZoneId"] for subnet in subnets]
    assert zones == ["euc1-az1", "euc1-az2"]
    assert all("AvailabilityZone" not in subnet.properties for subnet in subnets)


def test_trap_11_the_way_to_sagemaker_is_open(assembly: Assembly) -> None:
    """An interface endpoint admits 443 only, and a stream on 8443 hangs without an error."""
    synthesis = assembly("everything")
    ports = {
        (resource.type.rpartition("SecurityGroup")[2], resource.properties["FromPort"])
        for kind in ("Ingress", "Egress")
        for resource in synthesis.resources(f"AWS::EC2::SecurityGroup{kind}")
    }
    assert ("Ingress", BIDIRECTIONAL_STREAM_PORT) in ports
    assert ("Egress", BIDIRECTIONAL_STREAM_PORT) in ports
    services = json.dumps(
        [
            endpoint.properties["ServiceName"]
            for endpoint in synthesis.resources("AWS::EC2::VPCEndpoint")
        ]
    )
    assert "sagemaker.runtime" in services


def test_trap_12_the_agents_image_is_arm64(built: Synthesis) -> None:
    """An x86 image deploys and dies with `exec format error` at the first call."""
    agent, speech = agent_and_speech_builds(built)
    assert "--platform linux/arm64 " in agent.properties["buildCommand"]
    assert "--platform linux/amd64 " in speech.properties["buildCommand"]
    projects = {
        project.name: project.properties["Environment"]["Type"]
        for project in built.resources("AWS::CodeBuild::Project")
    }
    assert projects[agent.properties["codeBuildProjectName"]["Ref"]] == "ARM_CONTAINER"
    assert projects[speech.properties["codeBuildProjectName"]["Ref"]] == "LINUX_CONTAINER"


def test_trap_12_also_when_docker_builds_it(assembly: Assembly) -> None:
    assets = [
        image["source"]
        for file in assembly("images").folder.glob("*.assets.json")
        for image in json.loads(file.read_text()).get("dockerImages", {}).values()
    ]
    assert [asset["platform"] for asset in assets] == ["linux/arm64"]


def test_trap_13_the_agents_endpoint_follows_its_runtime(synthesis: Synthesis) -> None:
    """Pinned, it serves the first deploy for ever; the construct is documented to do so."""
    runtime = one(synthesis, "AWS::BedrockAgentCore::Runtime")
    endpoint = one(synthesis, "AWS::BedrockAgentCore::RuntimeEndpoint")
    assert endpoint.properties["AgentRuntimeVersion"] == {
        "Fn::GetAtt": [runtime.name, "AgentRuntimeVersion"]
    }


def test_trap_16_images_are_built_without_attestations(built: Synthesis) -> None:
    """With one, the tag is an index, which neither SageMaker nor AgentCore can pull."""
    for build in agent_and_speech_builds(built):
        assert "--provenance=false" in build.properties["buildCommand"]


def test_trap_17_images_go_with_their_environment(synthesis: Synthesis) -> None:
    """A repository with images in it cannot be deleted; without a rule it grows for ever."""
    for repository in synthesis.resources("AWS::ECR::Repository"):
        stable = synthesis.settings.is_stable
        assert repository.properties.get("EmptyOnDelete", False) is not stable
        assert repository.whole["DeletionPolicy"] == ("Retain" if stable else "Delete")
        assert "countNumber" in repository.properties["LifecyclePolicy"]["LifecyclePolicyText"]


def test_trap_18_stacks_do_not_lock_each_other(synthesis: Synthesis) -> None:
    """An exported value cannot change while another stack imports it."""
    used = False
    for stack, template in synthesis.templates.items():
        text = json.dumps(template)
        assert "Fn::ImportValue" not in text, stack
        for output in template.get("Outputs", {}).values():
            assert "Export" not in output, stack
        used = used or "Fn::GetStackOutput" in text
    assert used, "nothing crosses stacks: the test reads nothing"


def test_trap_18_what_is_referred_to_is_put_out(synthesis: Synthesis) -> None:
    """A weak reference to an output that is not there fails in the middle of the deploy."""
    outputs = {
        f"voice-{synthesis.settings.name}-{stack.lower()}": set(template.get("Outputs", {}))
        for stack, template in synthesis.templates.items()
    }
    for stack, template in synthesis.templates.items():
        for reference in references(template):
            assert reference["OutputName"] in outputs[reference["StackName"]], stack


def test_trap_19_nothing_is_in_the_way_of_the_next_deploy(synthesis: Synthesis) -> None:
    """A key's alias or a log group that survived `destroy` stops it with "already exists"."""
    assert synthesis.resources("AWS::KMS::Alias") == []
    for resource in synthesis.resources():
        policy = resource.whole.get("DeletionPolicy", "Delete")
        if not synthesis.settings.is_stable:
            assert policy == "Delete", (resource.name, policy)
        elif resource.type == "AWS::Logs::LogGroup":
            assert policy == "RetainExceptOnCreate", resource.name


def test_trap_21_the_alarms_know_the_endpoint_by_name(synthesis: Synthesis) -> None:
    """The endpoint refers to its alarms; if they referred to it, neither could be made first."""
    endpoint = one(synthesis, "AWS::SageMaker::Endpoint")
    assert endpoint.properties["EndpointName"] == synthesis.settings.endpoint_name
    for alarm in synthesis.resources("AWS::CloudWatch::Alarm"):
        assert endpoint.name not in json.dumps(alarm.properties["Dimensions"])


def agent_and_speech_builds(synthesis: Synthesis) -> tuple[Resource, Resource]:
    builds = synthesis.resources("Custom::CDKContainerImageBuild")
    agent, speech = sorted(builds, key=lambda build: build.name)
    assert agent.name.startswith("Agent")
    assert speech.name.startswith("Speech")
    return agent, speech


def references(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if "Fn::GetStackOutput" in value:
            yield value["Fn::GetStackOutput"]
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


OF_SETTINGS = "tests/unit/stacks/settings/test_environment.py"
ELSEWHERE = {
    6: f"{OF_SETTINGS}::test_a_mistake_is_named_with_what_is_accepted",
    7: "tests/unit/ops/test_smoke.py::test_an_endpoint_on_its_old_configuration_is_a_problem",
    8: "tests/images/test_container_image.py::test_it_answers_ping_and_speaks",
    10: f"{OF_SETTINGS}::test_a_mistake_is_named_with_what_is_accepted",
    14: "tests/unit/ops/test_orphans.py::test_deleting_takes_what_is_its_own_and_nothing_else",
    15: "tests/infra/test_app.py::test_a_second_synthesis_is_the_same",
    16: "tests/infra/test_workflows.py::test_images_are_built_without_attestations",
    20: "tests/infra/test_app.py::test_accounts_are_not_looked_into",
    22: "tests/unit/ops/test_quotas.py::test_codebuild_without_builds_is_a_problem",
}
"""What no template can hold: settings, commands, images, workflows, the synthesis itself."""

TRAPS = 22


@pytest.mark.parametrize("number", range(1, TRAPS + 1))
def test_every_trap_has_its_test(number: int) -> None:
    """A test that was renamed or removed leaves its trap open."""
    here = any(name.startswith(f"test_trap_{number:02}_") for name in globals())
    if number in ELSEWHERE:
        file, _, name = ELSEWHERE[number].partition("::")
        assert f"def {name}(" in (ROOT / file).read_text()
    else:
        assert here
