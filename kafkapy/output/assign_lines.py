"""Rebalances told in lines, and as rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from kafkapy.coordinator.assignors.simulated_group import CONSUMER, COOPERATIVE, Assignment, Rebalance, SimulatedGroup
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.output.aligned import aligned
from kafkapy.output.counted import counted

NEW = "(new)"
NOBODY = "(nobody)"


class Step(NamedTuple):
    """A change of the group, as it was written, and the rebalances it took."""

    number: int
    change: str
    partition_count: int
    rebalances: list[Rebalance]


def step_lines(group: SimulatedGroup, step: Step) -> Iterator[str]:
    """A table of members and partitions for each rebalance, then what moved, and what it cost."""
    if step.number == 0:
        members = counted(len(step.rebalances[0].assignment), "member")
        partitions = counted(step.partition_count, "partition")
        yield f"{group.assignor} ({group.protocol} protocol), {members}, {partitions}"
    else:
        yield from ("", f"Step {step.number}: {step.change}")
    if not step.rebalances[-1].assignment:
        yield "  The group is empty."
        return
    for number, rebalance in enumerate(step.rebalances, 1):
        if len(step.rebalances) > 1:
            yield f"  Rebalance {number} of {len(step.rebalances)}"
        yield from (f"  {line}" for line in _table(rebalance.assignment))
        if step.number > 0:
            yield from (f"  {line}" for line in _moves(rebalance))
    if step.number > 0:
        yield f"  {_cost(group, step)}"


def step_rows(step: Step) -> Iterator[dict[str, Any]]:
    """A row for each partition of each rebalance; ``member`` is None where it waits for its new owner."""
    for number, rebalance in enumerate(step.rebalances, 1):
        owners = {each: member for member, found in rebalance.assignment.items() for each in found}
        waiting = {each: None for each in rebalance.revoked if each not in owners}
        for partition, member in sorted((owners | waiting).items()):
            moved_from = rebalance.moved.get(partition) if member else rebalance.revoked[partition]
            yield {
                "type": "assignment",
                "step": step.number,
                "rebalance": number,
                "change": step.change,
                "member": member,
                "topic": partition.topic,
                "partition": partition.partition,
                "moved_from": moved_from,
            }


def _table(assignment: Assignment) -> Iterator[str]:
    topics = sorted({partition.topic for found in assignment.values() for partition in found})
    rows = [["MEMBER", "PARTITIONS", *topics]]
    for member, found in assignment.items():
        numbers = {
            topic: [each.partition for each in of_topic] for topic, of_topic in groupby(found, lambda each: each[0])
        }
        rows.append([member, str(len(found)), *(runs(numbers.get(topic, ())) or "-" for topic in topics)])
    return aligned(rows)


def runs(numbers: Iterable[int]) -> str:
    """Sorted numbers as ``0-2,5``."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def _moves(rebalance: Rebalance) -> Iterator[str]:
    """Who gave what to whom, a line for each pair."""
    owners = {each: member for member, found in rebalance.assignment.items() for each in found}
    pairs: dict[tuple[str, str], list[TopicPartition]] = {}
    for partition, source in rebalance.moved.items():
        pairs.setdefault((source or NEW, owners[partition]), []).append(partition)
    for partition, source in rebalance.revoked.items():
        if partition not in owners:
            pairs.setdefault((source, NOBODY), []).append(partition)
    for (source, target), found in sorted(pairs.items()):
        yield f"{source} -> {target}: {_listed(found)}"


def _listed(partitions: Iterable[TopicPartition]) -> str:
    of_topics = groupby(sorted(partitions), lambda each: each.topic)
    return " ".join(f"{topic}:{runs(each.partition for each in found)}" for topic, found in of_topics)


def _cost(group: SimulatedGroup, step: Step) -> str:
    """How many partitions had an owner and have another one now, and how many are not read meanwhile."""
    moved = {each for rebalance in step.rebalances for each, source in rebalance.moved.items() if source is not None}
    told = f"{len(moved)} of {counted(step.partition_count, 'partition')} changed hands"
    if group.protocol != CONSUMER and group.assignor != COOPERATIVE:
        return f"{told}; meanwhile every member had to give up all that it had (eager)."
    revoked = {partition for rebalance in step.rebalances for partition in rebalance.revoked}
    how = "cooperative" if group.assignor == COOPERATIVE else "consumer protocol"
    return f"{told}; {len(revoked)} had to be revoked, all others continued to be read ({how})."
