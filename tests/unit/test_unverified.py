"""docs/unverified.md: what no account has verified, held to the code it speaks of."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/unverified.md").read_text()


def rows() -> list[list[str]]:
    lines = [line for line in DOCUMENT.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row[-1] not in ("verified by", "---")]


def test_every_line_says_what_will_verify_it() -> None:
    """A list of doubts without a way to settle them stays as it is for ever."""
    assert len(rows()) > 20
    assert [row for row in rows() if len(row) != 3 or not all(row)] == []


def test_the_commands_and_their_checks_exist() -> None:
    """A check that was renamed would verify nothing."""
    named = re.findall(r"`python -m ops ([a-z]+)`(?:: ([^|,]+) \|)?", DOCUMENT)
    assert {"preflight", "smoke"} <= {command for command, _ in named}
    for command, check in named:
        code = (ROOT / f"ops/{command}.py").read_text()
        assert not check or f'"{check}"' in code, (command, check)


def test_every_guess_of_the_stand_in_is_listed() -> None:
    """A guess that only the code knows of is taken for AWS's behavior by the next reader."""
    marked = {
        path.name: len(re.findall(r"# Guess: |: a guess", path.read_text()))
        for path in (ROOT / "local").rglob("*.py")
    }
    listed = re.findall(r"^\| \[(\w+\.py)\]", DOCUMENT, re.MULTILINE)
    assert {name: listed.count(name) for name in listed} == {
        name: count for name, count in marked.items() if count
    }
