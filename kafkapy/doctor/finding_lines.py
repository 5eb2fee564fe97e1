"""Findings as lines: how bad, where, what; what to do stands below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kafkapy.doctor.finding import Finding, Severity

_WIDTH = max(map(len, Severity)) + 2


def finding_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """One line a finding, and one for what to do."""
    for found in findings:
        yield f"{found.severity.upper():<{_WIDTH}}{found.place}: {found.text}"
        if found.remedy:
            yield f"{'':<{_WIDTH}}-> {found.remedy}"


def finding_row(found: Finding) -> dict[str, Any]:
    """The same as a row."""
    return {
        "type": "finding",
        "severity": str(found.severity),
        "place": found.place,
        "text": found.text,
        "remedy": found.remedy or None,
    }


def summary_line(counts: Mapping[Severity, int], looked_at: str | None) -> str:
    """What it comes to."""
    of = f" in {looked_at}" if looked_at else ""
    problems = [(counts[Severity.ERROR], "error"), (counts[Severity.WARNING], "warning")]
    parts = [f"{count} {name}{'' if count == 1 else 's'}" for count, name in problems if count]
    return f"Found {' and '.join(parts)}{of}." if parts else f"No problems found{of}."


def count(findings: Iterable[Finding], counts: Counter[Severity]) -> Iterator[Finding]:
    """The same findings, counted as they pass."""
    for found in findings:
        counts[found.severity] += 1
        yield found
