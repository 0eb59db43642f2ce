"""Writes `docs/settings.md` from the models of the settings: `make docs`.

It imports the settings of both images, so `container` and `agent` must be on the import path.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from kokoro_server import settings as container
from stacks.settings.environment import Settings
from voice_agent import settings as agent

PATH = Path(__file__).resolve().parents[2] / "docs" / "settings.md"

_HEAD = """\
# Settings

<!-- Written by `make docs` from the models of the settings. -->

An environment is a file `environments/<name>.toml`; its name becomes part of the stacks' names, the
endpoint's and the runtime's. A new file is a new environment; any number of them fit into one
account and Region. An unknown key, a wrong type or values that do not go together are an error
before anything is synthesized, with the key's path and what is accepted. What the images read from
their environment variables is [at the end](#variables-of-the-speech-container).
"""
_AWS_VARIABLES = {"region": "AWS_REGION", "ca_file": "AWS_CA_BUNDLE"}


def document() -> str:
    """The whole page, in Markdown."""
    schema = Settings.model_json_schema()
    tables = [line for table in _tables(schema, schema, "") for line in table]
    page = [
        _HEAD,
        *tables[:-1],
        *_variables("Variables of the speech container", container.PREFIX, container.Settings),
        *_variables("Variables of the agent", agent.PREFIX, agent.Settings),
    ]
    return "\n".join(page) + "\n"


def _variables(title: str, prefix: str, model: type[BaseModel]) -> list[str]:
    """The section of an image's own settings."""
    schema = model.model_json_schema()
    required = schema.get("required", [])
    rows = [
        _row(_AWS_VARIABLES.get(name, prefix + name.upper()), field, name in required)
        for name, field in schema["properties"].items()
    ]
    text = f"Read when it starts; an unknown `{prefix}*` or a value that is not accepted ends it."
    return ["", f"## {title}", "", text, "", *_table("variable", rows)]


def _table(first_column: str, rows: list[str]) -> list[str]:
    head = [f"| {first_column} | accepted | default | meaning |", "| --- | --- | --- | --- |"]
    return head + rows if rows else []


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
    yield [title, "", model["description"], "", *_table("key", own), ""]
    for header, inner in nested:
        yield from _tables(inner, root, header)


def _row(key: str, field: dict[str, Any], required: bool) -> str:
    if "description" not in field:
        raise TypeError(f"{key} has no description")
    if required:
        default = "required"
    elif "default" not in field:
        default = "computed"
    elif field["default"] in (None, [], {}):
        default = "none"
    else:
        default = f"`{json.dumps(field['default'], ensure_ascii=False)}`"
    meaning = " ".join(field["description"].split())
    return f"| `{key}` | {_accepted(field)} | {default} | {meaning} |"


def _accepted(field: dict[str, Any]) -> str:
    value = _without_null(field)
    match value:
        case {"enum": choices}:
            return " or ".join(f"`{json.dumps(choice)}`" for choice in choices)
        case {"type": "integer" | "number"}:
            return _range(value)
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


def _range(value: dict[str, Any]) -> str:
    if value.keys() >= {"minimum", "maximum"}:
        return f"{value['minimum']:,} to {value['maximum']:,}"
    bounds = {
        "minimum": "at least",
        "exclusiveMinimum": "above",
        "maximum": "at most",
        "exclusiveMaximum": "below",
    }
    return ", ".join(f"{word} {value[key]:,}" for key, word in bounds.items() if key in value)


def _without_null(field: dict[str, Any]) -> dict[str, Any]:
    """The field, or the one thing that it may be beside null, which TOML does not have."""
    others = [kind for kind in field.get("anyOf", [field]) if kind.get("type") != "null"]
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
