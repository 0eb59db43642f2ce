"""The base class of all settings models, which refuses unknown keys."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator


@dataclass(frozen=True)
class Misfit:
    """A combination of values that is not allowed, although each value is.

    Attributes:
        key: The key to change, relative to the model that finds the misfit.
        message: The message, which says what is accepted.
    """

    key: str
    message: str


class MisfitsError(ValueError):
    """All misfits of one model."""

    def __init__(self, misfits: list[Misfit]) -> None:
        super().__init__("; ".join(f"{misfit.key}: {misfit.message}" for misfit in misfits))
        self.misfits = misfits


class Model(BaseModel):
    """A model that refuses unknown keys, converts no types and cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def misfits(self) -> Iterator[Misfit]:
        """Yield the values that do not fit together; they are reported in one error."""
        yield from ()

    @model_validator(mode="after")
    def _all_fit(self) -> Self:
        if found := list(self.misfits()):
            raise MisfitsError(found)
        return self


def example_text(example: str, quote: str) -> str:
    """Return an example in quotes; the digits of a digest are described, not printed.

    Args:
        example: The value that is shown.
        quote: The quotation mark, before and after it.
    """
    name, marker, digits = example.partition("@sha256:")
    described = f" and {len(digits)} hexadecimal digits" if digits else ""
    return f"{quote}{name}{marker}{quote}{described}"
