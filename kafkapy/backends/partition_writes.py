"""What is written to the partitions of a cluster directory: batches, log starts, and all of it to disk.

A batch is appended to the leader's log, which gives it offsets. With acks=all the in-sync replicas have fetched it when
``append`` returns, else they do at the next ``flush`` or ``sync``. What these returned for has been synced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kafkapy.backends.cluster import Appended
from kafkapy.errors import KafkaError
from kafkapy.replication.leader import ACKS_ALL

if TYPE_CHECKING:
    from kafkapy.backends.replica_logs import ReplicaLogs
    from kafkapy.backends.write_guard import WriteGuard
    from kafkapy.log.producer_append import Origin
    from kafkapy.log.topic_partition import TopicPartition
    from kafkapy.replication.partition import ReplicatedPartition

HIGH_WATERMARK = -1


class PartitionWrites:
    """``now`` is the time, in ms."""

    def __init__(self, replicas: ReplicaLogs, guard: WriteGuard, now: Callable[[], int]) -> None:
        self._replicas = replicas
        self._guard = guard
        self._now = now

    def partition(self, partition: TopicPartition) -> ReplicatedPartition:
        """A partition, its in-sync followers where the leader is."""
        with self._guard.short():
            return self._replicas.partition(partition)

    def append(
        self, partition: TopicPartition, batch: bytes, acks: int, origin: Origin, transaction_version: int
    ) -> Appended:
        """Append to the leader and, with acks=all, to every replica in sync."""
        with self._guard.short():
            replicated, now = self._replicas.partition(partition), self._now()
            try:
                info = replicated.append(batch, acks, now, origin, transaction_version)
            except KafkaError as error:
                if replicated.leader is None:
                    error.hint = self._replicas.why_not_led(partition)
                raise
            if acks == ACKS_ALL and not replicated.replicate(info.last_offset, now):
                raise KafkaError("TimeoutException", _timed_out(replicated))
        return Appended(info.first_offset, info.last_offset, info.duplicate)

    def delete_records(self, partition: TopicPartition, before: int) -> int:
        """Move the log start offset, of the in-sync followers by what they fetch."""
        leader = self.partition(partition).led().replica
        target = leader.high_watermark if before == HIGH_WATERMARK else before
        if not 0 <= target <= leader.high_watermark:
            raise KafkaError(
                "OffsetOutOfRangeException",
                f"Cannot increment the log start offset to {target} of partition {partition} since it is larger than "
                f"the high watermark {leader.high_watermark}",
            )
        with self._guard.short():
            leader.log.increment_log_start_offset(target)
            self._replicas.settle([partition])
        return leader.log_start_offset

    def sync(self, partitions: Iterable[TopicPartition]) -> None:
        """Bring what was appended to these partitions to the in-sync replicas, and to disk."""
        wanted = list(partitions)
        with self._guard.short():
            self._replicas.settle(wanted)
            for partition in wanted:
                for replica in self._replicas.partition(partition).replicas.values():
                    replica.log.flush()

    def flush(self) -> None:
        """Bring what was appended to the in-sync replicas, and to disk."""
        with self._guard.short():
            self._replicas.settle()
            self._replicas.flush()


def _timed_out(replicated: ReplicatedPartition) -> str:
    """What an acks=all waits for, and how that ends."""
    leader, lag = replicated.led(), replicated.settings.replica_lag_time_max_ms
    appended = (
        f"The request timed out: it was appended to {replicated.partition} on the leader, broker "
        f"{leader.broker_id}, but"
    )
    waits_for = replicated.not_fetching()
    if waits_for:
        return (
            f"{appended} broker {','.join(map(str, waits_for))}, in its ISR, lags and does not fetch. Let it fetch "
            f"with {_started(waits_for, ' and ')}, or leave the ISR with 'kafkapy cluster advance --ms {lag + 1}'."
        )
    away = [each for each in replicated.registration.replicas if each not in leader.isr]
    if len(leader.isr) < leader.min_isr and away:
        return (
            f"{appended} its ISR has {len(leader.isr)} of the {leader.min_isr} replicas that min.insync.replicas "
            f"requires. Let others join it with {_started(away, ' or ')}."
        )
    return "The request timed out."


def _started(brokers: Iterable[int], between: str) -> str:
    return between.join(f"'kafkapy cluster start-broker {broker_id}'" for broker_id in brokers)
