"""Numbers of things in sentences: ``1 partition``, ``2 partitions``."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number with its noun, of which the plural ends in s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
