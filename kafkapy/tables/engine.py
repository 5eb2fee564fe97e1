"""Who does the work of a job: this process, or Spark. A job is a function over parts that do not know of one another.

A part may be done more than once, when a worker is lost or slow: what a function writes must not be seen before the
job is done with all of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Does the parts of a job."""

    def map(self, work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        """What ``work`` makes of each part, in the order of the parts. Function, parts and results are pickled."""
        ...


class LocalEngine:
    """One part after the other, here."""

    def map(self, work: Callable[[T], R], parts: Sequence[T]) -> Iterator[R]:
        """What ``work`` makes of each part, when it is asked for."""
        return map(work, parts)
