"""The agent's stack: the environment of its runtime, who gets in, and what its role may do."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Match, Template

import app as cdk_app
from stacks.agent import AgentStack
from stacks.settings import load
from tests.infra.conftest import Assembly, Templates
from tests.infra.synthesis import OTHERS, Synthesis, context
from tests.infra.test_least_privilege import listed, statements
from voice_agent import settings as agent_settings

RUNTIME = "AWS::BedrockAgentCore::Runtime"
INVOKE_MODEL = ["bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"]
ROLE_MAY = {
    *INVOKE_MODEL,
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
    "logs:CreateLogGroup",
    "logs:CreateLogStream",
    "logs:DescribeLogGroups",
    "logs:DescribeLogStreams",
    "logs:PutLogEvents",
    "sagemaker:InvokeEndpoint",
    "sagemaker:InvokeEndpointWithBidirectionalStream",
    "sagemaker:InvokeEndpointWithResponseStream",
}


def runtime(synthesis: Synthesis) -> dict[str, Any]:
    (found,) = synthesis.resources(RUNTIME)
    return found.properties


def test_the_agent_accepts_its_environment(synthesis: Synthesis) -> None:
    """A variable the agent does not know, or a value it refuses, stops the container at its start:
    the deploy succeeds and every call fails."""
    variables = {
        name: value if isinstance(value, str) else "eu-west-1"
        for name, value in runtime(synthesis)["EnvironmentVariables"].items()
    }
    settings = agent_settings.Settings.from_environment(variables)
    asked_for = synthesis.settings.agent
    assert settings.endpoint_name == synthesis.settings.endpoint_name
    assert settings.model_id == asked_for.model_id
    assert settings.voice == asked_for.voice
    for name in ("system_prompt", "language", "first_chunk", "max_reply_tokens"):
        wanted = getattr(asked_for, name)
        # Not rendered, a setting keeps the image's default.
        assert (f"VOICE_AGENT_{name.upper()}" in variables) == (wanted is not None)
        assert wanted is None or getattr(settings, name) == wanted


def test_a_region_is_set(synthesis: Synthesis) -> None:
    """Without one the agent does not start; AgentCore's documentation promises none."""
    region = runtime(synthesis)["EnvironmentVariables"]["AWS_REGION"]
    assert region == (synthesis.settings.region or {"Ref": "AWS::Region"})


def test_the_role_may_do_what_the_agent_does(synthesis: Synthesis) -> None:
    """And nothing else: no X-Ray, no metrics, no identity, which the construct's own role has."""
    allowed = {
        action
        for resource, statement in statements(synthesis)
        if resource.stack == "Agent"
        for action in listed(statement["Action"])
    }
    assert allowed == ROLE_MAY


def test_speech_is_asked_of_one_endpoint(synthesis: Synthesis) -> None:
    """The other environment's endpoint is in the same account."""
    (resource,) = (
        json.dumps(statement["Resource"])
        for resource, statement in statements(synthesis)
        if resource.stack == "Agent" and "sagemaker:InvokeEndpoint" in listed(statement["Action"])
    )
    assert f":endpoint/{synthesis.settings.endpoint_name}" in resource
    assert "*" not in resource


