"""`ops orphans`: finds what an environment left, and touches nobody else's."""

import json
from collections.abc import Iterator

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from ops.orphans import STACK_TAG, Orphan, clear, is_runtime_log, sources, with_deletion
from stacks.settings import load
from tests.recorded import REGION, RecordedAccount

OURS = {
    "/aws/sagemaker/Endpoints/kokoro-dev",
    "/aws/bedrock-agentcore/runtimes/voice_agent_dev-AbC0123xyZ-DEFAULT",
    "/aws/bedrock-agentcore/runtimes/voice_agent_dev-AbC0123xyZ-live",
}
OTHERS = {
    # Of the environments dev-2 and dev-images, of a like-named endpoint, and of somebody else.
    "/aws/sagemaker/Endpoints/kokoro-dev-2",
    "/aws/sagemaker/Endpoints/kokoro-developers",
    "/aws/bedrock-agentcore/runtimes/voice_agent_dev_2-AbC0123xyZ-DEFAULT",
    "/aws/bedrock-agentcore/runtimes/voice_agent_dev_images-AbC0123xyZ-live",
    "/aws/lambda/voice-dev-images-Handler-0123456789AB",
    "/aws/codebuild/SpeechBuild-0123456789AB",
    "/somebody/else",
}


@pytest.fixture
def account() -> Iterator[RecordedAccount]:
    with mock_aws():
        yield RecordedAccount(load("dev"))


def find(account: RecordedAccount) -> list[Orphan]:
    return [orphan for _, orphans in sources(account) for orphan in orphans]


def log_groups(account: RecordedAccount) -> set[str]:
    return set(account.search("logs", "describe_log_groups", "logGroups[].logGroupName"))


def make_log_groups(account: RecordedAccount, names: set[str], **tags: str) -> None:
    for name in names:
        account.client("logs").create_log_group(logGroupName=name, tags=tags)


def make_model(account: RecordedAccount, name: str, **tags: str) -> None:
    account.client("sagemaker").create_model(
        ModelName=name,
        ExecutionRoleArn="arn:aws:iam::111122223333:role/x",
        PrimaryContainer={"Image": "x"},
        Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
    )


def models(account: RecordedAccount) -> set[str]:
    return set(account.search("sagemaker", "list_models", "Models[].ModelName"))


def make_stack(account: RecordedAccount, name: str, resources: dict[str, object]) -> None:
    body = json.dumps({"Resources": resources})
    account.client("cloudformation").create_stack(StackName=name, TemplateBody=body)


def test_an_account_without_the_environment_is_clean(
    account: RecordedAccount, capsys: pytest.CaptureFixture[str]
) -> None:
    make_log_groups(account, OTHERS)
    assert clear(account, delete=True) == 0
    assert log_groups(account) == OTHERS
    assert "nothing of dev is left in us-east-1" in capsys.readouterr().out


