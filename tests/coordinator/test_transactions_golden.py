"""The transaction coordinator against the golden set: the same requests leave the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.coordinator.internal_topics import TRANSACTION_STATE
from kafkapy.coordinator.transaction_coordinator import TransactionCoordinator
from kafkapy.coordinator.transaction_state import TransactionState
from kafkapy.log.files import Files
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition
from tests.coordinator.transactions import NOW, P0, decoded, made


class Replayed(DirectoryCluster):
    """A cluster whose clock and producer ids are those that a real one had."""

    times: list[int]
    producer_ids: list[int]

    @property
    def now(self) -> int:
        return self.times.pop(0)

    def new_producer_id(self) -> int:
        return self.producer_ids.pop(0)


def test_the_same_requests_leave_the_same_bytes_as_real_brokers(tmp_path: Path, golden: Path) -> None:
    """The producers of the golden set spoke transactions version 1 at most, and so does this cluster."""
    real = golden / "clean" / "broker-1"
    log = (real / "tx-0" / "00000000000000000000.log").read_bytes()
    batches = list(PartitionReader(str(real / "tx-0"), P0).read(0))
    data = [batch for batch in batches if not batch.header.is_control]
    marked = [batch.header.base_timestamp for batch in batches if batch.header.is_control]
    readers = [PartitionReader(str(real / f"__transaction_state-{number}"), P0) for number in range(3)]
    records = [record for reader in readers for batch in reader.read(0) for record in batch.records()]
    rows = [decoded(record) for record in sorted(records, key=lambda record: record.timestamp)]
    ids = [row.value["producerId"] for row in rows if row.value is not None]

    directory = made(tmp_path / "cluster", version=1, state_partitions=3)
    cluster = Replayed(directory, Files(sync=False), NOW)
    cluster.producer_ids = list(dict.fromkeys(ids))
    coordinator = TransactionCoordinator(cluster)
    while rows:
        row = rows.pop(0)
        assert row.value is not None
        name, producer = row.key["transactionalId"], (row.value["producerId"], row.value["producerEpoch"])
        cluster.times = [row.value["transactionLastUpdateTimestampMs"]]
        state = TransactionState(row.value["transactionStatus"])
        if state is TransactionState.EMPTY:
            assert coordinator.init_producer_id(name, row.value["transactionTimeoutMs"]) == producer
        elif state is TransactionState.ONGOING:
            coordinator.add_partitions(name, *producer, [P0])
            cluster.append(P0, (0).to_bytes(8, "big") + data.pop(0).data[8:])
        else:
            completed = rows.pop(0).value
            assert completed is not None
            cluster.times += [completed["transactionLastUpdateTimestampMs"], marked.pop(0)]
            assert coordinator.end(name, *producer, state is TransactionState.PREPARE_COMMIT) == producer
    written = {number: list(_payloads(cluster, number)) for number in range(3)}
    cluster.close()

    assert written == {
        number: [(record.key, record.value) for batch in reader.read(0) for record in batch.records()]
        for number, reader in enumerate(readers)
    }
    ours = Path(directory, "broker-1", "tx-0")
    assert (ours / "00000000000000000000.log").read_bytes() == log
    index = "00000000000000000000.txnindex"
    assert (ours / index).read_bytes() == (real / "tx-0" / index).read_bytes()
    assert not data
    assert not marked


def _payloads(cluster: DirectoryCluster, number: int) -> Iterator[tuple[bytes | None, bytes | None]]:
    for batch in cluster.read(TopicPartition(TRANSACTION_STATE, number), 0):
        yield from ((record.key, record.value) for record in batch.records())
