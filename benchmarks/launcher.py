"""Runs a command from a process that is small, and tells what the command cost.

    python -I -S launcher.py FD one|all COMMAND...

Linux carries the peak memory of the forking process over an ``exec``, so of whatever a benchmark starts by itself no
peak below its own can be seen. From here it can. To the file descriptor ``FD`` goes a line: exit code, CPU seconds,
wall seconds and the peak as ``getrusage`` has it. With ``all`` it counts every process that comes of the command, also
those that the command did not wait for, which Linux hands to this one; the wall seconds are the command's own.
"""

import os
import resource
import sys
import time

PR_SET_CHILD_SUBREAPER = 36


def _adopt_orphans() -> None:
    import ctypes

    if sys.platform != "linux" or ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        sys.exit("only Linux counts the CPU seconds of orphans")


def _wait_for_orphans() -> None:
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def main(told_to: int, whom: str, command: list[str]) -> None:
    """Run it to its end."""
    os.set_inheritable(told_to, False)
    if whom == "all":
        _adopt_orphans()
    started = time.monotonic()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status = os.waitpid(pid, 0)
    wall_s = time.monotonic() - started
    if whom == "all":
        _wait_for_orphans()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = os.waitstatus_to_exitcode(status)
    os.write(told_to, f"{code} {used.ru_utime + used.ru_stime} {wall_s} {used.ru_maxrss}\n".encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
