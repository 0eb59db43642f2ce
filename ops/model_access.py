"""Whether Bedrock serves the agent's model to this account.

Amazon Bedrock API reference: GetInferenceProfile, GetFoundationModel,
GetFoundationModelAvailability, GetUseCaseForModelAccess.
"""

from collections.abc import Iterator
from typing import Any

from ops.aws import Account
from ops.findings import Finding
from stacks.settings.regions import profiled_model


def check_model(account: Account) -> Iterator[Finding]:
    """Whether the model is offered, streams, and may be used."""
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
    # Asked for first: until it is sent, the agreement is refused as well, and for that reason.
    wants_form = ".anthropic." in f".{model_id}" and not _has_use_case(bedrock)
    if wants_form:
        yield Finding(
            "problem",
            subject,
            "Anthropic's use-case form has not been sent for this account",
            "once: open the model in the Bedrock console's model catalog, or "
            "`aws bedrock put-use-case-for-model-access`",
        )
    # A profile serves Regions that have no copy of the model.
    missing = refusals(available, other_regions=bool(routed_model_id))
    if missing:
        yield Finding(
            "problem",
            subject,
            ", ".join(missing),
            "ask who administers Bedrock: somebody with Marketplace permissions, which the agent "
            "has not, calls the model once; or a service control policy forbids it",
        )
    if not (wants_form or missing):
        yield Finding("ok", subject, "may be used")


def refusals(available: dict[str, Any], *, other_regions: bool) -> list[str]:
    """What `GetFoundationModelAvailability` says against using a model.

    Args:
        available: The response.
        other_regions: Whether the model is reached in other Regions, through a profile.
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
        yield Finding("problem", subject, "does not stream", "choose a model that does")
    if "ON_DEMAND" not in model["inferenceTypesSupported"]:
        yield Finding(
            "problem",
            subject,
            "is served through inference profiles only",
            "put a profile's scope before it, such as global. or us.",
        )
    lifecycle = model["modelLifecycle"]
    if lifecycle["status"] == "LEGACY":
        end = lifecycle.get("endOfLifeTime", "an unknown date")
        yield Finding("warning", subject, f"is legacy and ends at {end}", "move to a newer model")


def _has_use_case(bedrock: Any) -> bool:
    try:
        bedrock.get_use_case_for_model_access()
    except bedrock.exceptions.ResourceNotFoundException:
        return False
    return True
