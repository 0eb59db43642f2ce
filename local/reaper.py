"""Kill the processes of a supervisor that died without ending them.

The supervisor runs `python -m local.reaper` with a pipe as standard input. Each line is `+PID` for
a process that was started, where PID is also its process group, or `-PID` for one that has ended.
The kernel closes the pipe however the supervisor ends. The reaper then kills all processes that are
left.
"""

import os
import signal
import sys


def main() -> None:
    """Read the pipe to its end, then kill the process groups that are still running."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the supervisor handles Ctrl-C
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
