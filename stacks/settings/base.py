"""What the models of settings share."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Unknown keys are errors, types are not converted, nothing changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Misfit(ValueError):
    """Values that are each allowed but do not go together.

    Args:
        key: The key to change, relative to the model that finds out.
        message: The message: what is accepted.
    """

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key
