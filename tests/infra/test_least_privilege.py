"""Who may do what: on the templates, so that it holds whatever construct wrote the policy."""

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.infra.conftest import Assembly
from tests.infra.synthesis import Resource, Synthesis

WITHOUT_RESOURCE = {
    "cloudwatch:PutMetricData": "bound by its condition to SageMaker's namespaces",
    "ecr:GetAuthorizationToken": "a registry's token, which holds no permission of its own",
}
"""The only actions that may be allowed on `*`: IAM knows no resource for them."""

WILDCARD_ACTIONS = {
    "s3:GetBucket*": "CodeBuild reads the build context from the bootstrap bucket",
    "s3:GetObject*": "the same",
    "s3:List*": "the same",
}

MANAGED_POLICIES = {
    "service-role/AWSLambdaBasicExecutionRole": "of the function that starts image builds: logs",
    "AmazonElasticContainerRegistryPublicReadOnly": "of image builds: the public base image",
}

WITHOUT_TAGS = {
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::Budgets::Budget",
    "AWS::EC2::SecurityGroupEgress",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::SubnetRouteTableAssociation",
    "AWS::IAM::Policy",
    "AWS::SNS::Subscription",
    "AWS::SNS::TopicPolicy",
    "Custom::CDKContainerImageBuild",
    "Custom::VpcRestrictDefaultSG",
}
"""Types that cannot be tagged, or that belong to a resource which is."""

UNTAGGED_BY_THE_CDK = "CustomVpcRestrictDefaultSGCustomResourceProvider"
"""The CDK's function that empties a VPC's default security group, and its role: it writes them
without tags."""

SECRETS = re.compile(
    r"AKIA[0-9A-Z]{16}|-----BEGIN|SecretAccessKey|aws_session_token|Bearer [\w-]{20}"
)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def statements(synthesis: Synthesis) -> Iterator[tuple[Resource, dict[str, Any]]]:
    """What roles are allowed, not what resources allow: those name themselves `*`."""
    for resource in synthesis.resources():
        documents = [policy["PolicyDocument"] for policy in resource.properties.get("Policies", [])]
        if resource.type in ("AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"):
            documents.append(resource.properties["PolicyDocument"])
        for document in documents:
            for statement in document["Statement"]:
                assert statement["Effect"] == "Allow"
                yield resource, statement


def test_only_actions_without_resources_are_allowed_on_all(synthesis: Synthesis) -> None:
    """`Resource: "*"` is how one environment's role reaches the other's."""
    used = set()
    for resource, statement in statements(synthesis):
        if "*" in listed(statement["Resource"]):
            actions = set(listed(statement["Action"]))
            assert actions <= set(WITHOUT_RESOURCE), (resource.name, actions)
            used |= actions
            if "cloudwatch:PutMetricData" in actions:
                assert "cloudwatch:namespace" in json.dumps(statement["Condition"])
    assert "ecr:GetAuthorizationToken" in used, "no role pulls an image: the test reads nothing"


def test_actions_are_named(synthesis: Synthesis) -> None:
    """A wildcard allows what AWS adds next year."""
    for resource, statement in statements(synthesis):
        wildcards = {action for action in listed(statement["Action"]) if "*" in action}
        assert wildcards <= set(WILDCARD_ACTIONS), (resource.name, wildcards)
        if wildcards:
            assert resource.stack == "Images", resource.name


def test_managed_policies_are_few_and_small(synthesis: Synthesis) -> None:
    """A `…FullAccess` policy grants what nobody here needs, and grows."""
    for role in synthesis.resources("AWS::IAM::Role"):
        for policy in role.properties.get("ManagedPolicyArns", []):
            text = json.dumps(policy)
            assert "FullAccess" not in text
            assert any(f"policy/{name}" in text for name in MANAGED_POLICIES), text


def test_resources_open_to_anybody_are_only_closed_further(synthesis: Synthesis) -> None:
    """`Principal: "*"` belongs in a denial, as of requests without TLS."""
    for resource in synthesis.resources():
        for key in ("PolicyDocument", "KeyPolicy", "RepositoryPolicyText"):
            for statement in resource.properties.get(key, {}).get("Statement", []):
                if statement.get("Principal") in ("*", {"AWS": "*"}):
                    assert statement["Effect"] == "Deny", resource.name


def test_services_may_use_a_role_for_this_account_only(synthesis: Synthesis) -> None:
    """Without the condition AgentCore could be made to use the role for somebody else's runtime."""
    roles = [
        role
        for role in synthesis.resources("AWS::IAM::Role")
        if "bedrock-agentcore.amazonaws.com" in json.dumps(role.properties)
    ]
    assert roles
    for role in roles:
        (statement,) = role.properties["AssumeRolePolicyDocument"]["Statement"]
        assert "aws:SourceAccount" in statement["Condition"]["StringEquals"]
        assert "aws:SourceArn" in statement["Condition"]["ArnLike"]


def test_the_boundary_bounds_every_role(assembly: Assembly) -> None:
    """Where an account demands a boundary, a single role without it fails the whole deploy."""
    roles = assembly("everything").resources("AWS::IAM::Role")
    assert len(roles) > 3
    for role in roles:
        boundary = json.dumps(role.properties["PermissionsBoundary"])
        assert ":iam::123456789012:policy/developer-boundary" in boundary, role.name


def test_no_boundary_unless_asked_for(synthesis: Synthesis) -> None:
    """A boundary that does not exist in the account fails the deploy as well."""
    asked_for = synthesis.settings.permissions_boundary is not None
    for role in synthesis.resources("AWS::IAM::Role"):
        assert ("PermissionsBoundary" in role.properties) == asked_for, role.name


def test_everything_that_can_be_tagged_is(synthesis: Synthesis) -> None:
    """The budget counts, and `ops orphans` finds, what carries the environment's tag."""
    expected = {"environment": synthesis.settings.name} | synthesis.settings.tags
    for resource in synthesis.resources():
        if resource.type in WITHOUT_TAGS or resource.name.startswith(UNTAGGED_BY_THE_CDK):
            assert "Tags" not in resource.properties
            continue
        tags = resource.properties.get("Tags", {})
        if isinstance(tags, list):
            tags = {tag["Key"]: tag["Value"] for tag in tags}
        assert expected.items() <= tags.items(), (resource.stack, resource.name, resource.type)


def test_templates_hold_no_secrets(synthesis: Synthesis) -> None:
    """Anyone who may describe a stack can read its template."""
    for stack, template in synthesis.templates.items():
        assert SECRETS.findall(json.dumps(template)) == [], stack
