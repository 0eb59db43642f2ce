"""The code blocks of the README and of docs/, for the tests that run them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


@dataclass(frozen=True)
class Block:
    """A code block, with the text before it in its section."""

    document: str
    section: str
    language: str
    before: str
    code: str

    @property
    def commands(self) -> list[str]:
        """The lines of a shell block, or those after `$ ` of a console block."""
        lines = self.code.replace("\\\n", " ").splitlines()
        if self.language == "console":
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        return [command for line in lines if (command := re.sub(r"(^|\s+)#.*", "", line).strip())]


def blocks() -> Iterator[Block]:
    """Yield every code block that names its language."""
    for path in DOCUMENTS:
        name = str(path.relative_to(ROOT))
        for section in re.split(r"^## ", path.read_text(), flags=re.MULTILINE):
            title = section.split("\n", 1)[0].strip("# ")
            for found in re.finditer(r"^```(\w+)\n(.*?)^```", section, re.DOTALL | re.MULTILINE):
                yield Block(name, title, found[1], section[: found.start()], found[2])
