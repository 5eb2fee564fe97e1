"""What is to be read of a table: a value that travels to whoever reads.

Bounds are exact: no row outside of them comes, and of the files as little is read as their indexes allow. Timestamps
need not be in order, so an upper bound of time saves no reading, a lower one does.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

SPLIT_BYTES = 128 << 20


class Mode(StrEnum):
    """What becomes of damage, in the words of Spark's own sources."""

    FAILFAST = "failfast"
    DROPMALFORMED = "dropmalformed"
    PERMISSIVE = "permissive"


class Range(NamedTuple):
    """From ``start`` to ``end``, exclusive; None is no bound."""

    start: int | None = None
    end: int | None = None


class Scan(NamedTuple):
    """``paths`` is one cluster directory, or the log dirs of brokers. None means all."""

    paths: tuple[str, ...]
    topics: frozenset[str] | None = None
    partitions: frozenset[int] | None = None
    offsets: Range = Range()
    timestamps: Range = Range()
    """In milliseconds."""
    committed: bool = False
    broker: int | None = None
    """Whose copy of each partition to read; None is the leader's."""
    columns: tuple[str, ...] | None = None
    mode: Mode = Mode.FAILFAST
    split_bytes: int = SPLIT_BYTES
