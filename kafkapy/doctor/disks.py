"""The disks that log dirs lie on: a full one stops a broker, and kafkapy, in the middle of a write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from kafkapy.doctor.finding import Finding, error, warning

LEAST_FREE = 0.05
ENOUGH = 1 << 30
LEAST_TO_WRITE = 1 << 16


def check_disks(log_dirs: Iterable[str], where: str) -> Iterator[Finding]:
    """Each disk once, by its first log dir; of a cluster directory, also whether it can be written."""
    seen = set()
    for log_dir in log_dirs:
        device, found = os.stat(log_dir).st_dev, os.statvfs(log_dir)
        if where.startswith("--cluster") and (found.f_flag & os.ST_RDONLY or not os.access(log_dir, os.W_OK)):
            remedy = "reading is all that works there: mount it to be written, or give this user the right to write"
            yield warning(log_dir, "cannot be written", remedy)
        total, free = found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize
        if device in seen or not total:
            continue
        seen.add(device)
        remedy = f"make room on it; what retention would take: kafkapy maintenance --dry-run {where}"
        if free < LEAST_TO_WRITE:
            yield error(log_dir, f"its disk is full: {free} of {total} bytes are free", remedy)
        elif free < min(total * LEAST_FREE, ENOUGH):
            yield warning(log_dir, f"its disk has {free * 100 / total:.1f}% left, {free} bytes", remedy)
