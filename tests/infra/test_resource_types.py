"""Every type of resource the app makes exists in CloudFormation."""

from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from tests.infra.synthesis import Synthesis

# For environments that are deployed wherever the deployer's credentials point.
DEFAULT_REGION = "us-east-1"


def test_every_type_is_known_where_the_environment_lives(synthesis: Synthesis) -> None:
    """moto calls a type it does not know a success, and CDK writes any name into a template: only
    CloudFormation's own list, which cfn-lint carries, shows a type that a Region does not have.
    """
    region = synthesis.settings.region or DEFAULT_REGION
    known = set(PROVIDER_SCHEMA_MANAGER.get_resource_types(region))
    used = {
        resource["Type"]
        for template in synthesis.templates.values()
        for resource in template["Resources"].values()
    }
    assert "AWS::BedrockAgentCore::Runtime" in used  # or the app was not synthesized
    unknown = sorted(name for name in used - known if not name.startswith("Custom::"))
    assert not unknown, (
        f"{synthesis.settings.name}.toml: region: {region!r} does not have {', '.join(unknown)}; "
        "choose another Region"
    )
