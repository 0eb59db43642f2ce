"""docs/operations.md: its commands exist, and every alarm is in it."""

import re
import shlex
from pathlib import Path

import pytest

from ops import cost
from ops.__main__ import _gather, parser
from stacks.settings import Settings, environment_names, load
from stacks.settings.alarms import SPEECH_ALARMS
from tests.own_environments import SHIPPED

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs/operations.md").read_text()
COMMANDS = sorted(set(re.findall(r"python -m ops ([a-z]+ --env dev[^`\n]*)", DOCUMENT)))


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_are_understood(command: str) -> None:
    """A renamed option is found out at night, by whoever is on call."""
    assert parser().parse_args(shlex.split(command)).env == "dev"


def test_every_command_is_described() -> None:
    described = {command.split()[0] for command in COMMANDS}
    assert described == {"preflight", "smoke", "presign", "capacity", "cost", "orphans"}


def test_every_alarm_is_described() -> None:
    """Each is a row with what to do."""
    alarms = {alarm.metric for alarm in SPEECH_ALARMS}
    assert {"FirstAudio", "Errors", "MidStreamErrors"} <= alarms
    rows = re.findall(r"^\| \[?([\w-]+)", DOCUMENT, re.MULTILINE)
    names = {re.sub(r"\W", "", row).lower() for row in rows}
    assert {alarm.lower() for alarm in alarms} <= names
    for alarm in alarms:
        _, _, section = DOCUMENT.partition(f"\n### {alarm}\n")
        section = section.partition("\n#")[0]
        assert "**Meaning.**" in section, alarm
        assert "action.**" in section.lower(), alarm


def test_the_dashboards_graphs_are_called_by_their_names() -> None:
    source = (ROOT / "stacks/constructs/speech_monitoring.py").read_text()
    for title in re.findall(r'"((?:Open|Seconds)[^"\n]+)"', DOCUMENT):
        assert f'"{title}"' in source, title


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)", DOCUMENT):
        assert (ROOT / "docs" / target).exists(), target


def cost_row(settings: Settings) -> str:
    """The row of the table of costs, from what the command prints."""
    usage = _gather(cost.Usage, parser().parse_args(["cost", "--env", settings.name]))
    text = "\n".join(cost.lines(settings, None, usage))
    found = re.search(
        r"^speech   (\d.*?) to (\d.*?) × \S+ (.*), .* per hour.*\n"
        r" +(.*) per hour, (.*) per month.*\n.* minutes: (.*)$",
        text,
        re.MULTILINE,
    )
    assert found, (
        f"environments/{settings.name}.toml: there is no price for speech; add it to "
        f"ops/prices.toml:\n{text}"
    )
    low, high, how, *costs = found.groups()
    speech = settings.speech
    instances = f"{speech.instances.minimum} to {speech.instances.maximum} × {speech.instance_type}"
    if "averaged" in how:
        instances += f", {low} to {high} averaged over the schedule"
    return f"| {' | '.join([settings.name, instances, *costs])} |"


def test_the_costs_are_those_that_the_command_prints() -> None:
    """A table of prices is right on the day it is written."""
    _, _, table = DOCUMENT.partition("\n| environment | instances |")
    documented = table.partition("\n\n")[0].splitlines()[2:]
    rows = [cost_row(load(name, SHIPPED)) for name in environment_names(SHIPPED)]
    changes = [f"remove {row}" for row in documented if row not in rows]
    changes += [f"add    {row}" for row in rows if row not in documented]
    assert not changes, "\n".join(["correct the table of costs in docs/operations.md:", *changes])
    assert f"list prices of {cost.load_prices()['as_of']}" in DOCUMENT, (
        "correct the date of the list prices above the table of costs in docs/operations.md"
    )
