"""Where AWS offers what an environment needs: Regions, zones and profiles of models."""

AGENTCORE_REGIONS = (
    "us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "sa-east-1",
    "eu-central-1", "eu-west-1", "eu-west-2", "eu-west-3", "eu-north-1", "eu-south-1",
    "eu-south-2", "ap-south-1", "ap-south-2", "ap-northeast-1", "ap-northeast-2",
    "ap-southeast-1", "ap-southeast-2", "ap-southeast-5", "ap-southeast-7", "us-gov-west-1",
)  # fmt: skip
"""Row "Runtime microVMs" of the AgentCore developer guide's table "Supported AWS Regions" in
November 2026."""

AGENTCORE_AZ_IDS = {
    "us-east-1": ("use1-az1", "use1-az2", "use1-az4"),
    "us-east-2": ("use2-az1", "use2-az2", "use2-az3"),
    "us-west-2": ("usw2-az1", "usw2-az2", "usw2-az3"),
    "ap-southeast-2": ("apse2-az1", "apse2-az2", "apse2-az3"),
    "ap-south-1": ("aps1-az1", "aps1-az2", "aps1-az3"),
    "ap-southeast-1": ("apse1-az1", "apse1-az2", "apse1-az3"),
    "ap-northeast-1": ("apne1-az1", "apne1-az2", "apne1-az4"),
    "eu-central-1": ("euc1-az1", "euc1-az2", "euc1-az3"),
    "eu-west-1": ("euw1-az1", "euw1-az2", "euw1-az3"),
}
"""Availability Zone ids in which AgentCore attaches to a VPC (AgentCore developer guide, "Configure
AgentCore for VPC", supported Availability Zones)."""

PROFILE_SCOPES = ("global", "us-gov", "us", "eu", "apac", "au", "ca", "jp")
"""How the id of a system-defined inference profile begins, before a dot and the model's own id
(Bedrock user guide, "Supported Regions and models for inference profiles")."""


def profiled_model(model_id: str) -> str | None:
    """The model behind a system-defined inference profile; None for a model's own id."""
    scope, _, model = model_id.partition(".")
    return model if scope in PROFILE_SCOPES else None
