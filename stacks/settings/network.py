"""`[network]`: the agent's VPC, and the AWS services it reaches from there."""

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
"""Construct id and AWS service of each interface endpoint in the VPC; each is billed by the
hour and zone."""


class Network(Model):
    """A VPC of the environment's own, in a stack that outlives the others."""

    cidr: str = Field(
        "10.42.0.0/16",
        pattern=r"^\d{1,3}(\.\d{1,3}){3}/(1[6-9]|2[0-4])$",
        description="address range of the VPC",
    )
    az_ids: tuple[str, ...] = Field(
        min_length=2, max_length=3, description="Availability Zone ids that AgentCore supports"
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
            raise ValueError("every zone may occur once")
        return az_ids
