"""What a step led to beyond what it did itself, in sentences: the difference between two views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafkapy.lab.step_kind import numbers, words
from kafkapy.lab.view import LabView, PartitionView
from kafkapy.metadata.topics_image import NO_LEADER


def consequences(before: LabView, after: LabView) -> list[str]:
    """Sentences; with several partitions those of each as one text."""
    found: list[str] = []
    for topic, partition in after.topics.items():
        sentences = list(_of_partition(before.topics[topic], partition))
        found += [f"{topic}-0: {' '.join(sentences)}"] if sentences and len(after.topics) > 1 else sentences
    return found


def _of_partition(before: PartitionView, after: PartitionView) -> Iterator[str]:
    yield from _leadership(before, after)
    yield from _truncations(before, after)
    yield from _left_purgatory(before, after)
    if after.table.isr != before.table.isr:
        yield f"The ISR is now {numbers(after.table.isr)}." if after.table.isr else "The ISR is now empty."
    yield from _high_watermark(before, after)
    if new := _more(before.acknowledged, after.acknowledged):
        yield f"The producer has its answer: {words(new)} {_is(new)} written."
    if new := _more(before.lost, after.lost):
        yield f"{words(new)} {'was' if len(new) == 1 else 'were'} acknowledged, and {_is(new)} LOST."


def _leadership(before: PartitionView, after: PartitionView) -> Iterator[str]:
    old, new = before.table, after.table
    if old.leader_epoch == new.leader_epoch:
        return
    if new.leader == NO_LEADER:
        yield "Nobody can lead."
    elif new.leader == old.leader:
        yield f"Broker {new.leader} keeps leading, in epoch {new.leader_epoch}."
    else:
        yield f"Broker {new.leader} leads, in epoch {new.leader_epoch}."


def _truncations(before: PartitionView, after: PartitionView) -> Iterator[str]:
    for broker_id, log in after.logs.items():
        gone = [each.value for each in before.logs[broker_id] if each not in log]
        if gone:
            kept = len(before.logs[broker_id]) - len(gone)
            yield f"{words(gone)} {_is(gone)} gone from the log of broker {broker_id}, cut off at offset {kept}."


def _left_purgatory(before: PartitionView, after: PartitionView) -> Iterator[str]:
    for broker_id in before.purgatory:
        new = [each.value for each in after.logs[broker_id] if each not in before.logs[broker_id]]
        if broker_id not in after.purgatory and new:
            yield f"The FETCH of broker {broker_id} leaves purgatory, with {words(new)}."


def _high_watermark(before: PartitionView, after: PartitionView) -> Iterator[str]:
    leader = after.table.leader
    if leader == NO_LEADER or leader != before.table.leader:
        return
    old, new = before.row(leader).high_watermark, after.row(leader).high_watermark
    if new != old:
        yield f"The leader's high watermark goes from {old} to {new}."


def _more(before: tuple[str, ...], after: tuple[str, ...]) -> list[str]:
    return list((Counter(after) - Counter(before)).elements())


def _is(values: list[str]) -> str:
    return "is" if len(values) == 1 else "are"
