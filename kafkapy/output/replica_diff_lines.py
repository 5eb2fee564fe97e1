"""Lines and rows of ``kafkapy replica-diff``: a partition, its copies, and under each copy what is worth telling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafkapy.output.aligned import aligned

if TYPE_CHECKING:
    from kafkapy.backends.repair_plan import Step
    from kafkapy.backends.replica_diff import Copy, CopyReport, PartitionReport
    from kafkapy.log.replica_comparison import BatchAt

_NO_PRODUCER = -1
SHORTER = "the same as far as they reach"


def partition_lines(report: PartitionReport, plan: Sequence[Step] | None, where: str | None = None) -> Iterator[str]:
    """A partition in words; ``plan`` is what to do about it, where that was asked for, ``where`` the options that name
    a cluster directory."""
    from kafkapy.backends.repair_plan import missing_step

    count = len(report.copies)
    yield f"{report.partition}: {count} {'copy' if count == 1 else 'copies'}, {_summary(report)}"
    lines = aligned([_cells(each) for each in report.copies], indent="  ")
    for each, line in zip(report.copies, lines, strict=True):
        yield line
        for note in _notes(report, each):
            yield f"    {note}"
    for broker in report.missing_brokers:
        yield f"  broker {broker} should have a copy, and its log dirs have none"
    for broker in report.brokers_not_given:
        yield f"  broker {broker} has a replica too, but none of its log dirs is given"
    yield from (f"  {line}" for line in not_read_lines(report))
    for step in plan or ():
        yield f"  plan for {step.copy.name}: {step.text}"
    for broker, missing in report.missing_brokers.items() if plan is not None else ():
        yield f"  plan for broker {broker}: {missing_step(where, report.partition, missing, report)}"


def not_read_lines(report: PartitionReport) -> Iterator[str]:
    """The replicas that were not compared."""
    for broker, why in report.not_read.items():
        yield f"broker {broker} has a replica too, which is not compared: {why}"


def partition_rows(report: PartitionReport, plan: Sequence[Step] | None) -> Iterator[dict[str, Any]]:
    """The same, a row for each copy."""
    steps: Mapping[str, Step] = {step.copy.replica.path: step for step in plan or ()}
    for each in report.copies:
        row = {"type": "replica_diff", **_copy_fields(report, each.copy), **_found_fields(each)}
        if plan is not None:
            step = steps[each.copy.replica.path]
            row |= {"action": step.action.value, "action_offset": step.offset, "plan": step.text}
        yield row


def table_rows(report: PartitionReport, plan: Sequence[Step] | None) -> Iterator[dict[str, Any]]:
    """What fits beside one another, a row for each copy; of the rest the lines are the better reading."""
    texts = {step.copy.replica.path: step.text for step in plan or ()}
    for each in report.copies:
        copy = each.copy
        yield {
            "type": "replica_diff",
            "partition": str(report.partition),
            "copy": copy.name,
            "role": _role(copy),
            "log_start_offset": copy.reader.log_start_offset,
            "end": copy.reader.log_end_offset,
            "epoch": copy.last_epoch if copy.last_epoch >= 0 else None,
            "size": copy.reader.size,
            "verdict": _verdict(each),
            "plan": texts.get(copy.replica.path),
        }


def _summary(report: PartitionReport) -> str:
    if len(report.copies) == 1:
        return report.trusted.verdict.value if report.differs else "nothing to compare"
    if report.differs:
        differing = sorted({each.verdict.value for each in report.copies if each.verdict.is_difference})
        is_shorter = set(differing) <= {"data at risk", "records lost"}
        return f"{SHORTER}, {' and '.join(differing)}" if is_shorter else "different"
    shorter = any(each.verdict in ("behind", "ahead") for each in report.copies)
    return SHORTER if shorter else "alike"


def _cells(report: CopyReport) -> list[str]:
    copy = report.copy
    return [
        copy.name,
        _role(copy),
        f"start {copy.reader.log_start_offset}",
        f"end {copy.reader.log_end_offset}",
        f"epoch {copy.last_epoch}" if copy.last_epoch >= 0 else "no epoch",
        f"{copy.reader.size} bytes",
        _verdict(report),
    ]


def _role(copy: Copy) -> str:
    if copy.is_leader:
        return "leader"
    if copy.in_isr:
        return "in ISR"
    return "in ELR" if copy.in_elr else "-"


def _verdict(report: CopyReport) -> str:
    found = report.comparison
    if report.damage is not None:
        return f"{report.verdict} at offset {report.damage.offset}"
    if found is not None and report.verdict == "different":
        offset = found.end if found.difference is None else found.difference.offset
        return f"different from offset {offset} on"
    if report.verdict == "epochs differ" and report.epoch_difference is not None:
        return f"epochs differ from offset {report.epoch_difference.offset} on"
    return report.verdict.value


def _notes(report: PartitionReport, each: CopyReport) -> Iterator[str]:
    trusted, copy, found = report.trusted.copy, each.copy, each.comparison
    if each.damage is not None:
        place = "" if each.damage.position is None else f"byte {each.damage.position} of "
        yield f"{place}{each.damage.path}: {each.damage.reason}"
    if found is not None and found.difference is not None:
        yield f"{found.difference.reason}, offset {found.difference.offset}:"
        yield f"{trusted.name}: {_batch_text(found.difference.ours)}"
        yield f"{copy.name}: {_batch_text(found.difference.theirs)}"
    elif found is not None and each.verdict == "different":
        more = copy.reader.log_end_offset - found.end
        yield f"{trusted.name} went on to a later leader epoch where this copy has {more} more offset(s)"
    parting = each.epoch_difference
    if parting is not None:
        ours, theirs = _epoch_text(parting.our_epoch), _epoch_text(parting.their_epoch)
        yield f"leader epochs part at offset {parting.offset}: {ours} by {trusted.name}, {theirs} by {copy.name}"
    if copy.epochs is None:
        yield "its leader-epoch-checkpoint cannot be read"
    if found is not None and copy.reader.log_start_offset != trusted.reader.log_start_offset:
        yield f"compared from offset {found.start} on: the logs begin at different offsets"
    if copy.readable_to is not None and copy.readable_to < copy.reader.log_end_offset:
        yield (
            f"read up to its high watermark, offset {copy.readable_to}: a running broker returns nothing above it, "
            "so the rest is not compared"
        )
    if found is not None and found.compacted:
        yield f"compaction has left {found.compacted} record(s) in one of the two only"
    if copy.has_lost:
        end = copy.reader.log_end_offset
        yield f"the log ends at offset {end}, but checkpoints and leader epochs say that it went to {copy.once_to}"
    end, committed_to = copy.reader.log_end_offset, min(trusted.committed_to, report.trusted.good_to)
    if copy.not_fetching is not None and end < committed_to and each.verdict in ("data at risk", "records lost"):
        offsets = f"offset {end} is" if committed_to == end + 1 else f"offsets {end} to {committed_to - 1} are"
        yield f"its broker is {copy.not_fetching} and does not fetch: {offsets} committed, and not in this copy"
    if copy.torn_bytes:
        yield f"{copy.torn_bytes} bytes of a torn write follow the end of the log"
    if each.verdict == "other topic":
        yield f"topic id {copy.topic_id}, that of {trusted.name} is {trusted.topic_id}"
    if not copy.is_assigned:
        yield "the metadata has no replica of the partition on this broker"


def _epoch_text(epoch: int | None) -> str:
    return "none" if epoch is None else str(epoch)


def _batch_text(at: BatchAt | None) -> str:
    if at is None:
        return "no more batches"
    header = at.header
    producer = "no producer"
    if header.producer_id != _NO_PRODUCER:
        producer = f"producer {header.producer_id} epoch {header.producer_epoch} sequence {header.base_sequence}"
    where = f"in {at.path}" if at.position is None else f"at byte {at.position} of {at.path}"
    return (
        f"offsets {header.base_offset}-{header.last_offset}, epoch {header.partition_leader_epoch}, "
        f"crc {header.crc}, {producer}, {header.size} bytes {where}"
    )


def _batch_fields(at: BatchAt | None) -> dict[str, Any] | None:
    if at is None:
        return None
    header = at.header
    return {
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "epoch": header.partition_leader_epoch,
        "crc": header.crc,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "base_sequence": header.base_sequence,
        "records": header.record_count,
        "size": header.size,
        "file": at.path,
        "position": at.position,
    }


def _copy_fields(report: PartitionReport, copy: Copy) -> dict[str, Any]:
    return {
        "topic": report.partition.topic,
        "partition": report.partition.partition,
        "broker_id": copy.broker_id,
        "path": copy.replica.path,
        "future": copy.replica.is_future,
        "leader": copy.is_leader,
        "in_isr": copy.in_isr,
        "in_elr": copy.in_elr,
        "log_start_offset": copy.reader.log_start_offset,
        "log_end_offset": copy.reader.log_end_offset,
        "last_epoch": copy.last_epoch,
        "size": copy.reader.size,
        "torn_bytes": copy.torn_bytes,
        "lost_offsets": max(0, copy.once_to - copy.reader.log_end_offset),
    }


def _found_fields(report: CopyReport) -> dict[str, Any]:
    found, damage, parting = report.comparison, report.damage, report.epoch_difference
    difference = None if found is None else found.difference
    return {
        "verdict": report.verdict.value,
        "compared_from": None if found is None else found.start,
        "compared_to": None if found is None else found.end,
        "compacted_records": 0 if found is None else found.compacted,
        "difference_offset": None if difference is None else difference.offset,
        "reason": None if difference is None else difference.reason,
        "trusted_batch": None if difference is None else _batch_fields(difference.ours),
        "batch": None if difference is None else _batch_fields(difference.theirs),
        "epochs_part_at": None if parting is None else parting.offset,
        "truncate_to": report.truncate_to,
        "damage": None if damage is None else dict(damage._asdict()),
    }
