"""Names that the stacks, the operations commands and the images agree on."""

STACKS = ("images", "network", "observability", "speech", "agent")
"""The stacks of an environment, in the order in which they are deployed."""

BOOTSTRAP_QUALIFIER = "hnb659fds"
"""The default qualifier in the names of what `cdk bootstrap` creates."""

PRODUCTION_VARIANT = "AllTraffic"
"""The speech endpoint's one production variant: a dimension of SageMaker's metrics."""
SCALABLE_DIMENSION = "sagemaker:variant:DesiredInstanceCount"
SCALING_ROLE = "AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint"
SCALING_SERVICE = "sagemaker.application-autoscaling.amazonaws.com"
"""The service whose service-linked role `SCALING_ROLE` is."""

QUALIFIER = "live"
"""The AgentCore runtime's endpoint that callers use."""
RUNTIME_LOGS = "/aws/bedrock-agentcore/runtimes/"
"""How the names of AgentCore's log groups begin, before a runtime's id and a qualifier."""

METRIC_NAMESPACE = "VoiceAgent"
"""The namespace of the metrics that the speech container writes, with the dimension `Endpoint`."""
CONTAINER_METRICS = ("FirstAudio", "Requests", "Errors", "RealTimeFactor")


def stack_id(environment: str, stack: str) -> str:
    """The construct id of one of the `STACKS`, which the CDK's command line takes."""
    return f"{environment}-{stack.capitalize()}"


def stack_name(environment: str, stack: str) -> str:
    """The CloudFormation name of one of the `STACKS`."""
    return f"voice-{environment}-{stack}"


def endpoint_name(environment: str) -> str:
    """The name of an environment's SageMaker endpoint."""
    return f"kokoro-{environment}"


def runtime_name(environment: str) -> str:
    """The name of an environment's AgentCore runtime, which may hold no hyphens."""
    return f"voice_agent_{environment.replace('-', '_')}"


def endpoint_log_group(endpoint: str) -> str:
    """The log group to which SageMaker writes what an endpoint's containers print."""
    return f"/aws/sagemaker/Endpoints/{endpoint}"


def scalable_resource(endpoint: str) -> str:
    """The resource id of an endpoint's production variant in Application Auto Scaling."""
    return f"endpoint/{endpoint}/variant/{PRODUCTION_VARIANT}"