def test_listing_deletes_nothing_and_fails(
    account: RecordedAccount, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipeline that destroys must notice what is left."""
    make_log_groups(account, OURS | OTHERS)
    assert clear(account, delete=False) == 1
    assert log_groups(account) == OURS | OTHERS
    out = capsys.readouterr().out
    assert [name for name in OURS if name in out] == list(OURS)
    assert "--delete" in out


def test_deleting_takes_what_is_its_own_and_nothing_else(account: RecordedAccount) -> None:
    """`dev` is the beginning of other environments' names, and other systems are tagged `dev`."""
    make_log_groups(account, OURS | OTHERS)
    make_log_groups(account, {"/kept"}, **{STACK_TAG: "voice-dev-agent"})
    make_log_groups(account, {"/dev-2"}, **{STACK_TAG: "voice-dev-2-agent"})
    make_model(account, "left", **{STACK_TAG: "voice-dev-speech", "environment": "dev"})
    make_model(account, "dev-2", **{STACK_TAG: "voice-dev-2-speech"})
    make_model(account, "payroll", environment="dev")
    assert clear(account, delete=True) == 0
    assert log_groups(account) == OTHERS | {"/dev-2"}
    assert models(account) == {"dev-2", "payroll"}
    assert find(account) == []


def test_what_belongs_to_a_living_stack_is_no_orphan(account: RecordedAccount) -> None:
    """Run before the destroy, or between two deploys, it must not delete logs in use."""
    for name in ("speech", "agent"):
        make_stack(account, f"voice-dev-{name}", {"Topic": {"Type": "AWS::SNS::Topic"}})
    make_log_groups(account, OURS)
    make_model(account, "in-use", **{STACK_TAG: "voice-dev-speech"})
    assert clear(account, delete=True) == 0
    assert log_groups(account) == OURS
    assert models(account) == {"in-use"}


def test_an_endpoint_that_is_still_there_keeps_its_log(account: RecordedAccount) -> None:
    """Without a stack it is left over or somebody else's; either way it writes to the group."""
    sagemaker = account.client("sagemaker")
    make_model(account, "model")
    sagemaker.create_endpoint_config(
        EndpointConfigName="config",
        ProductionVariants=[
            {
                "VariantName": "AllTraffic",
                "ModelName": "model",
                "InitialInstanceCount": 1,
                "InstanceType": "ml.m5.xlarge",
            }
        ],
    )
    sagemaker.create_endpoint(EndpointName="kokoro-dev", EndpointConfigName="config")
    make_log_groups(account, OURS)
    assert clear(account, delete=True) == 0
    assert log_groups(account) == {"/aws/sagemaker/Endpoints/kokoro-dev"}


def test_logs_of_builds_are_known_from_the_deleted_stack(account: RecordedAccount) -> None:
    """Their names are random: only CloudFormation's record says whose they are."""
    stack_id = "arn:aws:cloudformation:us-east-1:111122223333:stack/voice-dev-images/1"
    created = "2026-11-30T00:00:00Z"
    for name in ("images", "network", "observability", "speech", "agent"):
        message = f"Stack with id voice-dev-{name} does not exist"
        account.fail("cloudformation", "describe_stacks", "ValidationError", message)
    account.answer(
        "cloudformation",
        "list_stacks",
        {
            "StackSummaries": [
                {
                    "StackId": stack_id.replace("voice-dev-images", name),
                    "StackName": name,
                    "CreationTime": created,
                    "StackStatus": "DELETE_COMPLETE",
                }
                for name in ("voice-dev-images", "voice-dev-2-images")
            ]
        },
    )
    account.answer(
        "cloudformation",
        "list_stack_resources",
        {
            "StackResourceSummaries": [
                {
                    "LogicalResourceId": "SpeechBuild",
                    "PhysicalResourceId": "SpeechBuild-AAAAAAAAAAAA",
                    "ResourceType": "AWS::CodeBuild::Project",
                    "LastUpdatedTimestamp": created,
                    "ResourceStatus": "DELETE_COMPLETE",
                },
                {
                    "LogicalResourceId": "Repository",
                    "PhysicalResourceId": "SpeechBuild-BBBBBBBBBBBB",
                    "ResourceType": "AWS::ECR::Repository",
                    "LastUpdatedTimestamp": created,
                    "ResourceStatus": "DELETE_SKIPPED",
                },
            ]
        },
        StackName=stack_id,
    )
    make_log_groups(account, {f"/aws/codebuild/SpeechBuild-{letter * 12}" for letter in "ABC"})
    (orphan,) = find(account)
    assert orphan.name == "/aws/codebuild/SpeechBuild-AAAAAAAAAAAA"


def test_a_scalable_target_that_outlived_its_endpoint_is_found(account: RecordedAccount) -> None:
    """It blocks the next endpoint of the name from being scaled by its own bounds."""
    resource = "endpoint/kokoro-dev/variant/AllTraffic"
    target = {"ServiceNamespace": "sagemaker", "ResourceId": resource}
    account.answer(
        "application-autoscaling",
        "describe_scalable_targets",
        {
            "ScalableTargets": [
                target
                | {
                    "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
                    "MinCapacity": 1,
                    "MaxCapacity": 2,
                    "RoleARN": "arn:aws:iam::111122223333:role/aws-service-role/x",
                    "CreationTime": "2026-11-30T00:00:00Z",
                }
            ]
        },
        ServiceNamespace="sagemaker",
        ResourceIds=[resource],
    )
    account.answer(
        "application-autoscaling",
        "deregister_scalable_target",
        {},
        **target,
        ScalableDimension="sagemaker:variant:DesiredInstanceCount",
    )
    assert clear(account, delete=True) == 0
    account.all_asked()


def test_interfaces_of_agentcore_are_listed_and_left_alone(
    account: RecordedAccount, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody but AgentCore can give them back; a destroy that waits for them is no failure."""
    account.answer("ec2", "describe_vpcs", {"Vpcs": [{"VpcId": "vpc-1"}]})
    account.answer(
        "ec2",
        "describe_network_interfaces",
        {"NetworkInterfaces": [{"NetworkInterfaceId": "eni-1", "InterfaceType": "agentic_ai"}]},
    )
    assert clear(account, delete=True) == 0
    assert "eni-1" in capsys.readouterr().out


def test_a_refused_deletion_is_reported_and_the_others_go_on(
    account: RecordedAccount, capsys: pytest.CaptureFixture[str]
) -> None:
    arns = {
        f"arn:aws:ecr:{REGION}:111122223333:repository/voice-dev-{name}": name
        for name in ("first", "second", "third")
    }
    account.answer(
        "resourcegroupstaggingapi",
        "get_resources",
        {
            "ResourceTagMappingList": [
                {"ResourceARN": arn, "Tags": [{"Key": STACK_TAG, "Value": "voice-dev-images"}]}
                for arn in arns
            ]
        },
    )
    denied = "User: x is not authorized to perform: ecr:DeleteRepository on resource: y"
    account.fail("ecr", "delete_repository", "AccessDeniedException", denied)
    account.fail("ecr", "delete_repository", "RepositoryNotFoundException", "long gone")
    account.answer("ecr", "delete_repository", {}, repositoryName="voice-dev-third", force=True)
    assert clear(account, delete=True) == 1
    first, second, third = capsys.readouterr().out.splitlines()[:3]
    assert "permission ecr:DeleteRepository" in first
    assert second.endswith("already deleted")
    assert third.endswith(" – deleted")


def test_where_looking_is_refused_the_rest_goes_on(
    account: RecordedAccount, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipeline's role may lack one permission; "nothing left" would then be a guess."""
    denied = "User: x is not authorized to perform: tag:GetResources"
    account.fail("resourcegroupstaggingapi", "get_resources", "AccessDeniedException", denied)
    make_log_groups(account, OURS)
    assert clear(account, delete=True) == 1
    assert log_groups(account) == set()
    out = capsys.readouterr().out
    assert "the resources that a stack retained: could not be listed" in out
    assert "permission tag:GetResources" in out


def test_not_knowing_what_is_alive_nothing_is_deleted(account: RecordedAccount) -> None:
    make_log_groups(account, OURS)
    account.fail("cloudformation", "describe_stacks", "AccessDenied", "not authorized")
    with pytest.raises(ClientError):
        clear(account, delete=True)
    assert log_groups(account) == OURS


def test_a_resource_of_an_unknown_kind_is_never_deleted() -> None:
    orphan = with_deletion("arn:aws:kms:us-east-1:111122223333:key/1234", "tagged")
    assert (orphan.kind, orphan.operation) == ("kms key", "")


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("/aws/bedrock-agentcore/runtimes/voice_agent_dev-AbC0123xyZ-live", True),
        ("/aws/bedrock-agentcore/runtimes/voice_agent_dev-AbC0123xyZ", False),
        ("/aws/bedrock-agentcore/runtimes/voice_agent_devel-AbC0123xyZ-live", False),
        ("/aws/bedrock-agentcore/runtimes/my_voice_agent_dev-AbC0123xyZ-live", False),
    ],
)
def test_only_the_runtimes_own_logs_match(name: str, ours: bool) -> None:
    assert is_runtime_log(load("dev"), name) is ours
