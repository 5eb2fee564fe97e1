"""What the doctor says: of each thing that was looked at how it is, where, and what to do.

``ok`` and ``info`` are no problems: something is as it should be, or is worth knowing. ``warning`` is what a broker
mends by itself or what may become a problem, ``error`` is what has lost data or keeps something from working.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How bad it is."""

    OK = "ok"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def is_problem(self) -> bool:
        return self in (Severity.WARNING, Severity.ERROR)


class Finding(NamedTuple):
    """``place`` is a file, a partition, a broker or part of the surroundings; ``remedy`` is what to do, if anything."""

    severity: Severity
    place: str
    text: str
    remedy: str = ""


def ok(place: str, text: str) -> Finding:
    return Finding(Severity.OK, place, text)


def info(place: str, text: str, remedy: str = "") -> Finding:
    return Finding(Severity.INFO, place, text, remedy)


def warning(place: str, text: str, remedy: str) -> Finding:
    return Finding(Severity.WARNING, place, text, remedy)


def error(place: str, text: str, remedy: str) -> Finding:
    return Finding(Severity.ERROR, place, text, remedy)


def errors_first(findings: Iterable[Finding]) -> list[Finding]:
    """The same findings, those that are errors before the others."""
    return sorted(findings, key=lambda found: found.severity is not Severity.ERROR)
