"""What every benchmark does: take options, say what ran where, and publish a report in Markdown."""

import argparse
import os
import platform
import re
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path


def argument_parser(benchmark: str, doc: str | None) -> argparse.ArgumentParser:
    """A parser with `--out`, described by the first line of a module's `doc`."""
    description = doc.splitlines()[0] if doc else None
    parser = argparse.ArgumentParser(f"python -m bench.{benchmark}", description=description)
    parser.add_argument("--out", type=Path, help="write the report to this file, too")
    return parser


def machine() -> str:
    """The processor's name and how many cores of it there are."""
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", cpuinfo.read_text() if cpuinfo.exists() else "")
    model = names[0] if names else platform.processor()
    return f"{os.cpu_count()} cores of {model}, no GPU"


def spread(values: Sequence[float]) -> str:
    """Median (minimum – maximum)."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} – {max(values):.2f})"


def table(columns: str, rows: Iterable[str]) -> str:
    """A table; the cells of `columns` and of each row are separated by ` | `."""
    rule = " | ".join(["---"] * (columns.count("|") + 1))
    return "\n".join(f"| {row} |" for row in (columns, rule, *rows))


def document(*paragraphs: str) -> str:
    """Headings, paragraphs and tables, with a blank line between them."""
    return "\n\n".join(paragraphs) + "\n"


def publish(report: str, out: Path | None) -> None:
    """Print `report`, and write it to `out`, whose folder is made, if there is one."""
    print(report)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(report, encoding="utf-8")
