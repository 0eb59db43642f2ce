"""Converters for the values of command-line options.

Every converter raises `argparse.ArgumentTypeError` if the value is wrong. The message contains the
value and what is accepted, and argparse adds the name of the option.
"""

import argparse
import functools
import math
import re

from voice_agent_client.addresses import check_session_id


def whole(text: str, *, least: int, most: int | None = None) -> int:
    """Convert a whole number from `least` to `most`."""
    value = int(text) if re.fullmatch(r"[+-]?[0-9]{1,9}", text) else None
    if value is None or value < least or (most is not None and value > most):
        accepted = f"of {least} or more" if most is None else f"from {least} to {most}"
        raise argparse.ArgumentTypeError(f"{text!r}: must be a whole number {accepted}")
    return value


def number(text: str, *, above: float | None = None) -> float:
    """Convert a finite number above `above`, or of 0 or more."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    fits = value >= 0 if above is None else value > above
    if not (math.isfinite(value) and fits):
        accepted = "of 0 or more" if above is None else f"above {above:g}"
        raise argparse.ArgumentTypeError(f"{text!r}: must be a number {accepted}")
    return value


def fraction(text: str) -> float:
    """Convert a number between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be a number above 0 and below 1, such as 0.4"
        )
    return value


def ladder(text: str) -> list[int]:
    """Convert increasing whole numbers that are separated by commas."""
    steps = [int(step) if step.isdecimal() else 0 for step in text.split(",")]
    if steps != sorted(set(steps)) or steps[0] < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r}: must be increasing whole numbers of 1 or more, such as 1,2,4"
        )
    return steps


def matching(text: str, *, pattern: str, accepted: str) -> str:
    """Accept a text that matches `pattern`."""
    if not re.fullmatch(pattern, text):
        raise argparse.ArgumentTypeError(f"{text!r}: must be {accepted}")
    return text


def session(text: str) -> str:
    """Accept a session id of a valid length."""
    try:
        check_session_id(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
    return text


region = functools.partial(
    matching, pattern=r"[a-z]{2}(-[a-z]+)+-[0-9]", accepted="an AWS Region, such as eu-central-1"
)
endpoint = functools.partial(
    matching,
    pattern=r"[A-Za-z0-9](-*[A-Za-z0-9]){0,62}",
    accepted="a SageMaker endpoint's name: 1 to 63 letters, digits and hyphens",
)
qualifier = functools.partial(
    matching,
    pattern=r"[A-Za-z][A-Za-z0-9_]{0,47}",
    accepted="the name of a runtime endpoint: a letter, then up to 47 letters, digits and _",
)
count = functools.partial(whole, least=1)
seconds = functools.partial(number, above=0)
