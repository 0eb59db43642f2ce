"""Writes `docs/settings.md` from the models of the settings (`make docs`).

It imports the settings of both images, so `container` and `agent` must be on the import path.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from kokoro_server import settings as container
from stacks.settings.base import example_text
from stacks.settings.environment import Settings
from voice_agent import settings as agent

PATH = Path(__file__).resolve().parents[2] / "docs" / "settings.md"

_HEAD = """\
# Settings

<!-- Written by `make docs` from the models of the settings. -->

Each environment is a file `environments/<name>.toml`. The name of the file becomes part of the
names of the stacks, the endpoint and the runtime. It has at most 20 lower-case letters, digits and
single hyphens between them, and begins with a letter. To add an environment, add a file; to rename
one, rename the file. One account and Region can hold any number of environments.

The settings are checked before anything is synthesized. An unknown key, a wrong type or a
combination of values that is not allowed is an error. The message names the key and what it
accepts. `make synth` shows the errors of all environments, and needs no AWS account.

A minimal file for one CPU instance:

```toml
kind = "ephemeral"

[speech]
variant = "cpu"
instance_type = "ml.c7i.xlarge"
```

Every file needs `kind` and the table `[speech]`. All other tables can be left out. `required`
means: required once the table is present. Other conditions are in the meaning. With the default
`variant`, for example, `[speech]` needs `inference_ami` and `cuda_major`.

The last two sections list the environment variables of the images. The stacks set some of these
variables from the settings; in AWS, the others keep their defaults.
"""
_AWS_VARIABLES = {"region": "AWS_REGION", "ca_file": "AWS_CA_BUNDLE"}


def document() -> str:
    """Return the whole page in Markdown."""
    schema = Settings.model_json_schema(schema_generator=_WithoutNull)
    del schema["properties"]["name"]  # from the name of the file
    sections = [
        *_sections(schema, schema["$defs"]),
        _variables("Variables of the speech container", container.PREFIX, container.Settings),
        _variables("Variables of the agent", agent.PREFIX, agent.Settings),
    ]
    return "\n".join([_HEAD, *sections])


class _WithoutNull(GenerateJsonSchema):
    """A schema without null, which neither TOML nor environment variables have."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def _variables(title: str, prefix: str, model: type[BaseModel]) -> str:
    """Return the section for the environment variables of an image."""
    schema = model.model_json_schema(schema_generator=_WithoutNull)
    variables = {key: _AWS_VARIABLES.get(key, prefix + key.upper()) for key in schema["properties"]}
    text = (
        f"Read at start-up. An unknown variable `{prefix}*`, or a value that is not accepted, ends "
        "the process with an error."
    )
    return _section(title, text, "variable", schema, variables)


def _sections(model: dict[str, Any], models: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the section of a model, then those of the models in it.

    Args:
        model: The schema of the model.
        models: The schemas of all models, by name.
        path: The header of the TOML table; empty for the top of the file.
    """
    fields = model["properties"]
    references = {key: field.get("items", field).get("$ref") for key, field in fields.items()}
    own = {key: key for key, reference in references.items() if reference is None}
    title = f"`{path}`" if path else "At the top of the file"
    yield _section(title, model["description"], "key", model, own)
    for key, reference in references.items():
        if reference is not None:
            table = ".".join(filter(None, [path.strip("[]"), key]))
            header = f"[[{table}]]" if "items" in fields[key] else f"[{table}]"
            yield from _sections(models[reference.rsplit("/", 1)[1]], models, header)


def _section(
    title: str, text: str, first_column: str, model: dict[str, Any], names: dict[str, str]
) -> str:
    """Return a heading, a text and a table of the fields of a model that are in `names`."""
    lines = [
        f"## {title}",
        "",
        text,
        "",
        f"| {first_column} | accepted | default | meaning |",
        "| --- | --- | --- | --- |",
    ]
    required = model.get("required", [])
    for key, name in names.items():
        lines.append(_row(name, model["properties"][key], key in required))
    return "\n".join(lines) + "\n"


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


def _accepted(value: dict[str, Any]) -> str:
    match value:
        case {"enum": choices}:
            return " or ".join(f"`{json.dumps(choice)}`" for choice in choices)
        case {"type": "boolean"}:
            return "`true` or `false`"
        case {"type": "integer" | "number"}:
            return _range(value)
        case {"type": "string", "pattern": str(pattern)}:
            example = (
                f", such as {example_text(value['examples'][0], '`')}"
                if "examples" in value
                else ""
            )
            return "text that matches `" + pattern.replace("|", "\\|") + "`" + example
        case {"type": "string"}:
            return "text"
        case {"type": "array"}:
            least, most = value.get("minItems", 0), value.get("maxItems")
            return "list of texts" + (f", {least} to {most}" if most else "")
        case {"type": "object"}:
            return f"table of texts, at most {value['maxProperties']}"
    raise TypeError(f"the page cannot describe this kind of setting: {value}")


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


if __name__ == "__main__":
    PATH.write_text(document(), encoding="utf-8")
