"""A plan, carried out part by part.

A part is begun, first between brokers, then between log dirs, and complete before the next one begins. Killed at any
point, the cluster knows what is on its way: executed again, the plan goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kafkapy.backends.replica_control import Copied, ReplicaControl, ReplicaDirs
from kafkapy.errors import KafkapyError
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.reassignment.layout import Layout
from kafkapy.metadata.reassignment.plan_batches import batches
from kafkapy.metadata.reassignment.reassignment_json import Reassignment


class HowToExecute(NamedTuple):
    """``wait`` for the end of each part; ``timeout_ms`` is how long moves between log dirs may take to begin."""

    wait: bool
    timeout_ms: int = 10_000
    allow_factor_change: bool = True


class Begun(NamedTuple):
    """What has begun: the partitions of a part, by its number, or after that some of its moves between log dirs."""

    part: int
    partitions: dict[TopicPartition, tuple[int, ...]]
    log_dirs: ReplicaDirs


class Completed(NamedTuple):
    """A part, by its number, of which nothing is under way any more."""

    part: int


def in_parts(
    layout: Layout, plan: Reassignment, most_partitions: int | None = None, most_bytes: int | None = None
) -> list[Reassignment]:
    """A plan in parts of so many partitions and so many bytes at most."""
    return [
        Reassignment(part, {replica: path for replica, path in plan.log_dirs.items() if replica[0] in part})
        for part in batches(layout, plan.replicas, most_partitions, most_bytes)
    ]


def execute(
    control: ReplicaControl, parts: Sequence[Reassignment], how: HowToExecute, copied: Copied
) -> Iterator[Begun | Completed]:
    """Execute a plan; what begins is handed out when it has begun, and each part when it was waited for."""
    for number, part in enumerate(parts, 1):
        control.begin(part, how.allow_factor_change)
        yield Begun(number, part.replicas, {})
        for moves in control.begin_log_dir_moves(part.log_dirs, how.timeout_ms):
            yield Begun(number, {}, moves)
        stalled = control.complete(part, copied) if how.wait else {}
        if stalled:
            told = "; ".join(f"{partition}: {why}" for partition, why in list(stalled.items())[:5])
            raise KafkapyError(
                f"{len(stalled)} of {len(part.replicas)} reassignments cannot be completed now ({told}); once that "
                "is fixed, execute the same plan again to continue"
            )
        if how.wait:
            yield Completed(number)
