"""`python -m stacks.settings.document`: write `docs/settings.md` from the model of the settings."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stacks.settings.environment import Settings

PATH = Path(__file__).resolve().parents[2] / "docs" / "settings.md"

_HEAD = """\
# Settings

<!-- Written by `make docs` from the models in stacks/settings. -->

An environment is a file `environments/<name>.toml`; its name becomes part of the stacks' names, the
endpoint's and the runtime's. A new file is a new environment; any number of them fit into one
account and Region. An unknown key, a wrong type or values that do not go together are an error
before anything is synthesized, with the key's path and what is accepted.
"""


def document() -> str:
    """The whole page, in Markdown."""
    schema = Settings.model_json_schema()
    tables = [line for table in _tables(schema, schema, "") for line in table]
    return "\n".join([_HEAD, *tables]).rstrip() + "\n"


def _tables(model: dict[str, Any], root: dict[str, Any], path: str) -> Iterator[list[str]]:
    """A model's own keys, then those of the models in it; `path` is the TOML table's header."""
    own: list[str] = []
    nested: list[tuple[str, dict[str, Any]]] = []
    required = model.get("required", [])
    for key, field in model["properties"].items():
        if key == "name" and not path:
            continue  # the file's
        inner = _model_of(field, root)
        if inner is None:
            own.append(_row(key, field, key in required))
        else:
            header = ".".join(filter(None, [path.strip("[]"), key]))
            brackets = ("[[", "]]") if field.get("type") == "array" else ("[", "]")
            nested.append((header.join(brackets), inner))
    title = f"## `{path}`" if path else "## At the top of the file"
    table = ["| key | accepted | default | meaning |", "| --- | --- | --- | --- |", *own]
    yield [title, "", model["description"], "", *(table if own else []), ""]
    for header, inner in nested:
        yield from _tables(inner, root, header)


def _row(key: str, field: dict[str, Any], required: bool) -> str:
    if required:
        default = "must be given"
    elif field["default"] in (None, [], {}):
        default = "none"
    else:
        default = f"`{json.dumps(field['default'])}`"
    return f"| `{key}` | {_accepted(field)} | {default} | {field['description']} |"


def _accepted(field: dict[str, Any]) -> str:
    value = _without_null(field)
    match value:
        case {"enum": choices}:
            return " or ".join(f"`{json.dumps(choice)}`" for choice in choices)
        case {"type": "integer"}:
            return f"{value['minimum']:,} to {value['maximum']:,}"
        case {"type": "string", "pattern": str(pattern)}:
            return "text like `" + pattern.replace("|", "\\|") + "`"
        case {"type": "string"}:
            return "text"
        case {"type": "array"}:
            least, most = value.get("minItems", 0), value.get("maxItems")
            return "list of texts" + (f", {least} to {most}" if most else "")
        case {"type": "object"}:
            return f"table of texts, at most {value['maxProperties']}"
    raise TypeError(f"a kind of setting that this page has no words for: {value}")


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """The field, or the one thing that it may be beside null, which TOML does not have."""
    others = [part for part in field.get("anyOf", [field]) if part.get("type") != "null"]
    (value,) = others
    found: dict[str, Any] = value
    return found


def _model_of(field: dict[str, Any], root: dict[str, Any]) -> dict[str, Any] | None:
    """The model that a field holds, alone or in a list."""
    value = _without_null(field)
    reference = value.get("items", value).get("$ref")
    if reference is None:
        return None
    model: dict[str, Any] = root["$defs"][reference.rsplit("/", 1)[1]]
    return model


if __name__ == "__main__":
    PATH.write_text(document(), encoding="utf-8")
