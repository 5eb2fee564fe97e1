"""A scratch cluster, and a transactional producer that does what a client does, for the tests of the coordinator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.backends.directory_format import make_cluster
from kafkapy.coordinator.internal_topics import TRANSACTION_STATE
from kafkapy.coordinator.transaction_coordinator import DEFAULT_TIMEOUT_MS, TransactionCoordinator
from kafkapy.coordinator.transaction_state import ProducerIdAndEpoch
from kafkapy.formats.coordinator_record import TRANSACTION, CoordinatorRecord, decode
from kafkapy.formats.record_batch import BatchOptions, Record, encode_batch
from kafkapy.log.files import Files
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.metadata.changes import CreateTopic

NOW = 1_794_800_000_000
TX = "tx"
P0, P1 = TopicPartition(TX, 0), TopicPartition(TX, 1)


def made(directory: Path, brokers: int = 1, version: int = 2, state_partitions: int = 2) -> str:
    """A cluster directory with a topic of two partitions, and few partitions for the states, because that is faster."""
    make_cluster(str(directory), brokers, wanted={"transaction.version": version}, files=Files(sync=False))
    cluster = opened(str(directory))
    cluster.apply(CreateTopic(TX, 2, brokers), CreateTopic(TRANSACTION_STATE, state_partitions, brokers))
    cluster.close()
    return str(directory)


def opened(directory: str, files: Files | None = None) -> DirectoryCluster:
    return DirectoryCluster(directory, files or Files(sync=False), NOW, seed=7)


class Producer:
    """A producer with a transactional id; those of one cluster share its coordinator."""

    def __init__(
        self,
        cluster: DirectoryCluster,
        transactional_id: str,
        coordinator: TransactionCoordinator | None = None,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
    ) -> None:
        self._cluster = cluster
        self._coordinator = coordinator or TransactionCoordinator(cluster)
        self._id = transactional_id
        self.identity: ProducerIdAndEpoch = self._coordinator.init_producer_id(transactional_id, timeout_ms)
        self._sequences: dict[TopicPartition, int] = {}

    def send(self, partition: TopicPartition, *values: str) -> None:
        self._coordinator.add_partitions(self._id, *self.identity, [partition])
        records = [Record(number, self._cluster.now, None, value.encode()) for number, value in enumerate(values)]
        sequence = self._sequences.get(partition, 0)
        options = BatchOptions(
            transactional=True,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            base_sequence=sequence,
        )
        self._cluster.append(partition, encode_batch(records, options))
        self._sequences[partition] = sequence + len(values)

    def end(self, commit: bool) -> ProducerIdAndEpoch:
        before = self.identity
        self.identity = self._coordinator.end(self._id, *before, commit)
        if self.identity != before:
            self._sequences.clear()
        return self.identity


def values(cluster: DirectoryCluster, partition: TopicPartition, committed: bool = True) -> list[str]:
    """The data that a consumer sees."""
    return [
        (record.value or b"").decode()
        for batch in cluster.read(partition, 0, committed)
        if not batch.header.is_control
        for record in batch.records()
    ]


def last_stable_offset(cluster: DirectoryCluster, partition: TopicPartition) -> int:
    reader = cluster.reader(partition)
    assert reader is not None
    return reader.last_stable_offset()


def markers(cluster: DirectoryCluster, partition: TopicPartition) -> list[tuple[int, int, bytes | None, bytes | None]]:
    """Producer id, epoch, key and value of every marker."""
    return [
        (batch.header.producer_id, batch.header.producer_epoch, record.key, record.value)
        for batch in cluster.read(partition, 0)
        if batch.header.is_control
        for record in batch.records()
    ]


def state_records(cluster: DirectoryCluster) -> Iterator[Record]:
    """Every record of __transaction_state, partition by partition."""
    for number in cluster.image().topics[TRANSACTION_STATE].partitions:
        for batch in cluster.read(TopicPartition(TRANSACTION_STATE, number), 0):
            yield from batch.records()


def decoded(record: Record) -> CoordinatorRecord:
    assert record.key is not None
    return decode(TRANSACTION, record.key, record.value)


def statuses(cluster: DirectoryCluster, transactional_id: str) -> list[tuple[int, int, int]]:
    """Status, producer id and epoch of each state that an id was in."""
    found = (decoded(record) for record in state_records(cluster))
    return [
        (each.value["transactionStatus"], each.value["producerId"], each.value["producerEpoch"])
        for each in found
        if each.key["transactionalId"] == transactional_id and each.value is not None
    ]
