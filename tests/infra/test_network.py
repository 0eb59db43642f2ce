"""The network: only when asked for, in zones AgentCore supports, with no way to the internet."""

import json

import pytest

from tests.infra.conftest import Assembly, Templates
from tests.infra.synthesis import Synthesis

EVERYTHING = "everything"


def test_there_is_no_network_unless_asked_for(synthesis: Synthesis) -> None:
    """Guards against endpoints that cost money every hour and nobody uses."""
    asked_for = synthesis.settings.network is not None
    assert ("Network" in synthesis.templates) == asked_for
    assert any(r.type.startswith("AWS::EC2::") for r in synthesis.resources()) == asked_for


def test_subnets_are_in_no_other_stack(synthesis: Synthesis) -> None:
    """Guards against a runtime's network interfaces, kept for hours, that block its stack."""
    owners = {resource.stack for resource in synthesis.resources("AWS::EC2::Subnet")}
    assert owners <= {"Network"}


def test_zones_are_chosen_by_id(assembly: Assembly) -> None:
    """Guards against a zone's name, which means another zone in every account."""
    synthesis = assembly(EVERYTHING)
    assert synthesis.settings.network is not None
    subnets = [resource.properties for resource in synthesis.resources("AWS::EC2::Subnet")]
    zones = [subnet["AvailabilityZoneId"] for subnet in subnets]
    assert zones == list(synthesis.settings.network.az_ids)
    assert not any("AvailabilityZone" in subnet for subnet in subnets)
    assert not any(subnet["MapPublicIpOnLaunch"] for subnet in subnets)


def test_nothing_is_looked_up_in_the_account(synthesis: Synthesis) -> None:
    """Guards against a synth that needs credentials once account and Region are known."""
    assert "missing" not in json.loads((synthesis.folder / "manifest.json").read_text())


def test_there_is_no_way_to_the_internet(template: Templates) -> None:
    """Guards against an agent that can send conversations anywhere."""
    network = template(EVERYTHING, "Network")
    for kind in ("InternetGateway", "NatGateway", "EgressOnlyInternetGateway", "Route"):
        network.resource_count_is(f"AWS::EC2::{kind}", 0)


def test_every_service_the_agent_needs_has_an_endpoint(template: Templates) -> None:
    """Guards against a call that hangs: there is no other way out."""
    endpoints = [
        endpoint["Properties"]
        for endpoint in template(EVERYTHING, "Network")
        .find_resources("AWS::EC2::VPCEndpoint")
        .values()
    ]
    names = {json.dumps(endpoint["ServiceName"]) for endpoint in endpoints}
    for service in ("sagemaker.runtime", "bedrock-runtime", "ecr.api", "ecr.dkr", "logs", "s3"):
        assert any(f".{service}" in name for name in names), service
    for endpoint in endpoints:
        if endpoint["VpcEndpointType"] == "Interface":
            assert endpoint["PrivateDnsEnabled"] is True
            assert len(endpoint["SubnetIds"]) == 2


@pytest.mark.parametrize("port", [443, 8443])
def test_streams_get_through(template: Templates, port: int) -> None:
    """Guards against 8443 closed on either side: opening a stream would hang without an error."""
    network = template(EVERYTHING, "Network")
    network.has_resource_properties("AWS::EC2::SecurityGroupIngress", {"FromPort": port})
    network.has_resource_properties("AWS::EC2::SecurityGroupEgress", {"FromPort": port})
    ingress = network.find_resources("AWS::EC2::SecurityGroupIngress").values()
    assert all("SourceSecurityGroupId" in rule["Properties"] for rule in ingress)


def test_nobody_else_reaches_the_endpoints(template: Templates) -> None:
    """Guards against a security group that is open to the VPC, or to the world."""
    for group in template(EVERYTHING, "Network").find_resources("AWS::EC2::SecurityGroup").values():
        assert "SecurityGroupIngress" not in group["Properties"]


def test_the_agent_is_in_it(assembly: Assembly) -> None:
    """Guards against a network that is paid for while the agent stays public."""
    (runtime,) = assembly(EVERYTHING).resources("AWS::BedrockAgentCore::Runtime")
    configuration = runtime.properties["NetworkConfiguration"]
    assert configuration["NetworkMode"] == "VPC"
    assert len(configuration["NetworkModeConfig"]["Subnets"]) == 2


def test_refused_traffic_is_logged(template: Templates) -> None:
    """Guards against a blocked call that leaves no trace."""
    template(EVERYTHING, "Network").has_resource_properties(
        "AWS::EC2::FlowLog", {"TrafficType": "REJECT", "LogDestinationType": "cloud-watch-logs"}
    )
