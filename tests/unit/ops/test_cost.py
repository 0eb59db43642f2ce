"""`ops cost`: the arithmetic, and that every figure has its date and source."""

import datetime as dt

import pytest

from ops import cost
from ops.aws import OpsError
from stacks.settings import ENVIRONMENTS, load
from stacks.settings.speech import Schedule

USAGE = cost.Usage(
    turn_s=36,
    turns=10,
    input_tokens=1000,
    output_tokens=100,
    vcpu=0.5,
    memory_gb=1.0,
)


def test_a_month_is_the_price_times_the_hours() -> None:
    settings = load("prod")
    text = "\n".join(cost.lines(settings, "us-east-1", USAGE))
    price = cost.load_prices()["instances"]["ml.g5.xlarge"]["usd"]
    assert f"{2 * price * 730:,.0f} to {8 * price * 730:,.0f} per month" in text


def test_a_thousand_turns() -> None:
    prices = {"agentcore": {"vcpu_hour_usd": 0.1, "gb_hour_usd": 0.01}}
    # 10 h of turns; 100 conversations idle for 0.25 h each: 25 h more of memory.
    assert cost.agentcore_usd(USAGE, 900, prices) == pytest.approx(10 * 0.5 * 0.1 + 35 * 0.01)
    # A million tokens in, 100 000 out.
    price = {"input_usd": 0.3, "output_usd": 2.5}
    assert cost.model_usd(USAGE, price) == pytest.approx(0.3 + 0.25)


def test_a_profile_costs_what_its_model_does_and_unknown_ones_are_not_guessed() -> None:
    settings = load("dev")
    assert settings.agent.model_id.startswith("global.")
    assert "model " in cost.lines(settings, None, USAGE)[-1]
    agent = settings.agent.model_copy(update={"model_id": "global.somebody.new-v1:0"})
    with pytest.raises(OpsError, match=r"prices\.toml"):
        cost.lines(settings.model_copy(update={"agent": agent}), None, USAGE)


def test_a_date_dependent_schedule_is_left_out_and_reported() -> None:
    settings = load("dev")
    actions = (Schedule(name="newyear", cron="cron(0 7 1 1 ? *)", minimum=2, maximum=2),)
    speech = settings.speech.model_copy(update={"schedule": actions})
    text = "\n".join(cost.lines(settings.model_copy(update={"speech": speech}), None, USAGE))
    assert "without the schedule" in text


def test_every_environments_costs_can_be_estimated() -> None:
    """An instance type without a price would be found out by the first who asks."""
    for path in ENVIRONMENTS.glob("*.toml"):
        assert cost.lines(load(path.stem), "us-east-1", USAGE)


def test_prices_are_dated_and_marked() -> None:
    """A price without a date is taken for today's, and a marked one for checked."""
    prices = cost.load_prices()
    assert isinstance(prices["as_of"], dt.date)
    for table in ("instances", "models"):
        assert all("verified" in entry for entry in prices[table].values())
    text = "\n".join(cost.lines(load("dev"), "eu-central-1", USAGE))
    assert str(prices["as_of"]) in text
    assert "the prices in eu-central-1 differ" in text
    assert "*" in text
