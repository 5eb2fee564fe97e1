"""The copies of partitions against each other, as replica-diff compares them, and against what the metadata says."""

from __future__ import annotations

from collections.abc import Iterator

from kafkapy.backends.repair_plan import missing_step, stray_step
from kafkapy.backends.replica_diff import CopyReport, MissingCopy, PartitionReport, ReplicaDiff, Verdict
from kafkapy.doctor.finding import Finding, error, warning
from kafkapy.doctor.unreadable import unreadable
from kafkapy.errors import KafkapyError
from kafkapy.log.topic_partition import TopicPartition


def check_replicas(diff: ReplicaDiff, partition: TopicPartition, where: str) -> Iterator[Finding]:
    """What is wrong with the copies of a partition; ``where`` are the options that name the cluster. Damage inside a
    copy is told by who reads its files."""
    repair = f"kafkapy replica-diff {partition.topic}:{partition.partition} {where} --repair-plan"
    try:
        report = diff.diff(partition, lambda _: None)
    except KafkapyError as problem:
        yield error(str(partition), f"cannot be compared: {problem}", repair)
        return
    except OSError as problem:
        yield unreadable(problem, str(partition))
        return
    for broker, gone in report.missing_brokers.items():
        yield missing(partition, broker, gone, where, report)
    for copy in report.copies:
        place = copy.copy.replica.path
        if not copy.copy.is_assigned:
            text = f"is stray: the metadata has no replica of it on {copy.copy.name}"
            yield warning(place, text, stray_step(report, copy))
        elif copy.verdict.is_difference and copy.verdict is not Verdict.DAMAGED and not _may_lag(copy):
            yield error(place, _text(copy, report), repair)


def _may_lag(found: CopyReport) -> bool:
    """Whether it lacks what was committed without it: that it is not in sync is told with what the metadata says."""
    return found.verdict is Verdict.AT_RISK and not (found.copy.in_isr or found.copy.in_elr)


def missing(
    partition: TopicPartition, broker: int, gone: MissingCopy, where: str, report: PartitionReport | None = None
) -> Finding:
    """What is told of a copy that is not there."""
    text = f"broker {broker} should have a copy, and its log dirs have none"
    directory = where if where.startswith("--cluster ") else None
    remedy = missing_step(directory, partition, gone, report)
    return error(str(partition), text, remedy)


def _text(found: CopyReport, report: PartitionReport) -> str:
    copy = found.copy
    trusted = report.trusted.copy.name
    if found.verdict is Verdict.LOST:
        return f"has lost records: it ends at offset {copy.reader.log_end_offset}, and once went to {copy.once_to}"
    if found.verdict is Verdict.AT_RISK:
        end = copy.reader.log_end_offset
        return f"ends at offset {end}, before what is committed, and its broker does not fetch ({copy.not_fetching})"
    if found.verdict is Verdict.OTHER_TOPIC:
        return f"is of another topic of the same name: its topic id is {copy.topic_id}"
    if found.verdict is Verdict.EPOCHS_DIFFER:
        return f"has other leader epochs than {trusted}"
    difference = found.comparison.difference if found.comparison is not None else None
    at = f" from offset {difference.offset} on ({difference.reason})" if difference is not None else ""
    return f"differs from {trusted}{at}"
