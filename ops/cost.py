"""`cost`: estimates what an environment costs, from the list prices in `prices.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ops.schedule import NotWeeklyError, bounds
from stacks.names import CONTAINER_METRICS
from stacks.rollout import BAKE_S, START_S
from stacks.settings import Settings
from stacks.settings.alarms import SCALING_ALARMS, SPEECH_ALARMS
from stacks.settings.network import INTERFACE_ENDPOINTS
from stacks.settings.regions import profiled_model
from stacks.settings.speech import Speech

PRICES = Path(__file__).with_name("prices.toml")
HOURS_A_MONTH = 730
TURNS = 1000
NOT_INCLUDED = (
    "KMS keys",
    "CodeBuild minutes",
    "ECR storage",
    "ingestion and storage of logs",
    "data transfer",
)


@dataclass(frozen=True)
class Usage:
    """An average conversation.

    Attributes:
        turn_s: The length of a turn in seconds, from the prompt to the end of the pause after
            playback.
        turns: The number of turns, after which the session idles until its time-out.
        input_tokens: The tokens of a turn's system prompt, history and prompt.
        output_tokens: The tokens of a turn's reply.
        vcpu: The number of virtual CPUs that the agent uses.
        memory_gb: The memory that the agent's session uses, in GB.
    """

    turn_s: float
    turns: int
    input_tokens: int
    output_tokens: int
    vcpu: float
    memory_gb: float


def load_prices() -> dict[str, Any]:
    """Load the price table."""
    return tomllib.loads(PRICES.read_text())


def hourly_instances(settings: Settings) -> tuple[float, float]:
    """Return the weekly averages of the minimum and maximum number of instances.

    Raises:
        NotWeeklyError: A scheduled action does not repeat every week.
    """
    periods = bounds(settings.speech.instances, settings.speech.schedule)
    low = sum(share * minimum for share, minimum, _ in periods)
    return low, sum(share * maximum for share, _, maximum in periods)


def agentcore_usd(usage: Usage, idle_timeout_s: int, prices: dict[str, Any]) -> float:
    """Return the AgentCore cost of a thousand turns in USD.

    CPU is billed while it is in use. Memory is billed as long as the session lives, which is until
    the idle time-out after the last turn.
    """
    price = prices["agentcore"]
    conversations = TURNS / usage.turns
    turns_h = TURNS * usage.turn_s / 3600
    idle_h = conversations * idle_timeout_s / 3600
    memory_gb_h = (turns_h + idle_h) * usage.memory_gb
    return float(turns_h * usage.vcpu * price["vcpu_hour_usd"] + memory_gb_h * price["gb_hour_usd"])


def model_usd(usage: Usage, price: dict[str, Any]) -> float:
    """Return the Bedrock cost of a thousand turns in USD."""
    tokens = usage.input_tokens * price["input_usd"] + usage.output_tokens * price["output_usd"]
    return float(TURNS * tokens / 1_000_000)


def unpriced(settings: Settings) -> list[str]:
    """Return which of the instance type and the model have no price."""
    prices = load_prices()
    used = {"instances": settings.speech.instance_type, "models": settings.agent.model_id}
    return [name for table, name in used.items() if _price(prices[table], name) is None]


def lines(settings: Settings, region: str | None, usage: Usage) -> list[str]:
    """Return the cost estimate, with the calculation.

    An instance type or a model without a price is named in place of its cost.
    """
    prices = load_prices()
    speech = settings.speech
    instance = _price(prices["instances"], speech.instance_type)
    try:
        low, high = hourly_instances(settings)
        how = "averaged over the schedule" if speech.schedule else "all week"
    except NotWeeklyError as error:
        low, high = float(speech.instances.minimum), float(speech.instances.maximum)
        how = f"without the schedule, because {error} does not repeat weekly"
    fleet = f"speech   {low:.2f} to {high:.2f} × {speech.instance_type} {how}"
    model = _price(prices["models"], settings.agent.model_id)
    agentcore = prices["agentcore"]
    idle_s = settings.agent.idle_timeout_s
    return [
        f"{settings.name}: list prices of {prices['as_of']} in {prices['region']}, USD"
        + ("" if region in (None, prices["region"]) else f"; the prices in {region} differ"),
        "(*: not checked against AWS's price list; sources in ops/prices.toml)",
        "",
        *(_speech(speech, fleet, low, high, instance) if instance else [f"{fleet}: no price"]),
        *_fixed(settings, prices["fixed"]),
        f"agent    {agentcore_usd(usage, idle_s, prices):.2f} per {TURNS} turns: {TURNS} × "
        f"{usage.turn_s:.0f} s × ({usage.vcpu} vCPU × {agentcore['vcpu_hour_usd']} + "
        f"{usage.memory_gb} GB × {agentcore['gb_hour_usd']}) per hour, and after "
        f"every {usage.turns} turns {idle_s} s idle × {usage.memory_gb} GB"
        f"{_star(agentcore)}",
        f"model    {model_usd(usage, model):.2f} per {TURNS} turns: {TURNS} × "
        f"({usage.input_tokens} × {model['input_usd']} + {usage.output_tokens} × "
        f"{model['output_usd']}) per million tokens{_star(model)}"
        if model
        else f"model    {settings.agent.model_id}: no price",
        f"not included: {', '.join(NOT_INCLUDED)}",
    ]


def rollout_s(speech: Speech) -> int:
    """Return the seconds for which a rollout runs the old and the new instances.

    The new instances start, the alarms watch them (with a canary, twice), and then the old ones
    wait for their sessions.
    """
    bakes = 2 if speech.fewest_instances > 1 else 1
    return START_S + bakes * BAKE_S + speech.termination_wait_s


def _speech(
    speech: Speech, fleet: str, low: float, high: float, instance: dict[str, Any]
) -> list[str]:
    usd = instance["usd"]
    extra_h = rollout_s(speech) / 3600
    return [
        f"{fleet}, {usd:.4f} per hour{_star(instance)}",
        f"         {low * usd:.2f} to {high * usd:.2f} per hour, "
        f"{_month(low * usd)} to {_month(high * usd)} per month ({HOURS_A_MONTH} hours)",
        f"         each rollout runs both fleets for about {60 * extra_h:.0f} minutes: "
        f"{low * usd * extra_h:.2f} to {high * usd * extra_h:.2f}",
    ]


def _fixed(settings: Settings, fixed: dict[str, Any]) -> list[str]:
    usd = (
        fixed["dashboard_usd"]
        + (len(SPEECH_ALARMS) + SCALING_ALARMS) * fixed["alarm_usd"]
        + len(CONTAINER_METRICS) * fixed["metric_usd"]
    )
    rows = [f"monitor  {usd:.2f} per month: dashboard, alarms, custom metrics{_star(fixed)}"]
    if settings.network is not None:
        endpoints, zones = len(INTERFACE_ENDPOINTS), len(settings.network.az_ids)
        hourly = endpoints * zones * fixed["interface_endpoint_hour_usd"]
        rows.append(
            f"network  {hourly:.2f} per hour, {_month(hourly)} per month: {endpoints} interface "
            f"endpoints in {zones} zones{_star(fixed)}"
        )
    return rows


def _price(table: dict[str, Any], name: str) -> dict[str, Any] | None:
    # An inference profile costs the same as its model.
    return table.get(name) or table.get(profiled_model(name) or "")


def _month(hourly_usd: float) -> str:
    return f"{hourly_usd * HOURS_A_MONTH:,.0f}"


def _star(entry: dict[str, Any]) -> str:
    return "" if entry["verified"] else "*"
