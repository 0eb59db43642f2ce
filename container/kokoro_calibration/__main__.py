"""`python -m kokoro_calibration`: decode the missing sentences, fit the table, write it."""

import argparse
import os
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from kokoro_calibration.collect import collect, texts_sha256
from kokoro_calibration.fit import fit
from kokoro_model import default_model_dir
from kokoro_voice.engine import Engine
from kokoro_voice.errors import ModelError
from kokoro_voice.norm_statistics import TABLE_PATH


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit status is 0, 1 for a failure, or 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m kokoro_calibration",
        description="Decode the calibration's sentences in all voices (an hour of CPU time; an "
        "interrupted run goes on where it was) and fit the table of statistics to them.",
    )
    parser.add_argument(
        "--model-dir",
        type=Path,
        default=default_model_dir(),
        help="default: where `python -m kokoro_model` builds",
    )
    parser.add_argument("--data-dir", type=Path, help="default: in the cache, beside the model")
    parser.add_argument("--out", type=Path, default=TABLE_PATH, help="default: %(default)s")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(arguments)
    try:
        model_sha256 = Engine(options.model_dir, threads=1).model_sha256
        # Another model or other texts are another calibration.
        name = f"calibration-{model_sha256[:12]}-{texts_sha256()[:12]}"
        data_dir = options.data_dir or options.model_dir.parent / name
        collect(options.model_dir, data_dir, options.processes)
        print(fit(data_dir, model_sha256, options.out).model_dump_json(indent=1))
    except (ModelError, BrokenProcessPool, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted: the next run goes on here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
