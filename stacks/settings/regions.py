"""The Regions, zones and inference profiles in which AWS offers what an environment needs."""

import difflib

AGENTCORE_REGIONS = (
    "us-east-1", "us-east-2", "us-west-1", "us-west-2", "ca-central-1", "sa-east-1",
    "eu-central-1", "eu-west-1", "eu-west-2", "eu-west-3", "eu-north-1", "eu-south-1",
    "eu-south-2", "ap-south-1", "ap-south-2", "ap-northeast-1", "ap-northeast-2",
    "ap-southeast-1", "ap-southeast-2", "ap-southeast-5", "ap-southeast-7", "us-gov-west-1",
)  # fmt: skip
"""The row "Runtime microVMs" of the table "Supported AWS Regions" in the AgentCore developer guide,
as of November 2026."""

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
"""The ids of the Availability Zones in which AgentCore can use a VPC (AgentCore developer guide,
"Configure AgentCore for VPC", supported Availability Zones)."""

PROFILE_SCOPES = ("global", "us-gov", "us", "eu", "apac", "au", "ca", "jp")
"""The prefixes of system-defined inference profiles, which precede a dot and the id of the model
(Bedrock user guide, "Supported Regions and models for inference profiles")."""


def profiled_model(model_id: str) -> str | None:
    """Return the model of a system-defined inference profile, or None for the id of a model."""
    scope, _, model = model_id.partition(".")
    return model if scope in PROFILE_SCOPES else None


def region_problem(region: str) -> str | None:
    """Return what is wrong with a Region that AWS does not have, or None if AWS has it."""
    if region in AGENTCORE_REGIONS:
        return None
    import botocore.session  # Slow to import, and most Regions are in the list above.

    session = botocore.session.Session()
    for partition in session.get_available_partitions():
        if region in session.get_available_regions("sts", partition_name=partition):
            return None
    close = difflib.get_close_matches(region, AGENTCORE_REGIONS, 1)
    suggestion = f"did you mean {close[0]}? " if close else ""
    return (
        f"{region!r}: AWS has no such Region; {suggestion}AgentCore runs in "
        f"{', '.join(AGENTCORE_REGIONS)}"
    )
