"""`ops cost`: the arithmetic, and that every figure has its date and source."""

import datetime as dt

import pytest

from ops import cost
from ops.__main__ import main
from stacks.settings import environment_names, load
from stacks.settings.speech import Schedule
from tests.own_environments import SHIPPED

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
    assert cost.unpriced(settings) == []
    assert "per million tokens" in "\n".join(cost.lines(settings, None, USAGE))
    agent = settings.agent.model_copy(update={"model_id": "global.somebody.new-v1:0"})
    settings = settings.model_copy(update={"agent": agent})
    assert cost.unpriced(settings) == ["global.somebody.new-v1:0"]
    assert "model    global.somebody.new-v1:0: no price" in cost.lines(settings, None, USAGE)


def test_without_a_price_the_rest_is_printed_and_the_command_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Half an estimate is of use, unless it is taken for a whole one."""
    settings = load("dev")
    speech = settings.speech.model_copy(update={"instance_type": "ml.c7i.8xlarge"})
    settings = settings.model_copy(update={"speech": speech})
    monkeypatch.setattr("ops.__main__.load", lambda _: settings)
    assert main(["cost", "--env", "dev"]) == 1
    captured = capsys.readouterr()
    assert "ml.c7i.8xlarge all week: no price" in captured.out
    assert "per million tokens" in captured.out
    error, next_step = captured.err.splitlines()
    assert error.startswith("error: ops/prices.toml has no price for ml.c7i.8xlarge")
    assert next_step == "→ add the price there, with its source"


def test_a_rollout_costs_its_start_its_observation_and_its_wait() -> None:
    dev, prod = load("dev").speech, load("prod").speech
    assert cost.rollout_s(dev) == 320 + 600 + 1800
    assert cost.rollout_s(prod) == 320 + 2 * 600 + 1800  # a canary is observed first


def test_what_is_left_out_is_said() -> None:
    assert cost.lines(load("dev"), None, USAGE)[-1].startswith("not included: KMS keys, ")


def test_a_date_dependent_schedule_is_left_out_and_reported() -> None:
    settings = load("dev")
    actions = (Schedule(name="newyear", cron="cron(0 7 1 1 ? *)", minimum=2, maximum=2),)
    speech = settings.speech.model_copy(update={"schedule": actions})
    text = "\n".join(cost.lines(settings.model_copy(update={"speech": speech}), None, USAGE))
    assert "without the schedule" in text


def test_every_environments_costs_can_be_estimated() -> None:
    """An instance type without a price would be found out by the first who asks."""
    for name in environment_names(SHIPPED):
        settings = load(name, SHIPPED)
        assert cost.lines(settings, "us-east-1", USAGE)
        unpriced = " and ".join(cost.unpriced(settings))
        assert not unpriced, f"environments/{name}.toml: add {unpriced} to ops/prices.toml"


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
