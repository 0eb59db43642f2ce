"""The speech stack of `plain`, created, updated, destroyed and created again on a moto server.

CloudFormation is simulated by moto 5, so some things are put in its place here:

- `Fn::GetStackOutput`, which moto lacks, is an output of another stack: the image is a digest
  instead, everything else a placeholder.
- Instance types it does not know, ml.c7i and ml.g5 among them, are ml.m5.xlarge.
- CloudFormation updates what refers to a replaced resource. moto does not notice, so the test
  marks those resources as changed.

What moto does not show: it passes over the types in `NOT_EXERCISED` without a word, and it names
models, configurations and endpoints itself, so that names cannot collide (test_traps.py has that).
It knows neither `Custom::*` nor AgentCore, so the other stacks are not run at all.
"""

import copy
import json
import re
import urllib.request
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto.cloudformation.parsing import get_model_map
from moto.server import ThreadedMotoServer

from tests.infra.conftest import Assembly

STACK = "voice-plain-speech"
REPOSITORY = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/kokoro"
FIRST_IMAGE = f"{REPOSITORY}@sha256:{'1' * 64}"
NEXT_IMAGE = f"{REPOSITORY}@sha256:{'2' * 64}"

NOT_EXERCISED = {
    "AWS::ApplicationAutoScaling::ScalableTarget",
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::CloudWatch::Alarm",
}


class Account:
    """An empty AWS account with one stack in it, now and then."""

    def __init__(self, endpoint_url: str) -> None:
        session = boto3.Session("testing", "testing", region_name="eu-west-1")

        def client(service: str) -> Any:
            return session.client(service, endpoint_url=endpoint_url)

        self.sagemaker, self.cloudformation = client("sagemaker"), client("cloudformation")
        self._iam, self._logs = client("iam"), client("logs")
        # Every CDK template asks for the version of the bootstrap.
        client("ssm").put_parameter(
            Name="/cdk-bootstrap/hnb659fds/version", Value="30", Type="String"
        )

    def create(self, template: dict[str, Any]) -> None:
        self._apply("create", template)

    def update(self, template: dict[str, Any]) -> None:
        self._apply("update", template)

    def destroy(self) -> None:
        self.cloudformation.delete_stack(StackName=STACK)
        self.cloudformation.get_waiter("stack_delete_complete").wait(StackName=STACK)

    def holds(self) -> dict[str, list[str]]:
        """Everything that exists, by kind; kinds of which there is nothing are left out."""
        sagemaker = self.sagemaker
        kinds = {
            "models": [m["ModelName"] for m in sagemaker.list_models()["Models"]],
            "configurations": [
                config["EndpointConfigName"]
                for config in sagemaker.list_endpoint_configs()["EndpointConfigs"]
            ],
            "endpoints": [e["EndpointName"] for e in sagemaker.list_endpoints()["Endpoints"]],
            "roles": [r["RoleName"] for r in self._iam.list_roles()["Roles"]],
            "policies": [p["Arn"] for p in self._iam.list_policies(Scope="Local")["Policies"]],
            "log groups": [
                g["logGroupName"] for g in self._logs.describe_log_groups()["logGroups"]
            ],
        }
        return {kind: names for kind, names in kinds.items() if names}

    def image_in_service(self) -> str:
        """Of the model of the configuration that the one endpoint has."""
        (name,) = self.holds()["endpoints"]
        endpoint = self.sagemaker.describe_endpoint(EndpointName=name)
        assert endpoint["EndpointStatus"] == "InService"
        config = self.sagemaker.describe_endpoint_config(
            EndpointConfigName=endpoint["EndpointConfigName"]
        )
        (variant,) = config["ProductionVariants"]
        model = self.sagemaker.describe_model(ModelName=variant["ModelName"])
        return str(model["PrimaryContainer"]["Image"])

    def _apply(self, action: str, template: dict[str, Any]) -> None:
        getattr(self.cloudformation, f"{action}_stack")(
            StackName=STACK,
            TemplateBody=json.dumps(template),
            Capabilities=["CAPABILITY_IAM"],
        )
        self.cloudformation.get_waiter(f"stack_{action}_complete").wait(StackName=STACK)


