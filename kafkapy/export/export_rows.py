"""What ``kafkapy export`` tells of a run: before it the offsets of each partition, after it what was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafkapy.export.file_format import Format
from kafkapy.export.plan import Plan
from kafkapy.export.request import Request
from kafkapy.export.run import Summary
from kafkapy.output.aligned import aligned
from kafkapy.output.counted import counted

PLAN_COLUMNS = ("type", "table", "is_whole", "topic", "partition", "from_offset", "to_offset", "offsets")


def plan_pairs(plan: Plan, request: Request) -> Iterator[tuple[str | None, dict[str, Any] | None]]:
    """What a run would add: lines, then rows. A table that does not grow has one row, without offsets."""
    if not request.grows:
        line = f"the table {request.table} is exported whole, in the place of what is there"
        yield line, _row(request, True, None, None, None, None, None)
        return
    steps = [step for step in plan.steps if step.start < step.end]
    found = [(*step.partition, step.start, step.end, step.end - step.start) for step in steps]
    if not found:
        yield "nothing is new", None
        return
    for line in aligned([("TOPIC", "PARTITION", "FROM-OFFSET", "TO-OFFSET", "OFFSETS"), *found]):
        yield line, None
    for each in found:
        yield None, _row(request, False, *each)


def summary_line(summary: Summary, request: Request) -> str:
    """What a run has added."""
    if request.grows and not summary.files:
        return f"nothing is new: no file was added to {request.out}"
    rate = summary.rows / summary.seconds if summary.seconds else 0
    what = "line" if request.format is Format.TEXT else "row"
    return (
        f"exported {counted(summary.rows, what)} in {counted(summary.files, 'file')} of {summary.bytes} bytes "
        f"to {request.out} in {summary.seconds:.1f} s ({rate:.0f} {what}s/s)"
    )


def summary_row(summary: Summary, request: Request) -> dict[str, Any]:
    """The same, typed."""
    return {
        "type": "export",
        "table": request.table,
        "format": request.format.value,
        "out": request.out,
        "rows": summary.rows,
        "files": summary.files,
        "bytes": summary.bytes,
        "duration_ms": round(summary.seconds * 1000),
    }


def _row(request: Request, is_whole: bool, *place: object) -> dict[str, Any]:
    return dict(zip(PLAN_COLUMNS, ("planned_export", request.table, is_whole, *place), strict=True))
