"""A lookup told in sentences, and as rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from kafkapy.log.lookup import BatchStep, IndexStep, Lookup, Probe, RecordStep, SegmentStep, Step

SHOWN_BATCHES = 8
SHOWN_SEGMENTS = 8
LONGEST_TEXT = 200


def lookup_lines(lookup: Lookup, target: str) -> Iterator[str]:
    """``target`` is what was looked for, such as ``offset 25 in orders-0``."""
    yield f"Looking for {target}"
    before: Step | None = None
    for number, ((kind, _), group) in enumerate(groupby(lookup.steps, key=_kind), 1):
        steps = list(group)
        first, *rest = _TELLERS[kind](steps)
        yield f"{number}. {first}"
        if _disagrees(before, steps[0]):
            yield "   The log does not agree with the index entry, so the scan begins at the start of the segment."
        yield from (f"   {line}" for line in rest)
        before = steps[-1]
    if lookup.record is None:
        yield "There is no such record."
    yield (
        f"Bytes touched: {lookup.index_bytes + lookup.log_bytes}: {lookup.index_bytes} of indexes, "
        f"{lookup.log_bytes} of the log, which has {lookup.log_size}."
    )


def _kind(step: Step) -> tuple[type[Step], str]:
    return type(step), step.kind if isinstance(step, IndexStep) else ""


def _disagrees(before: Step | None, step: Step) -> bool:
    """Whether a scan does not begin where the offset index said."""
    return (
        isinstance(before, IndexStep)
        and isinstance(step, BatchStep)
        and before.found is not None
        and before.found.value != step.position
    )


def lookup_rows(lookup: Lookup) -> Iterator[dict[str, Any]]:
    """A row for each step, all with the same columns."""
    for number, step in enumerate(lookup.steps, 1):
        row: dict[str, Any] = {"type": "lookup_step", "step": number, "action": _ACTIONS[type(step)], "file": step.file}
        yield row | _row(step) | {"bytes_read": step.bytes_read}


def _row(step: Step) -> dict[str, Any]:
    columns = dict.fromkeys(("offset", "last_offset", "timestamp", "position", "size", "entries", "probes", "chosen"))
    if isinstance(step, SegmentStep):
        own = {
            "offset": step.base_offset,
            "timestamp": step.largest_timestamp,
            "size": step.size,
            "chosen": step.chosen,
        }
    elif isinstance(step, IndexStep):
        own = {"entries": step.entry_count, "probes": len(step.probes), "chosen": step.found is not None}
        if step.found is not None:
            own |= dict(zip(_ENTRY_COLUMNS[step.kind], step.found[1:], strict=True))
    elif isinstance(step, BatchStep):
        own = {"offset": step.base_offset, "last_offset": step.last_offset, "timestamp": step.max_timestamp}
        own |= {"position": step.position, "size": step.size, "chosen": step.chosen}
    else:
        own = {"offset": step.record.offset, "timestamp": step.record.timestamp, "position": step.batch_position}
        own |= {"chosen": True}
    return {**columns, **own}


_ENTRY_COLUMNS = {"offset": ("offset", "position"), "time": ("timestamp", "offset")}


def _segments(steps: list[Any]) -> Iterator[str]:
    chosen = steps[-1]
    if chosen.largest_timestamp is None:
        yield (
            f"Segment: {chosen.file}, the last with a base offset ({chosen.base_offset}) that is not above the target; "
            f"{chosen.size} bytes."
        )
        return
    yield (
        "Segment: the first whose largest timestamp reaches the target. It is the last entry of a .timeindex, or the "
        "file's age where records have no time."
    )
    yield from _shortened([_segment(step) for step in steps], SHOWN_SEGMENTS)


def _segment(step: SegmentStep) -> str:
    reaches = "reaches it" if step.chosen else "too early"
    return f"{step.file}: {_time(step.largest_timestamp or 0)}, {reaches}"


def _index(steps: list[Any]) -> Iterator[str]:
    return _offset_index(steps[0]) if steps[0].kind == "offset" else _time_index(steps[0])


def _offset_index(step: IndexStep) -> Iterator[str]:
    relative = step.target - step.base_offset
    yield (
        f"Offset index: {step.file}, {step.entry_count} entries; "
        f"binary search for relative offset {relative} ({step.target} - {step.base_offset}):"
    )
    for probe in step.probes:
        own = probe.key - step.base_offset
        yield f"entry {probe.slot}: relative offset {own}, position {probe.value} ({_compared(own, relative)})"
    if step.found is None:
        yield "No entry is at or before it: the scan begins at position 0."
    else:
        own = step.found.key - step.base_offset
        yield f"Found entry {step.found.slot}: relative offset {own}, position {step.found.value}."


def _time_index(step: IndexStep) -> Iterator[str]:
    yield f"Time index: {step.file}, {step.entry_count} entries; binary search for timestamp {step.target}:"
    for probe in step.probes:
        yield f"entry {_time_entry(step, probe)} ({_compared(probe.key, step.target)})"
    if step.found is None:
        yield f"No entry is at or before it: the search continues from the base offset {step.base_offset}."
    else:
        yield f"Found entry {_time_entry(step, step.found)}: what is later comes after offset {step.found.value}."


def _time_entry(step: IndexStep, probe: Probe) -> str:
    return f"{probe.slot}: timestamp {probe.key}, relative offset {probe.value - step.base_offset}"


def _compared(key: int, target: int) -> str:
    return "the target" if key == target else "too high" if key > target else "low enough"


def _batches(steps: list[Any]) -> Iterator[str]:
    yield f"Scan: {steps[0].file} from position {steps[0].position} on, batch by batch:"
    skipped = [_batch(step) for step in steps if not step.chosen]
    yield from _shortened(skipped, SHOWN_BATCHES)
    if steps[-1].chosen:
        yield _batch(steps[-1])


def _batch(step: BatchStep) -> str:
    read = "read whole" if step.bytes_read == step.size else f"header only, {step.bytes_read} bytes"
    return (
        f"at {step.position}: offsets {step.base_offset} to {step.last_offset}, up to {_time(step.max_timestamp)}, "
        f"{step.size} bytes ({'has it, ' if step.chosen else ''}{read})"
    )


def _record(steps: list[Any]) -> Iterator[str]:
    step: RecordStep = steps[0]
    record = step.record
    yield f"Record: offset {record.offset}, {step.timestamp_type} {_time(record.timestamp)}"
    yield f"key:   {_text(record.key)}"
    yield f"value: {_text(record.value)}"


def _shortened(lines: list[str], most: int) -> list[str]:
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"... {len(lines) - most} more ...", lines[-1]]


def _text(data: bytes | None) -> str:
    if data is None:
        return "null"
    text = data[:LONGEST_TEXT].decode("utf-8", "backslashreplace")
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return shown if len(data) <= LONGEST_TEXT else f"{shown}... ({len(data)} bytes)"


def _time(timestamp: int) -> str:
    try:
        moment = datetime.fromtimestamp(timestamp / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(timestamp)
    return f"{timestamp} ({moment:%Y-%m-%dT%H:%M:%S}.{timestamp % 1000:03d}Z)" if timestamp >= 0 else str(timestamp)


_TELLERS = {SegmentStep: _segments, IndexStep: _index, BatchStep: _batches, RecordStep: _record}
_ACTIONS = {SegmentStep: "segment", IndexStep: "index", BatchStep: "batch", RecordStep: "record"}
