"""The environment `dev` as far as a simulation of AWS (moto) can hold it."""

import json

from moto.sagemaker.models import FakeEndpoint, sagemaker_backends

from ops.aws import Account

ROLE = "arn:aws:iam::111122223333:role/x"


def deploy(account: Account) -> str:
    """Make the speech stack and the agent's runtime; the name of the endpoint's configuration.

    The simulation ignores an endpoint's name in a stack and knows no runtime there, so these are
    made beside it.
    """
    variant = {
        "VariantName": "AllTraffic",
        "ModelName": {"Fn::GetAtt": ["Model", "ModelName"]},
        "InstanceType": "ml.m5.xlarge",
        "InitialInstanceCount": 1,
        "InitialVariantWeight": 1,
    }
    model = {"ExecutionRoleArn": ROLE, "PrimaryContainer": {"Image": "x"}}
    resources = {
        "Model": {"Type": "AWS::SageMaker::Model", "Properties": model},
        "Config": {
            "Type": "AWS::SageMaker::EndpointConfig",
            "Properties": {"ProductionVariants": [variant]},
        },
    }
    account.client("cloudformation").create_stack(
        StackName=account.stack_name("speech"), TemplateBody=json.dumps({"Resources": resources})
    )
    sagemaker = account.client("sagemaker")
    (config,) = sagemaker.list_endpoint_configs()["EndpointConfigs"]
    name = str(config["EndpointConfigName"])
    sagemaker.create_endpoint(EndpointName=account.settings.endpoint_name, EndpointConfigName=name)
    # The simulation says `{}` where AWS says nothing, which the SageMaker SDK cannot read.
    simulated_endpoint(account).data_capture_config = None
    account.client("bedrock-agentcore-control").create_agent_runtime(
        agentRuntimeName=account.settings.runtime_name,
        agentRuntimeArtifact={"containerConfiguration": {"containerUri": "x"}},
        roleArn=ROLE,
        networkConfiguration={"networkMode": "PUBLIC"},
    )
    return name


def simulated_endpoint(account: Account) -> FakeEndpoint:
    """The only endpoint, to put it into a state."""
    (endpoint,) = sagemaker_backends["123456789012"][account.region].endpoints.values()
    return endpoint