@pytest.fixture
def account() -> Iterator[Account]:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    # moto's state is this process's, and other tests have one too.
    reset = urllib.request.Request(f"{url}/moto-api/reset", method="POST")
    try:
        urllib.request.urlopen(reset).close()
        yield Account(url)
        urllib.request.urlopen(reset).close()
    finally:
        server.stop()


@pytest.fixture
def speech(assembly: Assembly) -> dict[str, Any]:
    """The speech stack of `plain`, as the app synthesizes it."""
    return assembly("plain").templates["Speech"]


def runnable(template: dict[str, Any], image: str) -> dict[str, Any]:
    """The template as moto can run it, with an image: see the module."""

    def replaced(value: Any) -> Any:
        match value:
            case {"Fn::GetStackOutput": {"OutputName": name}}:
                return f"arn:aws:other-stack:eu-west-1:123456789012:{name}"
            case dict():
                return {key: replaced(item) for key, item in value.items()}
            case list():
                return [replaced(item) for item in value]
        return value

    runnable = copy.deepcopy(template)
    for resource in runnable["Resources"].values():
        if resource["Type"] == "AWS::SageMaker::Model":
            resource["Properties"]["PrimaryContainer"]["Image"] = image
        for variant in resource["Properties"].get("ProductionVariants", []):
            variant["InstanceType"] = "ml.m5.xlarge"
    return replaced(runnable)


def with_next_image(template: dict[str, Any]) -> dict[str, Any]:
    """The template with another image, and all that follows from that marked as changed."""
    updated = runnable(template, NEXT_IMAGE)
    resources = updated["Resources"]
    changed = {name for name, item in resources.items() if item["Type"] == "AWS::SageMaker::Model"}
    pending = list(changed)
    while pending:
        name = pending.pop()
        # Ref is {"Ref": name}; GetAtt is {"Fn::GetAtt": [name, …]}.
        reference = re.compile(rf'"Ref": "{name}"|"Fn::GetAtt": \["{name}"')
        followers = {
            other
            for other, item in resources.items()
            if other not in changed and reference.search(json.dumps(item["Properties"]))
        }
        changed |= followers
        pending += followers
    for name in changed:
        resources[name].setdefault("Metadata", {})["test:changed"] = True
    return updated


def test_what_moto_passes_over_is_known(speech: dict[str, Any]) -> None:
    """moto reports success for a type it does not run; a new one must not count as tested."""
    types = {resource["Type"] for resource in speech["Resources"].values()}
    assert types - set(get_model_map()) == NOT_EXERCISED


@pytest.mark.filterwarnings("ignore:Tried to parse .* but it's not supported by moto")
def test_created_updated_destroyed_and_created_again(
    account: Account, speech: dict[str, Any]
) -> None:
    """An update that leaves the former model behind, or the endpoint on it; a resource that
    outlives a destroy, and stops the next deploy by its name.
    """
    assert account.holds() == {}

    account.create(runnable(speech, FIRST_IMAGE))
    created = account.holds()
    assert set(created) == {"models", "configurations", "endpoints", "roles", "log groups"}
    assert created["log groups"] == ["/aws/sagemaker/Endpoints/kokoro-plain"]
    assert account.image_in_service() == FIRST_IMAGE

    account.update(with_next_image(speech))
    updated = account.holds()
    assert account.image_in_service() == NEXT_IMAGE
    # The endpoint stays; model and configuration are others, and the former ones are gone.
    assert updated["endpoints"] == created["endpoints"]
    for kind in ("models", "configurations"):
        assert len(updated[kind]) == 1
        assert updated[kind] != created[kind]

    account.destroy()
    assert account.holds() == {}

    account.create(runnable(speech, FIRST_IMAGE))
    assert account.image_in_service() == FIRST_IMAGE
    assert {kind: len(names) for kind, names in account.holds().items()} == {
        kind: len(names) for kind, names in created.items()
    }
    account.destroy()
    assert account.holds() == {}
