"""The bodies of the routes `/local/…`, with which tests and commands control the stand-ins."""

from pydantic import BaseModel, ConfigDict, ValidationError


class ControlError(ValueError):
    """A body is not accepted. The message names the field, its value and what is accepted."""


class ControlBody(BaseModel):
    """The body of a control route: a JSON object without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def parse_body[B: BaseModel](kind: type[B], body: bytes) -> B:
    """Parse a JSON body.

    Raises:
        ControlError: The body is not a JSON object of that kind.
    """
    try:
        return kind.model_validate_json(body or b"{}")
    except ValidationError as error:
        problems = [
            f"{'.'.join(str(key) for key in problem['loc']) or 'body'}: {problem['msg']}, "
            f"got {problem['input']!r:.100}"
            for problem in error.errors(include_url=False)
        ]
        raise ControlError("; ".join(problems)) from error
