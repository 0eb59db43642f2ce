"""`python -m bench.first_come serve`: the server without deadlines, for `bench.server`."""

import sys

from bench.scheduling import FirstComeFirstServed
from kokoro_server.__main__ import main

if __name__ == "__main__":
    sys.exit(main(scheduler=FirstComeFirstServed()))
