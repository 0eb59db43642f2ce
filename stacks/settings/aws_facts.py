"""What AWS accepts, as far as settings depend on it; each with its source."""

CUDA_MAJOR_BY_AMI = {
    "al2023-ami-sagemaker-inference-gpu-4-1": 13,
    "al2-ami-sagemaker-inference-gpu-3-1": 12,
}
"""CUDA major of each inference AMI (SageMaker API reference, ProductionVariant,
InferenceAmiVersion). The image's must be the same: newer does not start on it, older hangs or dies
without a log (aws/deep-learning-containers#6187)."""

GPU_FAMILIES = ("g4dn", "g5", "g6", "g6e", "p4d", "p5")
"""Instance families with an NVIDIA GPU, x86-64."""
CPU_FAMILIES = ("c5", "c6i", "c7i", "m5", "m6i", "m7i", "r6i", "r7i")
"""Instance families without one, x86-64."""

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

SESSION_LIMIT_S = 1800
"""A bidirectional stream lasts 30 minutes at most; old instances must outlive it in a rollout."""

PROFILE_SCOPES = ("global", "us-gov", "us", "eu", "apac", "au", "ca", "jp")
"""How the id of a system-defined inference profile begins, before a dot and the model's own id
(Bedrock user guide, "Supported Regions and models for inference profiles")."""
