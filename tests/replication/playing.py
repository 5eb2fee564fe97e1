"""Playing with a simulated partition: batches to send, what logs hold, and tables to compare cell by cell."""

from __future__ import annotations

from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.replication.partition import PartitionTable
from kafkapy.replication.replica import Replica
from kafkapy.replication.simulated_partition import SimulatedPartition

NOW = 1_794_800_000_000
OPTIONS = BatchOptions()


def batch(*values: str, options: BatchOptions = OPTIONS) -> bytes:
    """A batch as a producer sends it."""
    return encode_batch([Record(n, NOW + n, None, value.encode()) for n, value in enumerate(values)], options)


def held(replica: Replica, end: int | None = None) -> dict[int, str]:
    """The records of a replica, by offset, before ``end``."""
    return {
        record.offset: (record.value or b"").decode()
        for each in replica.log.read(replica.log_start_offset)
        for record in each.records()
        if end is None or record.offset < end
    }


def values(simulated: SimulatedPartition, broker_id: int) -> list[str]:
    """What a replica holds, in order."""
    return list(held(simulated.partition.replicas[broker_id]).values())


def cells(table: PartitionTable) -> dict[int, tuple[int, int, int | None]]:
    """Of each replica its log end offset, its high watermark, and what the leader knows of it."""
    return {
        row.broker_id: (row.log_end_offset, row.high_watermark, row.remote_log_end_offset) for row in table.replicas
    }
