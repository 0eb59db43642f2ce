"""The settings are used by the stacks or by the operator's commands."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from stacks.settings import Settings
from stacks.settings.base import Model

ROOT = Path(__file__).parents[4]
# Some keys are read only inside of `stacks/settings`, by a property or a function.
READ_THROUGH = {"kind": "is_stable", "errors_per_minute": "threshold"}
# The only purpose of this key is a check: it must fit `inference_ami`.
ONLY_CHECKED = {"speech.cuda_major"}


def keys(model: type[Model], table: str = "") -> Iterator[str]:
    for key, field in model.model_fields.items():
        path = f"{table}.{key}".lstrip(".")
        yield path
        for inner in models(field.annotation):
            yield from keys(inner, path)


def models(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
    for argument in get_args(annotation):
        yield from models(argument)


def attributes() -> set[str]:
    """All names that are read as an attribute outside of `stacks/settings`."""
    files = [ROOT / "app.py", *(ROOT / "ops").rglob("*.py"), *(ROOT / "stacks").rglob("*.py")]
    return {
        node.attr
        for file in files
        if not file.is_relative_to(ROOT / "stacks" / "settings")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


def test_every_setting_is_used() -> None:
    """Guards against a key that is accepted and documented, and has no effect."""
    read = attributes()
    settings = {path: path.rsplit(".", 1)[-1] for path in keys(Settings)}
    assert "speech.schedule.time_zone" in settings
    unused = {path for path, key in settings.items() if READ_THROUGH.get(key, key) not in read}
    assert unused == ONLY_CHECKED
