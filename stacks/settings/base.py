"""The base class of all settings models, which refuses unknown keys."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A model that refuses unknown keys, converts no types and cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def example_text(example: str, quote: str) -> str:
    """Return an example in quotes; the digits of a digest are described, not printed.

    Args:
        example: The value that is shown.
        quote: The quotation mark, before and after it.
    """
    name, marker, digits = example.partition("@sha256:")
    described = f" and {len(digits)} hexadecimal digits" if digits else ""
    return f"{quote}{name}{marker}{quote}{described}"


class Misfit(ValueError):
    """A combination of values that is not allowed, although each value is.

    Args:
        key: The key to change, relative to the model that raises the error.
        message: The message, which says what is accepted.
    """

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key
