"""Checks the fields of AWS's cron expressions."""

import re
from dataclasses import dataclass

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")


@dataclass(frozen=True)
class _Field:
    """A field of a cron expression.

    Attributes:
        name: The name of the field.
        least: The least number.
        most: The greatest number.
        names: The names of the numbers, from `least` on.
        special: A pattern of the items that only this field accepts. By default, there are none.
    """

    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()
    special: str = r"(?!)"

    @property
    def accepted(self) -> str:
        """What the field accepts, in words."""
        names = f", {self.names[0]} to {self.names[-1]}" if self.names else ""
        return f"{self.least} to {self.most}{names} or *"

    def has(self, text: str) -> bool:
        """Return whether a text is a value of the field."""
        if text.upper() in self.names:
            return True
        return re.fullmatch(r"\d{1,4}", text, re.ASCII) is not None and (
            self.least <= int(text) <= self.most
        )

    def accepts(self, item: str) -> bool:
        """Return whether the field accepts one item of a list that commas separate."""
        if re.fullmatch(self.special, item, re.IGNORECASE):
            return True
        range_, slash, step = item.partition("/")
        if slash and not (re.fullmatch(r"\d{1,4}", step, re.ASCII) and int(step) > 0):
            return False
        first, dash, last = range_.partition("-")
        return range_ == "*" or (self.has(first) and (not dash or self.has(last)))


# The syntax is that of the EventBridge user guide, "Cron expressions reference". The Application
# Auto Scaling user guide describes the same fields.
_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day", 1, 31, special=r"\?|L(-([1-9]|[12]\d|30))?|LW|([1-9]|[12]\d|3[01])W"),
    _Field("month", 1, 12, _MONTHS),
    _Field("weekday", 1, 7, _DAYS, special=rf"\?|L|([1-7]|{'|'.join(_DAYS)})(L|#[1-5])"),
    _Field("year", 1970, 2199),
)


def cron_problem(cron: str) -> str | None:
    """Return what is wrong with `cron(minute hour day month weekday year)`, or None if it is valid.

    Args:
        cron: An expression with six fields, each separated from the next by one space.
    """
    texts = cron.removeprefix("cron(").removesuffix(")").split(" ")
    for field, text in zip(_FIELDS, texts, strict=True):
        for item in text.split(","):
            if not field.accepts(item):
                return f"{cron!r}: {field.name} {item!r} must be {field.accepted}"
    if (texts[2] == "?") == (texts[4] == "?"):
        return f"{cron!r}: exactly one of day and weekday must be `?`"
    return None