def model_statements(template: Template) -> list[dict[str, Any]]:
    return [
        statement
        for policy in template.find_resources("AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if listed(statement["Action"])[0].startswith("bedrock:")
    ]


@pytest.mark.parametrize(
    ("environment", "profile", "model"),
    [
        ("plain", "global.amazon.nova-2-lite-v1:0", "amazon.nova-2-lite-v1:0"),
        ("images", "eu.amazon.nova-lite-v1:0", "amazon.nova-lite-v1:0"),
    ],
)
def test_a_profile_needs_its_models_everywhere(
    template: Templates, environment: str, profile: str, model: str
) -> None:
    """Allowed on the profile alone, the call is refused as soon as it is routed elsewhere; allowed
    on the model alone, it can be called around the profile."""
    on_profile, on_model = model_statements(template(environment, "Agent"))
    assert on_profile["Action"] == on_model["Action"] == INVOKE_MODEL
    assert json.dumps(on_profile["Resource"]).count(f":inference-profile/{profile}") == 1
    assert f":bedrock:*::foundation-model/{model}" in json.dumps(on_model["Resource"])
    assert on_model["Condition"] == {
        "StringEquals": {"bedrock:InferenceProfileArn": on_profile["Resource"]}
    }


def test_a_model_of_the_region_is_named_whole(template: Templates) -> None:
    (statement,) = model_statements(template("everything", "Agent"))
    assert statement["Resource"] == (
        "arn:aws:bedrock:eu-central-1::foundation-model/amazon.nova-lite-v1:0"
    )


def test_callers_sign_by_default(synthesis: Synthesis) -> None:
    """An authorizer nobody configured would let nobody in, or anybody."""
    properties, agent = runtime(synthesis), synthesis.settings.agent
    assert ("AuthorizerConfiguration" in properties) == (agent.auth == "jwt")
    headers = agent.auth == "jwt" or bool(agent.allowed_headers)
    assert ("RequestHeaderConfiguration" in properties) == headers


def test_with_jwt_the_agent_sees_whose_token_it_is(assembly: Assembly) -> None:
    """Not on the list, `Authorization` is dropped on the way, and any token could name any
    session."""
    properties = runtime(assembly("everything"))
    assert properties["AuthorizerConfiguration"] == {
        "CustomJWTAuthorizer": {
            "DiscoveryUrl": "https://login.example.com/.well-known/openid-configuration",
            "AllowedClients": ["browser"],
            "AllowedAudience": ["voice"],
        }
    }
    assert properties["RequestHeaderConfiguration"] == {
        "RequestHeaderAllowlist": [
            "Authorization",
            "X-Amzn-Bedrock-AgentCore-Runtime-Custom-Tenant",
        ]
    }


def test_sessions_live_as_long_as_asked_for(synthesis: Synthesis) -> None:
    agent = synthesis.settings.agent
    assert runtime(synthesis)["LifecycleConfiguration"] == {
        "IdleRuntimeSessionTimeout": agent.idle_timeout_s,
        "MaxLifetime": agent.max_lifetime_s,
    }


def test_the_network_is_public_unless_asked_for(synthesis: Synthesis) -> None:
    """A VPC without endpoints is an agent that reaches nothing."""
    network = runtime(synthesis)["NetworkConfiguration"]
    if synthesis.settings.network is None:
        assert network == {"NetworkMode": "PUBLIC"}
    else:
        assert network["NetworkMode"] == "VPC"


def test_in_a_vpc_it_has_the_networks_subnets_and_group(assembly: Assembly) -> None:
    network = runtime(assembly("everything"))["NetworkConfiguration"]
    assert network["NetworkMode"] == "VPC"
    subnets = network["NetworkModeConfig"]["Subnets"]
    (group,) = network["NetworkModeConfig"]["SecurityGroups"]
    assert len(subnets) == 2
    for value in [*subnets, group]:
        assert value["Fn::GetStackOutput"]["StackName"] == "voice-everything-network"


def test_grant_invoke_covers_the_web_socket(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The construct's own grant leaves its action out: `/invocations` works, `/ws` is refused."""
    app = cdk.App(context=context(), outdir=str(tmp_path_factory.mktemp("cdk-caller-")))
    cdk_app.build(app, load("plain", OTHERS))
    agent = app.node.find_child("plain-Agent")
    assert isinstance(agent, AgentStack)
    role = iam.Role(agent, "Caller", assumed_by=iam.AccountRootPrincipal())
    agent.grant_invoke(role)
    arn = {"Fn::GetAtt": [Match.string_like_regexp("^Runtime"), "AgentRuntimeArn"]}
    Template.from_stack(agent).has_resource_properties(
        "AWS::IAM::Policy",
        {
            "Roles": [{"Ref": Match.string_like_regexp("^Caller")}],
            "PolicyDocument": {
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": [
                            "bedrock-agentcore:InvokeAgentRuntime",
                            "bedrock-agentcore:InvokeAgentRuntimeWithWebSocketStream",
                        ],
                        "Resource": [
                            arn,
                            {"Fn::Join": ["", [arn, "/runtime-endpoint/live"]]},
                        ],
                    }
                ]
            },
        },
    )
