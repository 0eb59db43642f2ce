"""The bodies of the stand-ins' own routes, `/local/…`, which steer them from tests and commands."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class ControlError(ValueError):
    """A body is not accepted; the text names the field, its value and what is accepted."""


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Nothing(_Body):
    """The body of a route that takes none: `{}`."""


class Fault(_Body):
    """What the next bidirectional stream fails with."""

    error: Literal[
        "InternalServerError",
        "ServiceUnavailableError",
        "InternalStreamFailure",
        "ModelStreamError",
    ]


class Script(_Body):
    """What the model says from now on.

    Attributes:
        text: Exactly this; None for the replies by keyword again.
        error_after_tokens: After so many tokens the stream breaks with a
            `modelStreamErrorException`; 0 refuses the request with `ThrottlingException`.
    """

    text: Annotated[str, Field(min_length=1)] | None = None
    error_after_tokens: Annotated[int, Field(ge=0)] | None = None


class Pace(_Body):
    """How fast the model writes; what is absent stays as it is."""

    first_token_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    tokens_per_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None


def parse_body[B: BaseModel](kind: type[B], body: bytes) -> B:
    """Read a JSON body.

    Raises:
        ControlError: It is no JSON object of that kind.
    """
    try:
        return kind.model_validate_json(body or b"{}")
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(part) for part in problem['loc']) or 'body'}: {problem['msg']}, "
            f"got {problem['input']!r:.100}"
            for problem in error.errors(include_url=False)
        ]
        raise ControlError("; ".join(problems)) from error
