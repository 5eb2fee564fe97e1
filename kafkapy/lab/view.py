"""The state of a laboratory as values: what tables show, what claims are held against, what two steps differ in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkapy.replication.partition import PartitionTable, ReplicaRow
from kafkapy.replication.replica import Replica


class Logged(NamedTuple):
    """A record in a replica's log; ``epoch`` is that of the leader that took it."""

    offset: int
    epoch: int
    value: str


class PartitionView(NamedTuple):
    """A partition: its table and the logs of its replicas.

    ``purgatory`` are the brokers whose FETCH waits there, ``unanswered`` the values whose PRODUCE with acks=all does.
    ``lost`` was acknowledged, and the leader does not have it.
    """

    table: PartitionTable
    logs: Mapping[int, tuple[Logged, ...]]
    purgatory: tuple[int, ...] = ()
    unanswered: tuple[str, ...] = ()
    acknowledged: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def row(self, broker_id: int) -> ReplicaRow:
        """The replica of a broker."""
        return next(row for row in self.table.replicas if row.broker_id == broker_id)


class ConsumerView(NamedTuple):
    """A consumer; None is a position or a committed offset that it does not have. ``in_hand`` is what it has read and
    not worked on, ``done`` all its work, also that of its former lives."""

    name: str
    topic: str
    position: int | None
    committed: int | None
    in_hand: tuple[str, ...]
    done: tuple[str, ...]


class LabView(NamedTuple):
    """Everything. ``time_ms`` is how long the scenario has run."""

    topics: Mapping[str, PartitionView]
    consumers: Mapping[str, ConsumerView]
    controller_epoch: int
    time_ms: int


def logged(replica: Replica) -> tuple[Logged, ...]:
    """All records of a replica."""
    return tuple(
        Logged(record.offset, batch.header.partition_leader_epoch, (record.value or b"").decode())
        for batch in replica.log.read(replica.log_start_offset)
        for record in batch.records()
    )
