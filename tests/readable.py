"""Whether a descriptor has something to read, also one past 1,023: tests that act as if killed leave files open."""

from __future__ import annotations

import select


def is_readable(descriptor: int, timeout_s: float) -> bool:
    """Wait for it."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(timeout_s * 1000))
