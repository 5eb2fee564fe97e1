"""Files that the doctor may not read, or that fail when they are read: a finding each, and the others are looked at."""

from __future__ import annotations

import errno
from collections.abc import Iterator

from kafkapy.doctor.finding import Finding, error


def unreadable(problem: OSError, place: str) -> Finding:
    """What is told of a file that cannot be read; ``place`` where the system does not say which one."""
    path = problem.filename or place
    why = problem.strerror or str(problem)
    if problem.errno in (errno.EACCES, errno.EPERM):
        return error(str(path), f"cannot be read: {why}", "run it as the user of the broker, or as root")
    return error(str(path), f"cannot be read: {why}", "look at the disk, and at what the system's log says of it")


def readable(findings: Iterator[Finding], place: str) -> Iterator[Finding]:
    """The same findings, up to a file that cannot be read."""
    try:
        yield from findings
    except OSError as problem:
        yield unreadable(problem, place)
