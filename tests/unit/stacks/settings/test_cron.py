"""Cron expressions: what AWS accepts, and what is wrong with the others."""

import pytest

from stacks.settings.cron import cron_problem


@pytest.mark.parametrize(
    "fields",
    [
        "0 7 ? * MON-FRI *",
        "0 19 ? * * *",
        "0/15 8-17 ? * MON,WED,fri *",
        "*/5 * * * ? *",
        "0 0 1 1 ? 1970-2199",
        "59 23 31 DEC ? 2030",
        "0 8 L * ? *",
        "0 8 LW * ? *",
        "0 8 3W * ? *",
        "0 8 ? * 2#1 *",
        "0 8 ? * FRIL *",
        "0 8 ? JAN,JUL 7 *",
        "0 8 ? * SAT-SUN *",
    ],
)
def test_what_aws_accepts_is_accepted(fields: str) -> None:
    """Guards against a check that refuses the examples of AWS's user guides."""
    assert cron_problem(f"cron({fields})") is None


@pytest.mark.parametrize(
    ("fields", "mention"),
    [
        ("60 7 ? * * *", "minute '60' must be 0 to 59 or *"),
        ("-1 7 ? * * *", "minute '-1'"),
        ("0 24 ? * * *", "hour '24' must be 0 to 23 or *"),
        ("0 7 0 * ? *", "day '0' must be 1 to 31 or *"),
        ("0 7 32W * ? *", "day '32W'"),
        ("0 7 ? 13 * *", "month '13' must be 1 to 12, JAN to DEC or *"),
        ("0 7 ? JANUARY * *", "month 'JANUARY'"),
        ("0 7 ? * 0 *", "weekday '0' must be 1 to 7, SUN to SAT or *"),
        ("0 7 ? * MON-XYZ *", "weekday 'MON-XYZ'"),
        ("0 7 ? * MON, *", "weekday ''"),
        ("0 7 ? * 2#6 *", "weekday '2#6'"),
        ("0 7 ? * * 26", "year '26' must be 1970 to 2199 or *"),
        ("0/0 7 ? * * *", "minute '0/0'"),
        ("? 7 ? * * *", "minute '?'"),
        ("٣ 7 ? * * *", "minute '٣'"),
        ("0 7 * * * *", "exactly one of day and weekday must be `?`"),
        ("0 7 ? * ? *", "exactly one of day and weekday must be `?`"),
    ],
)
def test_the_wrong_field_is_named_with_its_range(fields: str, mention: str) -> None:
    """Guards against a schedule that AWS refuses minutes into a deploy."""
    assert f"'cron({fields})': {mention}" in str(cron_problem(f"cron({fields})"))
