"""Run the server without deadlines, for `bench.server`: `python -m bench.first_come serve`."""

import sys

from bench.scheduling import FirstComeFirstServed
from kokoro_server.__main__ import main

if __name__ == "__main__":
    sys.exit(main(scheduler=FirstComeFirstServed()))
