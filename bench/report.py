"""What all benchmarks share: options, a description of the machine, and reports in Markdown."""

import argparse
import os
import platform
import re
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path


def argument_parser(benchmark: str, doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with `--out`, described by the first line of the module's docstring `doc`."""
    description = doc.splitlines()[0] if doc else None
    parser = argparse.ArgumentParser(f"python -m bench.{benchmark}", description=description)
    parser.add_argument("--out", type=Path, help="also write the report to this file")
    return parser


def machine() -> str:
    """Return the number of cores and the processor's name."""
    cpuinfo = Path("/proc/cpuinfo")
    names = re.findall(r"model name\s*: (.*)", cpuinfo.read_text() if cpuinfo.exists() else "")
    model = names[0] if names else platform.processor()
    return f"{os.cpu_count()} cores of {model}, no GPU"


def spread(values: Sequence[float]) -> str:
    """Format values as their median (minimum – maximum)."""
    return f"{statistics.median(values):.2f} ({min(values):.2f} – {max(values):.2f})"


def table(columns: str, rows: Iterable[str]) -> str:
    """Return a table in Markdown. In `columns` and in each row, ` | ` separates the cells."""
    rule = " | ".join(["---"] * (columns.count("|") + 1))
    return "\n".join(f"| {row} |" for row in (columns, rule, *rows))


def document(*paragraphs: str) -> str:
    """Join headings, paragraphs and tables, with a blank line between them."""
    return "\n\n".join(paragraphs) + "\n"


def publish(report: str, out: Path | None) -> None:
    """Print `report`. If `out` is given, write it there too, creating the folder if needed."""
    print(report)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(report, encoding="utf-8")
