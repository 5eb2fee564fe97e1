"""Replicas of a cluster directory whose partition directory is gone, as after a disk that was lost or an ``rm -r``.

A directory that the metadata asks for and that is not there may never have been made: a crash came between the two. It
is gone if its broker was in sync (or eligible) and there were records: the checkpoints of the broker's log dirs know
of some, or another copy of the same topic has some. Then it must not lead, nor count as in sync: whoever follows an
empty log cuts off all it has. So it leaves ISR and ELR (``LoseReplicas``), and fetches all anew by ``replicate``. Where
it was the last one there, the copy that reaches farthest leads in its place, of whichever broker: that is as an unclean
election, and better than nothing. Where no copy has anything the log begins anew, and that is told.

Killed before the change of the metadata is written, all is as it was, and the next command finds the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kafkapy.backends.replicas import LogDirs, reach
from kafkapy.errors import FormatError
from kafkapy.metadata.changes import LoseReplicas
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration

if TYPE_CHECKING:
    from kafkapy.backends.broker_logs import BrokerLogs
    from kafkapy.backends.directory import DirectoryCluster
    from kafkapy.log.partition_reader import PartitionReader
    from kafkapy.log.topic_partition import TopicPartition

AGAIN = "kafkapy cluster replicate --until-caught-up"


def drop_lost(cluster: DirectoryCluster, logs: Sequence[BrokerLogs] | None) -> Iterator[str]:
    """Let replicas that are gone leave the ISRs, and tell of each; ``logs`` are those of a broker that starts, by
    default all that are open."""
    missing = cluster.places.missing(logs)
    if not missing:
        return
    dirs = LogDirs(cluster.every_log_dir)
    for partition, brokers in missing.items():
        assigned = {*cluster.places.registration(partition).replicas}
        copies = _copies(dirs, partition, cluster.image().topics[partition.topic].id)
        others = {each: reader for each, reader in copies.items() if each in assigned - {*brokers}}
        if others:
            yield from _drop(cluster, partition, brokers, others)
        else:
            kept = {each: cluster.places.kept_offset(partition, each) for each in brokers}
            yield from (_gone(brokers[each], partition, end) for each, end in kept.items() if end)


def _drop(
    cluster: DirectoryCluster,
    partition: TopicPartition,
    lost: Mapping[int, BrokerLogs],
    others: Mapping[int, PartitionReader],
) -> Iterator[str]:
    before = cluster.places.registration(partition)
    survivor = max(others, key=lambda broker_id: (*reach(others[broker_id]), broker_id in cluster.brokers.alive))
    cluster.apply(LoseReplicas(*partition, tuple(sorted(lost)), survivor))
    who = _who_leads(before, cluster.places.registration(partition), others[survivor].log_end_offset)
    for broker_id, logs in lost.items():
        left = f"broker {broker_id} is out of the ISR until it has fetched all anew ({AGAIN})"
        yield f"{logs.path(partition)}: its directory was gone: {left}{who}"


def _who_leads(before: PartitionRegistration, after: PartitionRegistration, end: int) -> str:
    if after.leader == NO_LEADER:
        return f"; nobody leads before broker {after.isr[0] if after.isr else after.elr[0]} is started"
    if after.leader not in before.isr + before.elr:
        return f"; broker {after.leader} leads, which was not in sync, with a log that ends at offset {end}"
    return f"; broker {after.leader} leads" if after.leader != before.leader else ""


def _gone(logs: BrokerLogs, partition: TopicPartition, end: int) -> str:
    return (
        f"{logs.path(partition)}: its directory was gone, and no other copy has its records: those up to offset "
        f"{end - 1} are lost, and the log begins anew"
    )


def _copies(dirs: LogDirs, partition: TopicPartition, topic_id: str) -> dict[int, PartitionReader]:
    """The copies with records, by broker, also of brokers that do not run."""
    copies: Iterable[tuple[int | None, PartitionReader]] = (
        (dirs.broker_ids[replica.log_dir], dirs.reader(replica))
        for replica in dirs.replicas.get(partition, ())
        if not replica.is_future
    )
    return {
        broker_id: reader
        for broker_id, reader in copies
        if broker_id is not None and reader.log_end_offset and _topic_id(reader) in (None, topic_id)
    }


def _topic_id(reader: PartitionReader) -> str | None:
    try:
        return reader.topic_id
    except FormatError:
        return None
