"""README and docs: links lead somewhere, and what cannot run here is at least understood."""

import json
import re
import shlex
import tomllib

import pytest

from local.command_line import parse_make
from ops.__main__ import parser as ops_parser
from tests.documents import DOCUMENTS, ROOT, Block, blocks

MAKEFILE = (ROOT / "Makefile").read_text()
CONSOLE = [
    pytest.param(command, id=command[:60])
    for block in blocks()
    if block.language == "console"
    for command in block.commands
]
LANGUAGES = {"sh", "console", "python", "html", "json", "toml"}


def anchors(text: str) -> set[str]:
    """The anchors that GitHub makes of the headings of a document."""
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path) -> None:
    """A renamed file or heading leaves its reader in front of a 404."""
    text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        file, _, anchor = target.partition("#")
        linked = path.parent / file if file else path
        assert linked.exists(), target
        if anchor:
            assert anchor in anchors(linked.read_text()), target


@pytest.mark.parametrize("command", CONSOLE)
def test_a_command_that_needs_more_than_this_machine_is_understood(command: str) -> None:
    """A renamed option is found out in the middle of a deploy."""
    words = shlex.split(command)
    if words[:3] == ["python", "-m", "ops"]:
        assert ops_parser().parse_args(words[3:]).env
    elif words[:2] == ["python", "-c"]:
        compile(words[2], command, "exec")
    elif words[0] == "make":
        target, *variables = [word for word in words[1:] if not re.match("[A-Z]+=", word)] + [
            word for word in words[1:] if re.match("[A-Z]+=", word)
        ]
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
        given = dict(variable.split("=", 1) for variable in variables)
        if target in ("demo", "say", "serve", "container"):
            parse_make(target, {f"GIVEN_{name}": value for name, value in given.items()})
        else:
            assert given.keys() <= {"ARGS", "ENV", "UPGRADE"}
    else:
        assert words[0] in ("aws", "source", "gh", "curl"), command


def data_blocks() -> list[Block]:
    return [block for block in blocks() if block.language in ("json", "toml")]


@pytest.mark.parametrize("block", data_blocks(), ids=lambda block: block.document)
def test_data_can_be_read(block: Block) -> None:
    """An example with a missing comma is copied as it is."""
    if block.language == "toml":
        tomllib.loads(block.code)
        return
    try:
        json.loads(block.code)
    except json.JSONDecodeError:
        for line in block.code.splitlines():  # one message a line
            json.loads(line)


def test_every_block_is_of_a_language_that_some_test_runs_or_reads() -> None:
    """A block marked `bash` instead of `sh` would be run by no test."""
    assert {block.language for block in blocks()} <= LANGUAGES
