"""What every benchmark does with its report."""

from pathlib import Path


def publish(report: str, out: Path | None) -> None:
    """Print `report`, and write it to `out`, whose folder is made, if there is one."""
    print(report)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(report, encoding="utf-8")
