"""Calculates the instance bounds of an environment over a week from its scheduled actions."""

import re
from collections.abc import Sequence
from itertools import pairwise

from stacks.settings.speech import Instances, Schedule

MINUTES_A_WEEK = 7 * 24 * 60
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")  # 1 to 7 in AWS's cron expressions


class NotWeeklyError(ValueError):
    """A cron expression does not repeat every week."""


def moments(cron: str) -> list[int]:
    """Return the minutes of a week at which a cron expression fires.

    They are counted from midnight at the start of Sunday, in the time zone of the expression.

    Args:
        cron: `cron(minute hour day-of-month month day-of-week year)` (Application Auto Scaling
            user guide, "Schedule recurring scaling actions using cron expressions").

    Raises:
        NotWeeklyError: The expression depends on the date, or its syntax is not supported here.
    """
    weekly = re.fullmatch(r"cron\((\d+) (\d+(?:,\d+)*) [*?] \* (\S+) \*\)", cron)
    if weekly is None:
        raise NotWeeklyError(cron)
    minute, hours, weekdays = weekly.groups()
    return sorted(
        (weekday * 24 + int(hour)) * 60 + int(minute)
        for weekday in _weekdays(weekdays, cron)
        for hour in hours.split(",")
    )


def bounds(instances: Instances, actions: Sequence[Schedule]) -> list[tuple[float, int, int]]:
    """Return the periods of a week, each as its share of the week, minimum and maximum.

    The shares add up to 1. All actions are assumed to be in one time zone.

    Raises:
        NotWeeklyError: An action does not repeat every week.
    """
    changes = sorted(
        (moment, action.minimum, action.maximum)
        for action in actions
        for moment in moments(action.cron)
    )
    if not changes:
        return [(1.0, instances.minimum, instances.maximum)]
    next_week = (changes[0][0] + MINUTES_A_WEEK, 0, 0)
    return [
        ((end - moment) / MINUTES_A_WEEK, minimum, maximum)
        for (moment, minimum, maximum), (end, _, _) in pairwise([*changes, next_week])
    ]


def _weekdays(field: str, cron: str) -> list[int]:
    if field in "*?":
        return list(range(7))
    days: set[int] = set()
    for item in field.upper().split(","):
        first, _, last = item.partition("-")
        try:
            start, end = _weekday(first), _weekday(last or first)
        except ValueError:
            raise NotWeeklyError(cron) from None
        days.update(range(start, end + 1) if start <= end else [*range(start, 7), *range(end + 1)])
    return sorted(days)


def _weekday(name: str) -> int:
    return int(name) - 1 if name.isdigit() and 1 <= int(name) <= 7 else _DAYS.index(name)
