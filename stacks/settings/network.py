"""`[network]`: the VPC of the agent, and the AWS services that it can reach from there."""

import ipaddress

from pydantic import Field, field_validator

from stacks.settings.base import Model

INTERFACE_ENDPOINTS = {
    "SpeechEndpoint": "sagemaker.runtime",
    "BedrockEndpoint": "bedrock-runtime",
    "EcrEndpoint": "ecr.api",
    "EcrDockerEndpoint": "ecr.dkr",
    "LogsEndpoint": "logs",
}
"""Construct id and AWS service of each interface endpoint in the VPC. AWS bills each of them per
hour and zone."""


class Network(Model):
    """A VPC for the agent, in a separate stack.

    You may have to destroy this stack later than the others
    ([operations.md](operations.md#destroy)).
    """

    cidr: str = Field(
        "10.42.0.0/16",
        pattern=r"^\d{1,3}(\.\d{1,3}){3}/(1[6-9]|2[0-4])$",
        examples=["10.42.0.0/16"],
        description="Address range of the VPC.",
    )
    az_ids: tuple[str, ...] = Field(
        min_length=2,
        max_length=3,
        description="Ids of Availability Zones that AgentCore supports in `region`, which is "
        "required with this table. An id is not the name of a zone: euc1-az1, not eu-central-1a.",
    )

    @field_validator("cidr")
    @classmethod
    def _is_a_block(cls, cidr: str) -> str:
        ipaddress.ip_network(cidr)
        return cidr

    @field_validator("az_ids")
    @classmethod
    def _differ(cls, az_ids: tuple[str, ...]) -> tuple[str, ...]:
        if len(az_ids) != len(set(az_ids)):
            raise ValueError("each zone may occur only once")
        return az_ids
