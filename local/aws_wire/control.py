"""The bodies of the stand-ins' own routes, `/local/…`, which steer them from tests and commands."""

from pydantic import BaseModel, ConfigDict, ValidationError


class ControlError(ValueError):
    """A body is not accepted; the text names the field, its value and what is accepted."""


class ControlBody(BaseModel):
    """What a control route takes: a JSON object; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def parse_body[B: BaseModel](kind: type[B], body: bytes) -> B:
    """Read a JSON body.

    Raises:
        ControlError: It is no JSON object of that kind.
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
