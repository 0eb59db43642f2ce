"""Ends the processes of a supervisor that died without ending them.

Run by the supervisor as `python -m local.guard` with a pipe as standard input. Each line is
`+PID` (a process was started, PID also names its process group) or `-PID` (it has ended). When the
pipe closes, which the kernel does however the supervisor ended, what is left is killed.
"""

import os
import signal
import sys


def main() -> None:
    """Read the pipe to its end, then kill the process groups still listed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the supervisor's to handle
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    running: set[int] = set()
    for line in sys.stdin:
        pid = int(line[1:])
        if line[0] == "+":
            running.add(pid)
        else:
            running.discard(pid)
    for pid in running:
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    main()
