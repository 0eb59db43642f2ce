"""Access to the agent's model: what Bedrock refuses is found before the first conversation."""

import datetime as dt
from collections.abc import Iterator

import pytest
from moto import mock_aws

from ops.findings import Finding
from ops.model_access import check_model, refusals
from stacks.settings import load
from tests.recorded import RecordedAccount


@pytest.fixture
def account() -> Iterator[RecordedAccount]:
    with mock_aws():
        yield RecordedAccount(load("staging"))


def verdicts(findings: Iterator[Finding]) -> list[str]:
    return [finding.verdict for finding in findings]


def available(**changes: object) -> dict[str, object]:
    return {
        "modelId": "amazon.nova-2-lite-v1:0",
        "agreementAvailability": {"status": "AVAILABLE"},
        "authorizationStatus": "AUTHORIZED",
        "entitlementAvailability": "AVAILABLE",
        "regionAvailability": "AVAILABLE",
    } | changes


def profile(model_id: str) -> dict[str, object]:
    now = dt.datetime(2026, 11, 30, tzinfo=dt.UTC)
    return {
        "inferenceProfileName": "Global",
        "createdAt": now,
        "updatedAt": now,
        "inferenceProfileArn": f"arn:aws:bedrock:us-east-1::inference-profile/{model_id}",
        "models": [{"modelArn": "arn:aws:bedrock:::foundation-model/amazon.nova-2-lite-v1:0"}],
        "inferenceProfileId": model_id,
        "status": "ACTIVE",
        "type": "SYSTEM_DEFINED",
    }


def with_model(account: RecordedAccount, model_id: str) -> RecordedAccount:
    agent = account.settings.agent.model_copy(update={"model_id": model_id})
    account.settings = account.settings.model_copy(update={"agent": agent})
    return account


def test_a_profile_that_exists_may_be_used(account: RecordedAccount) -> None:
    """The profile's id is asked for as it is, the model's availability without the scope."""
    model_id = "global.amazon.nova-2-lite-v1:0"
    account.answer(
        "bedrock",
        "get_inference_profile",
        profile(model_id),
        inferenceProfileIdentifier=model_id,
    )
    account.answer(
        "bedrock",
        "get_foundation_model_availability",
        available(regionAvailability="NOT_AVAILABLE"),
        modelId="amazon.nova-2-lite-v1:0",
    )
    assert verdicts(check_model(with_model(account, model_id))) == ["ok"]
    account.all_asked()


def test_a_model_the_region_lacks_is_named(account: RecordedAccount) -> None:
    account.fail("bedrock", "get_inference_profile", "ResourceNotFoundException")
    (finding,) = check_model(account)
    assert finding.verdict == "problem"
    assert "us-east-1" in finding.detail
    assert "agent.model_id" in finding.next_step


def test_anthropic_wants_its_form_once(account: RecordedAccount) -> None:
    """Without it the first conversation fails, not the deploy."""
    model_id = "global.anthropic.claude-haiku-4-5-20251001-v1:0"
    for form in ("missing", "sent"):
        account.answer("bedrock", "get_inference_profile", profile(model_id))
        account.answer("bedrock", "get_foundation_model_availability", available())
        if form == "sent":
            answer = {"formData": b"{'companyName': 'x'}"}
            account.answer("bedrock", "get_use_case_for_model_access", answer)
        else:
            error = "ResourceNotFoundException"
            account.fail("bedrock", "get_use_case_for_model_access", error)
    account = with_model(account, model_id)
    (finding,) = check_model(account)
    assert finding.verdict == "problem"
    assert "put-use-case-for-model-access" in finding.next_step
    assert verdicts(check_model(account)) == ["ok"]


def test_a_new_account_learns_of_the_form_and_of_the_agreement(account: RecordedAccount) -> None:
    """Told of the agreement alone, its administrators look for a subscription that cannot be."""
    model_id = "global.anthropic.claude-haiku-4-5-20251001-v1:0"
    account.answer("bedrock", "get_inference_profile", profile(model_id))
    refused = available(agreementAvailability={"status": "NOT_AVAILABLE"})
    account.answer("bedrock", "get_foundation_model_availability", refused)
    account.fail("bedrock", "get_use_case_for_model_access", "ResourceNotFoundException")
    form, agreement = check_model(with_model(account, model_id))
    assert form.verdict == agreement.verdict == "problem"
    assert "put-use-case-for-model-access" in form.next_step
    assert "Marketplace" in agreement.next_step


def test_a_model_served_through_profiles_only_is_a_problem(account: RecordedAccount) -> None:
    details = {
        "modelArn": "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-2-lite-v1:0",
        "modelId": "amazon.nova-2-lite-v1:0",
        "responseStreamingSupported": True,
        "inferenceTypesSupported": [],
        "modelLifecycle": {"status": "LEGACY"},
    }
    account.answer("bedrock", "get_foundation_model", {"modelDetails": details})
    account.answer("bedrock", "get_foundation_model_availability", available())
    findings = list(check_model(with_model(account, "amazon.nova-2-lite-v1:0")))
    assert verdicts(iter(findings)) == ["problem", "warning", "ok"]
    assert "global." in findings[0].next_step


def test_each_refusal_of_a_model_is_listed() -> None:
    refused = available(
        authorizationStatus="NOT_AUTHORIZED",
        entitlementAvailability="NOT_AVAILABLE",
        agreementAvailability={"status": "PENDING"},
        regionAvailability="NOT_AVAILABLE",
    )
    assert refusals(refused, other_regions=False) == [
        "authorization is NOT_AUTHORIZED",
        "entitlement is NOT_AVAILABLE",
        "agreement is PENDING",
        "Region is NOT_AVAILABLE",
    ]
    assert len(refusals(refused, other_regions=True)) == 3
