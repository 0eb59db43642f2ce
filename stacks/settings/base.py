"""The base class of all settings models, which refuses unknown keys."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A model that refuses unknown keys, converts no types and cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Misfit(ValueError):
    """A combination of values that is not allowed, although each value is.

    Args:
        key: The key to change, relative to the model that raises the error.
        message: The message, which says what is accepted.
    """

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key
