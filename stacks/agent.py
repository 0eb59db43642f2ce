"""The agent on Bedrock AgentCore Runtime, and its permissions."""

import aws_cdk as cdk
from aws_cdk import aws_bedrockagentcore as agentcore
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam

from stacks import names
from stacks.constructs.kokoro_endpoint import KokoroEndpoint
from stacks.constructs.source_image import SourceImage
from stacks.nag import acknowledge
from stacks.network import NetworkStack
from stacks.settings import Settings
from stacks.settings.agent import Agent
from stacks.settings.regions import profiled_model
from stacks.stack import EnvironmentStack

LONGEST_CONVERSATION_IDLE_S = 3600
"""The largest value that the agent accepts for VOICE_AGENT_CONVERSATION_IDLE_S."""


class AgentStack(EnvironmentStack):
    """The AgentCore runtime, its endpoint and its execution role.

    Args:
        app: The CDK app.
        settings: The environment's settings.
        image: The image of the agent, for linux/arm64. A new URI creates a new runtime version.
        endpoint: The speech endpoint that the agent uses.
        network: The network of the agent; None outside a VPC.

    Attributes:
        runtime: The AgentCore runtime.
    """

    def __init__(
        self,
        app: cdk.App,
        *,
        settings: Settings,
        image: SourceImage,
        endpoint: KokoroEndpoint,
        network: NetworkStack | None,
    ) -> None:
        super().__init__(
            app,
            "agent",
            settings=settings,
            description=f"Voice agent of {settings.name}: AgentCore runtime and its role",
        )
        agent = settings.agent
        role = self._execution_role(settings)
        endpoint.grant_invoke(role)
        image.repository.grant_pull(role)
        acknowledge(
            role,
            "ecr:GetAuthorizationToken, the first call of a pull, cannot be limited to a resource",
            "AwsSolutions-IAM5[Resource::*]",
        )
        self.runtime = agentcore.Runtime(
            self,
            "Runtime",
            runtime_name=settings.runtime_name,
            description=f"Voice agent of {settings.name}",
            agent_runtime_artifact=agentcore.AgentRuntimeArtifact.from_image_uri(image.uri),
            # The construct would add permissions for X-Ray, metrics and identity that the agent
            # does not need. AgentCore's service-linked role covers identity (developer guide,
            # "Service-linked roles").
            execution_role=role.without_policy_updates(),
            network_configuration=_network(self, network),
            authorizer_configuration=_authorizer(agent),
            request_header_configuration=_headers(agent),
            lifecycle_configuration=agentcore.LifecycleConfiguration(
                idle_runtime_session_timeout=cdk.Duration.seconds(agent.idle_timeout_s),
                max_lifetime=cdk.Duration.seconds(agent.max_lifetime_s),
            ),
            environment_variables=self._environment(agent, endpoint.endpoint_name),
        )
        acknowledge(
            self.runtime,
            "The same deploy creates the repository of the image, so its name is not known yet",
            "Annotation::aws-cdk-lib.aws-bedrockagentcore:containerUriValidationSkipped",
        )
        # By default the endpoint stays at version 1, according to the construct's documentation.
        live = self.runtime.add_endpoint(
            names.QUALIFIER, version=self.runtime.agent_runtime_version
        )
        cdk.CfnOutput(self, "RuntimeArn", value=self.runtime.agent_runtime_arn)
        cdk.CfnOutput(self, "RuntimeEndpointArn", value=live.agent_runtime_endpoint_arn)

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow a principal to use the agent over `/invocations` and over `/ws`.

        The runtime's own `grant_invoke_runtime` lacks the WebSocket action.

        Args:
            grantee: The principal that may use the agent.

        Returns:
            The grant, on which other resources can depend.
        """
        arn = self.runtime.agent_runtime_arn
        return iam.Grant.add_to_principal(
            grantee=grantee,
            actions=[
                "bedrock-agentcore:InvokeAgentRuntime",
                "bedrock-agentcore:InvokeAgentRuntimeWithWebSocketStream",
            ],
            resource_arns=[arn, f"{arn}/runtime-endpoint/{names.QUALIFIER}"],
        )

    def _execution_role(self, settings: Settings) -> iam.Role:
        """Create the role of the agent's container, which may call the endpoint and the model, and
        write logs (AgentCore developer guide, "IAM Permissions for AgentCore Runtime").
        """
        # AgentCore appends a hyphen and ten characters to the name.
        runtime = f"{settings.runtime_name}-*"
        logs = f"arn:{self.partition}:logs:{self.region}:{self.account}:log-group"
        groups = f"{logs}:{names.RUNTIME_LOGS}{runtime}"
        role = iam.Role(
            self,
            "ExecutionRole",
            description=f"Voice agent of {settings.name}",
            assumed_by=iam.ServicePrincipal(
                "bedrock-agentcore.amazonaws.com",
                conditions={
                    "StringEquals": {"aws:SourceAccount": self.account},
                    "ArnLike": {
                        "aws:SourceArn": f"arn:{self.partition}:bedrock-agentcore:{self.region}:"
                        f"{self.account}:runtime/{runtime}"
                    },
                },
            ),
        )
        for actions, resource in (
            (["logs:CreateLogGroup", "logs:DescribeLogStreams"], groups),
            (["logs:CreateLogStream", "logs:PutLogEvents"], f"{groups}:log-stream:*"),
            (["logs:DescribeLogGroups"], f"{logs}:*"),
        ):
            role.add_to_policy(iam.PolicyStatement(actions=actions, resources=[resource]))
            acknowledge(
                role,
                "AgentCore names the log group after an id that it chooses itself",
                f"AwsSolutions-IAM5[Resource::{resource}]",
            )
        self._grant_model(role, settings.agent.model_id)
        return role

    def _grant_model(self, role: iam.Role, model_id: str) -> None:
        """Allow the role to call the model.

        An inference profile needs the action on itself and on the model in every Region to which it
        routes. `*` also matches the empty Region of global routing. The condition allows the models
        through the profile only (Bedrock user guide, "Prerequisites for inference profiles").
        """
        actions = ["bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"]
        bedrock = f"arn:{self.partition}:bedrock"
        routed_model_id = profiled_model(model_id)
        if routed_model_id is None:
            model = f"{bedrock}:{self.region}::foundation-model/{model_id}"
            role.add_to_policy(iam.PolicyStatement(actions=actions, resources=[model]))
            return
        profile = f"{bedrock}:{self.region}:{self.account}:inference-profile/{model_id}"
        model = f"{bedrock}:*::foundation-model/{routed_model_id}"
        role.add_to_policy(iam.PolicyStatement(actions=actions, resources=[profile]))
        role.add_to_policy(
            iam.PolicyStatement(
                actions=actions,
                resources=[model],
                conditions={"StringEquals": {"bedrock:InferenceProfileArn": profile}},
            )
        )
        acknowledge(
            role,
            "One model, in the Regions of its inference profile, and only through that profile",
            f"AwsSolutions-IAM5[Resource::{model}]",
        )

    def _environment(self, agent: Agent, endpoint_name: str) -> dict[str, str]:
        """Return the variables for `voice_agent.settings`; all others keep their defaults."""
        environment = {
            "AWS_REGION": self.region,
            "VOICE_AGENT_ENDPOINT_NAME": endpoint_name,
            "VOICE_AGENT_MODEL_ID": agent.model_id,
            "VOICE_AGENT_VOICE": agent.voice,
            # A conversation is kept as long as the microVM that holds it.
            "VOICE_AGENT_CONVERSATION_IDLE_S": str(
                min(agent.idle_timeout_s, LONGEST_CONVERSATION_IDLE_S)
            ),
        }
        optional = {
            "VOICE_AGENT_SYSTEM_PROMPT": agent.system_prompt,
            "VOICE_AGENT_LANGUAGE": agent.language,
            "VOICE_AGENT_FIRST_CHUNK": agent.first_chunk,
            "VOICE_AGENT_MAX_REPLY_TOKENS": agent.max_reply_tokens,
        }
        return environment | {
            name: str(value) for name, value in optional.items() if value is not None
        }


def _network(
    stack: AgentStack, network: NetworkStack | None
) -> agentcore.RuntimeNetworkConfiguration:
    if network is None:
        return agentcore.RuntimeNetworkConfiguration.using_public_network()
    return agentcore.RuntimeNetworkConfiguration.using_vpc(
        stack,
        vpc=network.vpc,
        vpc_subnets=ec2.SubnetSelection(subnets=network.vpc.isolated_subnets),
        security_groups=[network.agent_security_group],
    )


def _authorizer(agent: Agent) -> agentcore.RuntimeAuthorizerConfiguration:
    if agent.jwt is None:
        return agentcore.RuntimeAuthorizerConfiguration.using_iam()
    return agentcore.RuntimeAuthorizerConfiguration.using_jwt(
        agent.jwt.discovery_url,
        list(agent.jwt.allowed_clients) or None,
        list(agent.jwt.allowed_audiences) or None,
    )


def _headers(agent: Agent) -> agentcore.RequestHeaderConfiguration | None:
    """Return the request headers that AgentCore passes on; with JWT, the token is one of them."""
    headers = [*(["Authorization"] if agent.auth == "jwt" else []), *agent.allowed_headers]
    return agentcore.RequestHeaderConfiguration(allowlisted_headers=headers) if headers else None
