"""Findings as lines: how bad, where, what; what to do stands below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kafkapy.doctor.finding import Finding, Severity
from kafkapy.output.styled_lines import Line

_INDENT = max(map(len, Severity)) + 2
_STYLES = {Severity.OK: "dim", Severity.INFO: "note", Severity.WARNING: "changed", Severity.ERROR: "bad"}


def finding_lines(findings: Iterable[Finding], width: int | None) -> Iterator[Line]:
    """A line for each finding, and one below for what to do. Texts are wrapped at ``width``, None for not at all; what
    to do never is, so that a command can be copied."""
    for found in findings:
        first, *others = _wrapped(f"{found.place}: {found.text}", width)
        yield [(f"{found.severity.upper():<{_INDENT}}", _STYLES[found.severity]), (first, "")]
        yield from ([(" " * _INDENT + other, "")] for other in others)
        if found.remedy:
            yield [(" " * _INDENT + "-> ", ""), (found.remedy, "command")]


def _wrapped(text: str, width: int | None) -> list[str]:
    from textwrap import wrap

    if width is None:
        return [text]
    return wrap(text, max(width - _INDENT, 20), break_long_words=False, break_on_hyphens=False)


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
