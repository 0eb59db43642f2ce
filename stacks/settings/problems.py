"""Words the errors in the settings: which key is wrong, what is accepted and what to do."""

import difflib
import re
import tomllib
from collections.abc import Iterator
from typing import Any, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from stacks.settings.base import MisfitsError, Model, example_text


def problems(model: type[Model], error: ValidationError) -> list[str]:
    """Return one line for each mistake.

    Args:
        model: The model of the whole file, which refused the values.
        error: The error that the model raised.
    """
    return [line for item in error.errors(include_url=False) for line in _lines(model, item)]


def unquoted_text(text: str, error: tomllib.TOMLDecodeError) -> str:
    """Return a hint for a text without quotes, the usual reason of an invalid value.

    Args:
        text: The file.
        error: The error of the parser.
    """
    place = re.search(r"Invalid value \(at line (\d+)", str(error))
    line = text.splitlines()[int(place[1]) - 1] if place else ""
    found = re.fullmatch(r"\s*([\w.-]+)\s*=\s*([^\s\"'#\[{][^\"'#]*?)\s*(#.*)?", line)
    return f'; put a text in quotes: {found[1]} = "{found[2]}"' if found else ""


def _lines(model: type[Model], error: Any) -> list[str]:
    reason = error.get("ctx", {}).get("error")
    if not isinstance(reason, MisfitsError):
        return [_problem(model, error)]
    table = [str(key) for key in error["loc"]]
    return [f"{'.'.join([*table, found.key])}: {found.message}" for found in reason.misfits]


def _problem(model: type[Model], error: Any) -> str:
    path = [str(key) for key in error["loc"]]
    value = error["input"]
    message = f"{error['msg']}, not {value!r}"
    match error["type"]:
        case "extra_forbidden":
            message = f"unknown key; {_advice(model, path, value)}"
        case "missing":
            message = "is required"
        case "model_type" | "dict_type":
            message = f"must be a table, [{'.'.join(path)}], not {value!r}"
        case "tuple_type" if (field := _field(model, path)) and _model(field.annotation):
            message = f"must be an array of tables, [[{'.'.join(path)}]], not {value!r}"
        case "greater_than_equal" | "less_than_equal" if field := _field(model, path):
            message = f"must be {_range(field)}, not {value}"
        case "int_type" | "int_from_float":
            unquoted = " without quotes" if isinstance(value, str) else ""
            message = f"must be a whole number{unquoted}, not {value!r}"
        case "string_type" if isinstance(value, int | float) and not isinstance(value, bool):
            message = f'must be a string, not a number; quote it: "{value}"'
        case "string_pattern_mismatch" | "string_too_long" if path == ["name"]:
            message = (
                f"{value!r} comes from the name of the file; rename the file. The name has at most "
                "20 lower-case letters, digits and single hyphens between them, and begins with a "
                "letter"
            )
        case "string_pattern_mismatch":
            field = _field(model, path)
            example = (
                f", such as {example_text(field.examples[0], "'")}"
                if field and field.examples
                else ""
            )
            message = f"{value!r} must match {error['ctx']['pattern']}{example}"
        case "value_error":
            message = str(error["ctx"]["error"])
    return f"{'.'.join(path)}: {message}"


def _range(field: FieldInfo) -> str:
    """Return the range of a number in words; the settings have no number without both bounds."""
    (least,) = [item.ge for item in field.metadata if hasattr(item, "ge")]
    (most,) = [item.le for item in field.metadata if hasattr(item, "le")]
    return f"{least:,} to {most:,}"


def _advice(model: type[Model], path: list[str], value: Any) -> str:
    """Return where an unknown key belongs, which key is spelled like it, or what is accepted."""
    *parents, key = path
    tables = dict(_tables(model))
    _, accepted = tables[".".join(name for name in parents if not name.isdigit())]
    headers = [header for name, (header, _) in tables.items() if name.split(".")[-1] == key]
    places = [
        f"in {header}" if header else "above the first table"
        for name, (header, keys) in tables.items()
        if key in keys and f"{name}.{key}".lstrip(".") not in tables
    ]
    if headers or places:
        options = [f"is the table {' or '.join(headers)}"] if headers else []
        options += [f"belongs {' or '.join(places)}"] if places else []
        return f"`{key}` {' or '.join(options)}"
    # `instance` is rather `instance_type` than the table `instances`, unless it is a table.
    close = [name for name in accepted if name.startswith(f"{key}_")]
    if len(close) != 1 or isinstance(value, dict):
        close = difflib.get_close_matches(key, accepted, 1)
    return f"did you mean `{close[0]}`?" if close else f"use one of {', '.join(accepted)}"


def _tables(
    model: type[Model], name: str = "", header: str = ""
) -> Iterator[tuple[str, tuple[str, list[str]]]]:
    """Yield the dotted name of each table, its header and its keys; both are empty at the top."""
    # At the top, `name` is the name of the file.
    yield name, (header, [key for key in model.model_fields if name or key != "name"])
    for key, field in model.model_fields.items():
        inner = _model(field.annotation)
        if inner is not None:
            table = f"{name}.{key}".lstrip(".")
            is_array = get_origin(field.annotation) is tuple
            yield from _tables(inner, table, f"[[{table}]]" if is_array else f"[{table}]")


def _field(model: type[Model], path: list[str]) -> FieldInfo | None:
    """Return the field at a path, which also has the positions in arrays."""
    field = None
    for key in path:
        if key.isdigit():
            continue
        field = model.model_fields.get(key)
        if field is None:
            return None
        model = _model(field.annotation) or model
    return field


def _model(annotation: Any) -> type[Model] | None:
    """Return the model in an annotation such as `tuple[Schedule, ...]` or `Budget | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    return next(filter(None, map(_model, get_args(annotation))), None)
