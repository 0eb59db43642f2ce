"""Names that the stacks, the `ops` commands and the images share."""

STACKS = ("images", "network", "observability", "speech", "agent")
"""The stacks of an environment, in the order of their deployment."""

BOOTSTRAP_QUALIFIER = "hnb659fds"
"""The default qualifier in the names of the resources that `cdk bootstrap` creates."""

PRODUCTION_VARIANT = "AllTraffic"
"""The only production variant of the speech endpoint: a dimension of SageMaker's metrics."""
SCALABLE_DIMENSION = "sagemaker:variant:DesiredInstanceCount"
SCALING_ROLE = "AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint"
SCALING_SERVICE = "sagemaker.application-autoscaling.amazonaws.com"
"""The service that owns the service-linked role `SCALING_ROLE`."""

QUALIFIER = "live"
"""The endpoint of the AgentCore runtime that callers use."""
RUNTIME_LOGS = "/aws/bedrock-agentcore/runtimes/"
"""The prefix of AgentCore's log groups; the id of a runtime and a qualifier follow."""

METRIC_NAMESPACE = "VoiceAgent"
"""The namespace of the speech container's metrics, which have the dimension `Endpoint`."""
CONTAINER_METRICS = ("FirstAudio", "Requests", "Errors", "RealTimeFactor")


def stack_id(environment: str, stack: str) -> str:
    """Return the construct id of one of the `STACKS`, for the command line of the CDK."""
    return f"{environment}-{stack.capitalize()}"


def stack_name(environment: str, stack: str) -> str:
    """Return the CloudFormation name of one of the `STACKS`."""
    return f"voice-{environment}-{stack}"


def endpoint_name(environment: str) -> str:
    """Return the name of an environment's SageMaker endpoint."""
    return f"kokoro-{environment}"


def runtime_name(environment: str) -> str:
    """Return the name of an environment's AgentCore runtime. Runtime names cannot have hyphens."""
    return f"voice_agent_{environment.replace('-', '_')}"


def endpoint_log_group(endpoint: str) -> str:
    """Return the log group to which SageMaker writes the output of an endpoint's containers."""
    return f"/aws/sagemaker/Endpoints/{endpoint}"


def scalable_resource(endpoint: str) -> str:
    """Return the id of an endpoint's production variant in Application Auto Scaling."""
    return f"endpoint/{endpoint}/variant/{PRODUCTION_VARIANT}"
