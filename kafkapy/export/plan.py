"""What a run has to do: of each partition the offsets that are new since the last one.

Offsets are exported once, from where the last run ended to the high watermark (to the last stable offset, where only
committed records are wanted), so that no later run meets a record that a new leader has cut off again.

- The log start has passed the end of the last run: what lies between is lost, which is told, and the rest exported.
- The log start has moved at all: rows that were exported stay, which is told.
- The topic has another id, or its log ends before what was exported: it was deleted and made again, or cut. Its new
  rows would have offsets that others had before, so the partition is left alone and told as a problem, unless the old
  rows are to be replaced. Rows of a former topic then go for all its partitions, those of a log that was cut for this
  one only.
- The topic is gone: its rows stay, which is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkapy.export.manifest import FileEntry, PartitionEntry
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.output.counted import counted


class LogState(NamedTuple):
    """A partition as it is now; ``end`` is up to where it may be exported, ``log_end`` where its log ends."""

    partition: TopicPartition
    topic_id: str | None
    log_start: int
    end: int
    log_end: int


class Step(NamedTuple):
    """The offsets of a partition that are to be exported, from ``start`` to ``end``, exclusive."""

    partition: TopicPartition
    topic_id: str | None
    log_start: int
    start: int
    end: int
    done: PartitionEntry | None
    """What there is of it and stays."""


class Plan(NamedTuple):
    """``notes`` are told; ``problems`` too, and the run fails for them when it has done the rest. ``removed`` are
    partitions that only the former topic of a name had, or that of the new one are not looked at."""

    steps: list[Step]
    notes: list[str]
    problems: list[str]
    removed: list[TopicPartition]


def plan(logs: Iterable[LogState], done: Mapping[TopicPartition, PartitionEntry], replace_recreated: bool) -> Plan:
    """What is to be done with each of the logs, given what was done."""
    made = Plan([], [], [], [])
    new_ids: dict[str, str | None] = {}
    moved = 0
    for log in logs:
        entry = done.get(log.partition)
        reason = None if entry is None else _why_another(log, entry)
        if entry is None or reason is None:
            step = _next_step(log, entry, made.notes)
            moved += entry is not None and log.log_start > entry.log_start
        elif replace_recreated:
            made.notes.append(f"{log.partition}: {reason}; its old rows are replaced")
            new_ids[log.partition.topic] = log.topic_id
            step = _next_step(log, None, made.notes)
        else:
            made.problems.append(
                f"{log.partition} is left alone: {reason}; --replace-recreated removes its old rows and exports it anew"
            )
            continue
        made.steps.append(step)
    steps = {step.partition for step in made.steps}
    for partition, entry in done.items():
        if partition not in steps and _is_another(new_ids.get(partition.topic), entry.topic_id):
            made.notes.append(f"{partition}: its rows are removed: they are of the former topic of that name")
            made.removed.append(partition)
    if moved:
        made.notes.append(f"the log start of {counted(moved, 'partition')} has moved since the last run; old rows stay")
    return made


def _next_step(log: LogState, entry: PartitionEntry | None, notes: list[str]) -> Step:
    start = log.log_start if entry is None else max(entry.end, log.log_start)
    if entry is not None and log.log_start > entry.end:
        notes.append(
            f"{log.partition}: offsets {entry.end} to {log.log_start - 1} left the log before they were exported"
        )
    return Step(log.partition, log.topic_id, log.log_start, start, max(start, log.end), entry)


def _why_another(log: LogState, entry: PartitionEntry) -> str | None:
    """Why a log is not the one that was exported; None if it is."""
    if _is_another(log.topic_id, entry.topic_id):
        return f"the topic was made again since the last run (its id was {entry.topic_id} and is {log.topic_id})"
    if entry.end > max(log.log_end, log.log_start):
        return f"its log ends at offset {log.log_end}, but was exported up to {entry.end}, so it was cut"
    return None


def _is_another(topic_id: str | None, before: str | None) -> bool:
    return None not in (topic_id, before) and topic_id != before


def next_entry(step: Step, files: Iterable[FileEntry]) -> PartitionEntry:
    """What there is of a partition when a step is done."""
    done = step.done or PartitionEntry(step.topic_id, step.log_start)
    ranges = _joined(done.ranges, step.start, step.end)
    return PartitionEntry(step.topic_id or done.topic_id, step.log_start, ranges, (*done.files, *files))


def _joined(ranges: tuple[tuple[int, int], ...], start: int, end: int) -> tuple[tuple[int, int], ...]:
    """With what a step did. The last range may be empty: it says where the next run goes on, and that the offsets
    before it were told to be lost."""
    kept = tuple(each for each in ranges if each[0] < each[1])
    if kept and kept[-1][1] == start:
        return (*kept[:-1], (kept[-1][0], end))
    return (*kept, (start, end))
