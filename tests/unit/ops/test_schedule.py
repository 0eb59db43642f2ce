"""The instance bounds over a week: when an action fires, and how long its bounds hold."""

import pytest

from ops.schedule import NotWeeklyError, bounds, moments
from stacks.settings.speech import Instances, Schedule

HOUR = 60
DAY = 24 * HOUR


def action(name: str, cron: str, minimum: int, maximum: int) -> Schedule:
    return Schedule(name=name, cron=cron, minimum=minimum, maximum=maximum)


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("cron(0 7 ? * MON *)", [DAY + 7 * HOUR]),
        ("cron(30 7 ? * 2 *)", [DAY + 7 * HOUR + 30]),
        ("cron(0 7 ? * MON-WED *)", [day * DAY + 7 * HOUR for day in (1, 2, 3)]),
        ("cron(0 7 ? * FRI-MON *)", [day * DAY + 7 * HOUR for day in (0, 1, 5, 6)]),
        (
            "cron(0 6,18 ? * SUN,SAT *)",
            [day * DAY + hour * HOUR for day in (0, 6) for hour in (6, 18)],
        ),
        ("cron(0 0 * * ? *)", [day * DAY for day in range(7)]),
    ],
)
def test_a_weekly_cron_fires_when_aws_says(cron: str, expected: list[int]) -> None:
    """AWS counts days from Sunday as 1, other crons from Sunday as 0."""
    assert moments(cron) == expected


@pytest.mark.parametrize(
    "cron",
    [
        "cron(0 7 1 * ? *)",
        "cron(0 7 ? 12 MON *)",
        "cron(0 7 ? * MON 2027)",
        "cron(0/5 7 ? * MON *)",
        "cron(0 * ? * MON *)",
        "cron(0 7 ? * MON#1 *)",
        "cron(0 7 ? * 8 *)",
    ],
)
def test_what_is_not_weekly_is_not_guessed(cron: str) -> None:
    with pytest.raises(NotWeeklyError):
        moments(cron)


def test_bounds_hold_until_the_next_action_and_over_the_weeks_end() -> None:
    """From Friday evening to Monday morning the night's bounds hold, across Sunday's midnight."""
    actions = (
        action("morning", "cron(0 7 ? * MON-FRI *)", 2, 4),
        action("evening", "cron(0 19 ? * MON-FRI *)", 1, 2),
    )
    periods = bounds(Instances(minimum=9, maximum=9), actions)
    assert sum(share for share, _, _ in periods) == pytest.approx(1.0)
    by_day = 5 * 12 / (7 * 24)
    assert sum(share for share, low, _ in periods if low == 2) == pytest.approx(by_day)
    assert sum(share * high for share, _, high in periods) == pytest.approx(2 + 2 * by_day)
