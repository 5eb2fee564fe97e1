"""Replicas of a cluster directory whose partition directory is gone, as after a disk that was lost or an ``rm -r``.

A directory that the metadata asks for and that is not there may never have been made: a crash came between the two. It
is gone if its broker was in sync (or eligible) and there were records: the checkpoints of the broker's log dirs know
of some, or another copy of the same topic has some. Then it must not lead, nor count as in sync: whoever follows an
empty log cuts off all it has. So it leaves ISR and ELR (``LoseReplicas``), and fetches all anew by ``replicate``. Where
it was the last one there, the copy that reaches farthest leads in its place, of whichever broker: that is as an unclean
election, and better than nothing.

Where no copy has anything, or the only one lies where the metadata has no replica, as after a ``mv`` to another broker,
the partition is lost (``places.lost``): its files and metadata stay as they are, and nobody reads or writes it until a
directory is put back, or the loss is accepted by an unclean election (``begin_anew``). No other command is kept from
its work by that.

Killed before the change of the metadata is written, all is as it was, and the next command finds the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING

from kafkapy.backends.replicas import LogDirs, reach
from kafkapy.errors import FormatError
from kafkapy.log.names import STRAY_DIR_SUFFIX, partition_dirs
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.metadata.changes import LoseReplicas
from kafkapy.metadata.topics_image import NO_LEADER, PartitionRegistration

if TYPE_CHECKING:
    from kafkapy.backends.broker_logs import BrokerLogs
    from kafkapy.backends.directory import DirectoryCluster
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
        registration, topic_id = cluster.places.registration(partition), cluster.image().topics[partition.topic].id
        copies = _copies(dirs, partition, topic_id)
        others = {each: reader for each, reader in copies.items() if each in {*registration.replicas} - {*brokers}}
        in_sync = {*registration.isr, *registration.elr}
        strays = [] if in_sync & {*others} else stray_copies(dirs, partition, topic_id, registration.replicas)
        best = max(map(reach, others.values()), default=(-1, 0))
        if strays and reach(strays[0]) > best:
            cluster.places.lost[partition] = _put_back(partition, strays[0], next(iter(brokers.values())))
        elif others:
            yield from _drop(cluster, partition, brokers, others)
        else:
            yield from _lose(cluster, partition, brokers, in_sync <= {*brokers})


def begin_anew(cluster: DirectoryCluster, partition: TopicPartition) -> Iterator[str]:
    """Accept that every copy of a partition is gone: its logs begin anew. Tells of each."""
    del cluster.places.lost[partition]
    for broker_id, logs in cluster.places.of(partition):
        end = cluster.places.kept_offset(partition, broker_id)
        logs.log(partition, cluster.image().topics[partition.topic].id)
        yield _begun(logs, partition, end)


def _lose(
    cluster: DirectoryCluster, partition: TopicPartition, brokers: Mapping[int, BrokerLogs], are_all: bool
) -> Iterator[str]:
    """No copy has records. Where one is there, somebody let it begin anew, and the others do as well."""
    for logs in brokers.values():
        logs.forget_deleted(partition)
    kept = {each: cluster.places.kept_offset(partition, each) for each in brokers}
    if are_all and any(kept.values()):
        farthest = max(kept, key=lambda each: kept[each])
        path = brokers[farthest].path(partition)
        cluster.places.lost[partition] = (
            f"every copy of {partition} is gone, with the records up to offset {kept[farthest] - 1}: put one back from "
            f"a backup as {path}, or accept the loss: {accepting(partition)} --cluster {quote(cluster.directory)}"
        )
        return
    for broker_id, end in kept.items():
        if end:
            brokers[broker_id].log(partition, cluster.image().topics[partition.topic].id)
            yield _begun(brokers[broker_id], partition, end)


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


def _begun(logs: BrokerLogs, partition: TopicPartition, end: int) -> str:
    lost = f", and no copy has its records: those up to offset {end - 1} are lost" if end else ""
    return f"{logs.path(partition)}: its directory was gone{lost}; the log begins anew"


def _put_back(partition: TopicPartition, stray: PartitionReader, home: BrokerLogs) -> str:
    put_back = f"mv {quote(stray.directory)} {quote(home.path(partition))}"
    return (
        f"every copy of {partition} is gone from where the metadata has it, but {stray.directory} has the records up "
        f"to offset {stray.log_end_offset - 1}: put it back with {put_back}"
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


def stray_copies(
    dirs: LogDirs, partition: TopicPartition, topic_id: str, assigned: Collection[int]
) -> list[PartitionReader]:
    """The copies with records of the same topic that no broker takes for its replica, the one that reaches farthest
    first: on brokers that should have none, or set aside. Those that do not say of which topic they are count where no
    other one is there."""
    found = [
        PartitionReader(path, partition)
        for log_dir in dirs.paths
        for name, path in partition_dirs(log_dir)
        if (name.topic, name.partition) == partition
        and (name.mark == STRAY_DIR_SUFFIX or (not name.mark and dirs.broker_ids[log_dir] not in assigned))
    ]
    by_topic: dict[str | None, list[PartitionReader]] = defaultdict(list)
    for reader in found:
        if reader.log_end_offset:
            by_topic[_topic_id(reader)].append(reader)
    return sorted(by_topic[topic_id] or by_topic[None], key=reach, reverse=True)


def accepting(partition: TopicPartition) -> str:
    """The command that accepts the loss of all records of a partition."""
    return (
        f"kafkapy leader-election --election-type unclean --topic {partition.topic} --partition {partition.partition}"
    )


def _topic_id(reader: PartitionReader) -> str | None:
    try:
        return reader.topic_id
    except FormatError:
        return None
