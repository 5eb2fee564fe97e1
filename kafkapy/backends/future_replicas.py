"""A replica on its way from one log dir of its broker to another.

    <new log dir>/<topic>-<partition>.<id>-future    the copy, which fills up
    <old log dir>/<topic>-<partition>                the replica, until the copy has all of it

The copy is filled and synced; then the metadata says that the replica is in the new log dir; then the old directory
goes, and the copy gets its name. As long as the metadata does not say so, the old directory is the replica and the copy
is something to go on with, or to drop. Killed later, the copy is whole and takes the replica's place
(``recover_moves``), as a broker lets it at its start. Before Kafka 3.7 the metadata has no log dirs: there a copy is
whole when there is nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from kafkapy.backends.replica_places import assigned_directory
from kafkapy.errors import KafkapyError
from kafkapy.log.partition_log import PartitionLog
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.image import MetadataImage

if TYPE_CHECKING:
    from kafkapy.backends.broker_logs import BrokerLogs

COPY_BYTES = 1 << 20


def copy_log(current: PartitionLog, future: PartitionLog, now: int, copied: Callable[[int], None]) -> None:
    """Bring a copy to the end of what it is a copy of, from where it stands; what it has counts as ``copied``."""
    if not _is_beginning(future, current):
        future.truncate_fully_and_start_at(current.log_start_offset, now)
    copied(future.size)
    while future.log_end_offset < current.log_end_offset:
        batches = current.read(future.log_end_offset, COPY_BYTES, current.log_end_offset)
        data = b"".join(bytes(batch.data) for batch in batches)
        if future.append_as_follower(data, now) is None:
            raise KafkapyError(f"{current.directory}: there is nothing at offset {future.log_end_offset}")
        copied(len(data))
    future.increment_log_start_offset(current.log_start_offset)


def remove_futures(log_dirs: Mapping[str, BrokerLogs], partition: TopicPartition) -> None:
    """Drop the copies of a replica; ``log_dirs`` are those of its broker, by their ids."""
    for logs in log_dirs.values() if len(log_dirs) > 1 else ():
        if partition in logs.futures():
            logs.remove_future(partition)


def recover_moves(image: MetadataImage, broker_id: int, log_dirs: Mapping[str, BrokerLogs]) -> Iterator[str]:
    """Finish the moves of a broker's replicas that were as good as done, and tell of them."""
    for directory, logs in log_dirs.items() if len(log_dirs) > 1 else ():
        for partition in logs.futures():
            assigned = assigned_directory(image, partition, broker_id)
            elsewhere = [each for each in log_dirs.values() if each.has(partition)]
            if assigned is None or logs in elsewhere:
                logs.remove_future(partition)
            elif assigned == directory or not elsewhere:
                for old in elsewhere:
                    old.delete([partition])
                logs.promote_future(partition)
                yield f"{logs.path(partition)}: took the place of the replica that was being moved"


def _is_beginning(future: PartitionLog, current: PartitionLog) -> bool:
    """Whether all of a copy is also in the log that goes on."""
    if not current.log_start_offset <= future.log_end_offset <= current.log_end_offset:
        return False
    epoch = future.epochs.latest_epoch
    if epoch is None:
        return True
    found, end = current.epochs.end_offset_for(epoch, current.log_end_offset)
    return found == epoch and end >= future.log_end_offset
