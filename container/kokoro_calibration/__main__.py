"""`python -m kokoro_calibration`: decodes missing sentences, fits the table and writes it."""

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
    """Run the command. The exit status is 0, 1 for a failure, or 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m kokoro_calibration",
        description="Decode the calibration's sentences in all voices (an hour of CPU time; an "
        "interrupted run can be continued) and fit the table of norm statistics to them.",
    )
    parser.add_argument(
        "--model-dir",
        type=Path,
        default=default_model_dir(),
        help="model directory (default: where `python -m kokoro_model` builds)",
    )
    parser.add_argument(
        "--data-dir", type=Path, help="directory of the results (default: beside the model)"
    )
    parser.add_argument(
        "--out", type=Path, default=TABLE_PATH, help="file of the table (default: %(default)s)"
    )
    parser.add_argument(
        "--processes",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="processes that decode at once, with one thread each (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    try:
        model_sha256 = Engine(options.model_dir, threads=1).model_sha256
        # The results of another model, or of other texts, belong to another calibration.
        name = f"calibration-{model_sha256[:12]}-{texts_sha256()[:12]}"
        data_dir = options.data_dir or options.model_dir.parent / name
        collect(options.model_dir, data_dir, options.processes)
        print(fit(data_dir, model_sha256, options.out).model_dump_json(indent=1))
    except (ModelError, BrokenProcessPool, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted: run the same command again to continue", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
