"""A VPC for the agent, without access from outside, and with access to the AWS services it uses."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs

from stacks.settings import Settings
from stacks.settings.network import INTERFACE_ENDPOINTS, Network
from stacks.stack import EnvironmentStack

HTTPS_PORT = 443
BIDIRECTIONAL_STREAM_PORT = 8443
"""The port of SageMaker's HTTP/2 streams. On port 443 the call hangs without an error."""


class NetworkStack(EnvironmentStack):
    """The VPC of an environment: isolated subnets, and endpoints for the services the agent needs.

    It is a separate stack because it rarely changes, and because AgentCore's network interfaces
    block the deletion of the subnets for up to 8 hours after the runtime is deleted (AgentCore
    developer guide, "Configure AgentCore for VPC").

    Args:
        app: The CDK app.
        settings: The environment's settings, with a `[network]` table.
    """

    def __init__(self, app: cdk.App, *, settings: Settings) -> None:
        assert settings.network is not None
        self._network: Network = settings.network
        super().__init__(
            app, "network", settings=settings, description="Voice agent: the agent's network"
        )
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            ip_addresses=ec2.IpAddresses.cidr(self._network.cidr),
            max_azs=len(self._network.az_ids),
            nat_gateways=0,
            subnet_configuration=[
                ec2.SubnetConfiguration(name="Agent", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED)
            ],
        )
        self._place_subnets()
        flow_logs = logs.LogGroup(self, "FlowLogs", retention=self.log_retention)
        self.vpc.add_flow_log(
            "FlowLog",
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(flow_logs),
            traffic_type=ec2.FlowLogTrafficType.REJECT,
        )
        self.agent_security_group = self._security_group("AgentSecurityGroup", "The agent")
        # S3 has public addresses, so any address is allowed. The subnets have routes to the
        # endpoints only.
        self.agent_security_group.add_egress_rule(
            ec2.Peer.any_ipv4(), ec2.Port.tcp(HTTPS_PORT), "AWS services"
        )
        self._endpoints()

    @property
    def availability_zones(self) -> list[str]:
        """Placeholders for the names of the zones, one for each subnet.

        If the CDK knows account and Region, it looks the names up in the account. The zones are set
        by id instead, because a name means a different zone in every account and because AgentCore
        documents the ids that it supports.
        """
        return [f"zone-{az_id}" for az_id in self._network.az_ids]

    def _place_subnets(self) -> None:
        for subnet, az_id in zip(self.vpc.isolated_subnets, self._network.az_ids, strict=True):
            resource = subnet.node.default_child
            assert isinstance(resource, ec2.CfnSubnet)
            resource.availability_zone = None
            resource.availability_zone_id = az_id

    def _security_group(self, construct_id: str, description: str) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            self, construct_id, vpc=self.vpc, description=description, allow_all_outbound=False
        )

    def _endpoints(self) -> None:
        group = self._security_group("EndpointSecurityGroup", "The AWS services the agent uses")
        # By default an interface endpoint admits port 443 only.
        for port in (HTTPS_PORT, BIDIRECTIONAL_STREAM_PORT):
            self.agent_security_group.connections.allow_to(group, ec2.Port.tcp(port))
        for name, service in INTERFACE_ENDPOINTS.items():
            self.vpc.add_interface_endpoint(
                name,
                service=ec2.InterfaceVpcEndpointAwsService(service),
                security_groups=[group],
                open=False,
            )
        # Image layers come from S3.
        self.vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
