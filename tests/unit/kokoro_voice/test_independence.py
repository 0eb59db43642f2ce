"""The library knows neither the server nor an event loop."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "container" / "kokoro_voice"
MODULES = sorted(PACKAGE.rglob("*.py"))


def imported(module: Path) -> set[str]:
    """The top-level packages that a module imports, anywhere in its source."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_no_module_imports_the_server_or_asyncio(module: Path) -> None:
    """Guards against imports that make benchmarks and the calibration depend on the server."""
    assert imported(module).isdisjoint({"asyncio", "kokoro_server"})


def test_there_are_modules_to_check() -> None:
    """Guards against a check that finds no files after a folder was moved."""
    assert {"engine", "synthesizer", "voices"} <= {module.stem for module in MODULES}
    assert "numpy" in imported(PACKAGE / "engine.py")
