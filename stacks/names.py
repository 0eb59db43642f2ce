"""The names by which stacks make things, operations commands find them, and the images write."""

STACKS = ("images", "network", "observability", "speech", "agent")
"""The stacks of an environment, in the order in which they are deployed."""

BOOTSTRAP_QUALIFIER = "hnb659fds"
"""In the names of what `cdk bootstrap` makes, unless another is asked for."""

PRODUCTION_VARIANT = "AllTraffic"
"""The speech endpoint's one production variant: a dimension of SageMaker's metrics."""
SCALABLE_DIMENSION = "sagemaker:variant:DesiredInstanceCount"
SCALING_ROLE = "AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint"
SCALING_SERVICE = "sagemaker.application-autoscaling.amazonaws.com"
"""Whose service-linked role `SCALING_ROLE` is."""

QUALIFIER = "live"
"""The AgentCore runtime's endpoint that callers use."""
RUNTIME_LOGS = "/aws/bedrock-agentcore/runtimes/"
"""How the names of AgentCore's log groups begin, before a runtime's id and a qualifier."""

METRIC_NAMESPACE = "VoiceAgent"
"""Of the metrics that the speech container writes itself, with the dimension `Endpoint`."""
CONTAINER_METRICS = ("FirstAudio", "Requests", "Errors", "RealTimeFactor")


def stack_id(environment: str, stack: str) -> str:
    """What the CDK's command line calls one of the `STACKS` of an environment."""
    return f"{environment}-{stack.capitalize()}"


def stack_name(environment: str, stack: str) -> str:
    """What CloudFormation calls one of the `STACKS` of an environment."""
    return f"voice-{environment}-{stack}"


def endpoint_name(environment: str) -> str:
    """The SageMaker endpoint's."""
    return f"kokoro-{environment}"


def runtime_name(environment: str) -> str:
    """The AgentCore runtime's, which may hold no hyphens."""
    return f"voice_agent_{environment.replace('-', '_')}"


def endpoint_log_group(endpoint: str) -> str:
    """Where SageMaker writes what an endpoint's containers print."""
    return f"/aws/sagemaker/Endpoints/{endpoint}"


def scalable_resource(endpoint: str) -> str:
    """What Application Auto Scaling calls an endpoint's production variant."""
    return f"endpoint/{endpoint}/variant/{PRODUCTION_VARIANT}"
