"""Checks whether Bedrock serves the agent's model to this account.

Amazon Bedrock API reference: GetInferenceProfile, GetFoundationModel,
GetFoundationModelAvailability, GetUseCaseForModelAccess.
"""

from collections.abc import Iterator
from typing import Any

from ops.aws import Account
from ops.findings import Finding
from stacks.settings.regions import profiled_model


def check_model(account: Account) -> Iterator[Finding]:
    """Check whether the model is offered, streams its replies and may be used."""
    model_id = account.settings.agent.model_id
    subject = f"Bedrock model {model_id}"
    bedrock = account.client("bedrock")
    routed_model_id = profiled_model(model_id)
    try:
        if routed_model_id:
            bedrock.get_inference_profile(inferenceProfileIdentifier=model_id)
        else:
            model = bedrock.get_foundation_model(modelIdentifier=model_id)["modelDetails"]
            yield from _model_findings(subject, model)
        available = bedrock.get_foundation_model_availability(modelId=routed_model_id or model_id)
    except (
        bedrock.exceptions.ResourceNotFoundException,
        bedrock.exceptions.ValidationException,
    ):
        yield Finding(
            "problem",
            subject,
            f"is not offered in {account.region}",
            "set agent.model_id to one of `aws bedrock list-inference-profiles` or "
            "`aws bedrock list-foundation-models`",
        )
        return
    # The form is checked first: until it is sent, Bedrock refuses the agreement as well.
    wants_form = ".anthropic." in f".{model_id}" and not _has_use_case(bedrock)
    if wants_form:
        yield Finding(
            "problem",
            subject,
            "Anthropic's use-case form has not been sent for this account",
            "send it once: open the model in the model catalog of the Bedrock console, or run "
            "`aws bedrock put-use-case-for-model-access`",
        )
    # A profile also serves Regions that have no copy of the model.
    missing = refusals(available, other_regions=bool(routed_model_id))
    if missing:
        yield Finding(
            "problem",
            subject,
            ", ".join(missing),
            "ask the administrator of Bedrock: a principal with Marketplace permissions, which the "
            "agent does not have, must call the model once, or a service control policy forbids it",
        )
    if not (wants_form or missing):
        yield Finding("ok", subject, "can be used")


def refusals(available: dict[str, Any], *, other_regions: bool) -> list[str]:
    """Return the reasons that `GetFoundationModelAvailability` gives against using a model.

    Args:
        available: The response of the call.
        other_regions: Whether an inference profile routes to the model in other Regions.
    """
    states = {
        "authorization": (available["authorizationStatus"], "AUTHORIZED"),
        "entitlement": (available["entitlementAvailability"], "AVAILABLE"),
        "agreement": (available["agreementAvailability"]["status"], "AVAILABLE"),
    }
    if not other_regions:
        states["Region"] = (available["regionAvailability"], "AVAILABLE")
    return [f"{name} is {state}" for name, (state, good) in states.items() if state != good]


def _model_findings(subject: str, model: dict[str, Any]) -> Iterator[Finding]:
    if not model["responseStreamingSupported"]:
        yield Finding("problem", subject, "does not stream its replies", "choose a model that does")
    if "ON_DEMAND" not in model["inferenceTypesSupported"]:
        yield Finding(
            "problem",
            subject,
            "is available through inference profiles only",
            "put the scope of a profile before the id, such as global. or us.",
        )
    lifecycle = model["modelLifecycle"]
    if lifecycle["status"] == "LEGACY":
        end = lifecycle.get("endOfLifeTime", "an unknown date")
        yield Finding(
            "warning", subject, f"is legacy; its support ends at {end}", "move to a newer model"
        )


def _has_use_case(bedrock: Any) -> bool:
    try:
        bedrock.get_use_case_for_model_access()
    except bedrock.exceptions.ResourceNotFoundException:
        return False
    return True
