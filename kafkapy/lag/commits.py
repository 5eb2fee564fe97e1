"""Commits as rows, in the order of the log, and when each took effect.

A row is one OffsetCommit record of ``__consumer_offsets``, or the marker that ended a transaction. ``effective`` turns
the rows of one partition into what its coordinator would have answered over time:

- a commit takes effect when it was written; one of a transaction with the COMMIT marker of its producer, unless a
  record behind it took effect before, and never with an ABORT marker or none;
- a tombstone (an offset that expired or was deleted) takes effect at once, also on what is pending.

A member may commit and leave in the same millisecond, so who was there when a commit took effect goes by the order of
the log too.

Compaction erases what was superseded, so a log tells everything only behind its last hole. ``Evidence`` is how far
back that is. What is left of a key before it is the newest record of that key then, so the committed offset is known
from that record on too, though not how often it was committed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkapy.formats.record_batch import NO_PRODUCER_ID
from kafkapy.log.topic_partition import TopicPartition


class CommitRecord(NamedTuple):
    """A record as it lies in the log; the offset of a tombstone is None."""

    log_offset: int
    timestamp: int
    producer_id: int
    group: str
    partition: TopicPartition
    offset: int | None


class Marker(NamedTuple):
    """The end of a producer's transaction."""

    log_offset: int
    timestamp: int
    producer_id: int
    is_commit: bool


class Members(NamedTuple):
    """How many members a group had from then on."""

    timestamp: int
    group: str
    members: int


class OffsetCommit(NamedTuple):
    """What a group had committed from ``timestamp`` on, None where that was taken back. ``by_tool`` where the group is
    known to have had no members then: no consumer did that."""

    timestamp: int
    group: str
    partition: TopicPartition
    offset: int | None
    by_tool: bool = False


class Evidence(NamedTuple):
    """How far back a partition of ``__consumer_offsets`` tells of every commit: from ``since`` on, which is None for an
    empty log; ``is_whole`` where nothing was ever erased before it."""

    since: int | None = None
    is_whole: bool = True


def effective(records: Iterable[CommitRecord | Marker | Members]) -> Iterator[OffsetCommit]:
    """What was in force from when on; the rows of one partition in the order of their offsets."""
    empty: dict[str, bool] = {}
    pending: dict[int, dict[tuple[str, TopicPartition], CommitRecord]] = {}
    newest: dict[tuple[str, TopicPartition], int] = {}
    for record in records:
        if isinstance(record, Members):
            empty[record.group] = record.members == 0
            continue
        if isinstance(record, Marker):
            ended = pending.pop(record.producer_id, {})
            for key, each in ended.items() if record.is_commit else ():
                if each.log_offset > newest.get(key, -1):
                    newest[key] = each.log_offset
                    yield OffsetCommit(record.timestamp, *key, each.offset, empty.get(each.group, False))
            continue
        key = record.group, record.partition
        if record.offset is not None and record.producer_id != NO_PRODUCER_ID:
            pending.setdefault(record.producer_id, {})[key] = record
            continue
        if record.offset is None:
            for waiting in pending.values():
                waiting.pop(key, None)
        newest[key] = record.log_offset
        yield OffsetCommit(record.timestamp, *key, record.offset, empty.get(record.group, False))
