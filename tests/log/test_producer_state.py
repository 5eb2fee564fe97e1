from __future__ import annotations

from pathlib import Path
from struct import pack

import pytest

from kafkapy.errors import KafkaError
from kafkapy.formats import producer_snapshot
from kafkapy.formats.record_batch import BatchHeader, BatchOptions, Record, decode_header, encode_batch
from kafkapy.log.batch import walk
from kafkapy.log.files import Files
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.producer_append import Origin
from kafkapy.log.producer_state import ProducerSnapshots, ProducerState, newest_snapshot
from kafkapy.log.topic_partition import TopicPartition
from kafkapy.log.window import Window

NOW = 1_700_000_000_000
PARTITION = TopicPartition("t", 0)
DAY = 86_400_000


def new_state() -> ProducerState:
    return ProducerState(PARTITION, DAY)


def data(offset: int, sequence: int, count: int = 1, epoch: int = 0, pid: int = 9, txn: bool = False) -> bytes:
    records = [Record(offset + n, NOW, None, b"v") for n in range(count)]
    options = BatchOptions(offset, producer_id=pid, producer_epoch=epoch, base_sequence=sequence, transactional=txn)
    return encode_batch(records, options)


def marker(offset: int, commit: bool, epoch: int = 0, pid: int = 9, coordinator_epoch: int = 0) -> bytes:
    record = Record(offset, NOW, pack(">hh", 0, int(commit)), pack(">hi", 0, coordinator_epoch))
    options = BatchOptions(offset, transactional=True, control=True, producer_id=pid, producer_epoch=epoch)
    return encode_batch([record], options)


def append(state: ProducerState, batch: bytes, origin: Origin = Origin.CLIENT, version: int = 2) -> BatchHeader:
    header = decode_header(batch)
    checked = state.prepare(header.producer_id, origin, version)
    checked.append(header, lambda: batch)
    state.update(checked)
    state.map_end_offset = header.last_offset + 1
    return header


def refused(state: ProducerState, batch: bytes, origin: Origin = Origin.CLIENT, version: int = 2) -> tuple[str, str]:
    before = state.entries()
    with pytest.raises(KafkaError) as error:
        append(state, batch, origin, version)
    assert state.entries() == before
    return error.value.name, str(error.value)


def test_the_last_five_batches_are_known_by_their_sequences() -> None:
    state = new_state()
    for n in range(6):
        append(state, data(10 * n, 2 * n, count=2))
    assert state.find_duplicate(decode_header(data(0, 0, count=2))) is None
    for n in range(1, 6):
        known = state.find_duplicate(decode_header(data(0, 2 * n, count=2)))
        assert known is not None
        assert (known.first_offset, known.last_offset) == (10 * n, 10 * n + 1)
    assert state.find_duplicate(decode_header(data(0, 10, count=1))) is None
    assert state.find_duplicate(decode_header(data(0, 10, count=2, epoch=1))) is None


def test_sequences_go_on_by_one_and_wrap() -> None:
    state = new_state()
    append(state, data(0, 2**31 - 2, count=2))
    name, message = refused(state, data(2, 5))
    assert name == "OutOfOrderSequenceException"
    assert message == (
        "Out of order sequence number for producer 9 at offset 2 in partition t-0: 5 (incoming seq. number), "
        "2147483647 (current end sequence number)"
    )
    append(state, data(2, 0))
    append(state, data(3, 1))


def test_a_batch_that_wraps_is_known_again() -> None:
    state = new_state()
    append(state, data(0, 2**31 - 1, count=3))
    assert state.find_duplicate(decode_header(data(0, 2**31 - 1, count=3))) is not None
    append(state, data(3, 2))


def test_epochs() -> None:
    state = new_state()
    append(state, data(0, 0, epoch=3))
    assert refused(state, data(1, 1, epoch=2)) == (
        "InvalidProducerEpochException",
        "Epoch of producer 9 at offset 1 in t-0 is 2, which is < the last seen epoch 3 (TV-1)",
    )
    assert refused(state, data(1, 1, epoch=4)) == (
        "OutOfOrderSequenceException",
        "Invalid sequence number for new epoch of producer 9at offset 1 in partition t-0: 4 (request epoch), 1 "
        "(seq. number), 3 (current producer epoch)",
    )
    append(state, data(1, 0, epoch=4))
    append(state, data(2, 7, epoch=1), Origin.REPLICATION)


def test_a_transaction_is_open_until_its_marker() -> None:
    state = new_state()
    append(state, data(5, 0, txn=True))
    append(state, data(6, 1, txn=True))
    assert state.open_txns == {5: 9}
    assert state.first_unstable_offset(7) == 5
    assert refused(state, data(7, 2)) == (
        "InvalidTxnStateException",
        "Expected transactional write from producer 9 at offset (offset=7, segment=[-1:-1]) in partition t-0",
    )
    append(state, marker(7, commit=True, epoch=1), Origin.COORDINATOR)
    assert state.open_txns == {}
    assert state.first_unstable_offset(7) == 5  # the marker is not replicated yet
    assert state.first_unstable_offset(8) is None
    assert state.entries()[0][:6] == (9, 1, -1, -1, 0, NOW)


def test_markers_of_transactions_version_2_are_one_epoch_later() -> None:
    state = new_state()
    append(state, data(0, 0, txn=True))
    assert refused(state, marker(1, commit=True, epoch=0), Origin.COORDINATOR) == (
        "InvalidProducerEpochException",
        "Epoch of producer 9 at offset 1 in t-0 is 0, which is <= the last seen epoch 0 (TV2)",
    )
    append(state, marker(1, commit=True, epoch=1), Origin.COORDINATOR)
    append(state, marker(2, commit=True, epoch=1), Origin.COORDINATOR)  # written again
    append(state, data(3, 0, epoch=1, txn=True))
    append(state, marker(4, commit=True, epoch=1), Origin.COORDINATOR, version=1)
    name, _ = refused(state, data(5, 3, epoch=1, pid=8, txn=True))
    assert name == "OutOfOrderSequenceException"


def test_an_older_coordinator_is_fenced() -> None:
    state = new_state()
    append(state, data(0, 0, txn=True))
    append(state, marker(1, commit=True, epoch=1, coordinator_epoch=5), Origin.COORDINATOR)
    append(state, data(2, 0, epoch=1, txn=True))
    assert refused(state, marker(3, commit=True, epoch=2, coordinator_epoch=4), Origin.COORDINATOR) == (
        "TransactionCoordinatorFencedException",
        "Invalid coordinator epoch for producerId 9 at offset 3 in partition t-0: 4 (zombie), 5 (current)",
    )


def test_an_aborted_transaction_knows_the_next_open_one() -> None:
    state = new_state()
    append(state, data(0, 0, pid=1, txn=True))
    append(state, data(1, 0, pid=2, txn=True))
    first, second = marker(2, False, 1, pid=1), marker(3, False, 1, pid=2)
    assert [txn[:4] for txn in state.replay(decode_header(first), lambda: first)] == [(1, 0, 2, 1)]
    assert [txn[:4] for txn in state.replay(decode_header(second), lambda: second)] == [(2, 1, 3, 4)]


def test_expiry_spares_open_transactions() -> None:
    state = new_state()
    append(state, data(0, 0, pid=1))
    append(state, data(1, 0, pid=2, txn=True))
    state.remove_expired(NOW + DAY - 1)
    assert set(state.producers) == {1, 2}
    state.remove_expired(NOW + DAY)
    assert set(state.producers) == {2}


def test_a_snapshot_brings_the_state_back(tmp_path: Path) -> None:
    state = new_state()
    append(state, data(0, 0, pid=1, count=3))
    append(state, data(3, 0, pid=2, txn=True))
    snapshots = ProducerSnapshots(str(tmp_path), Files(sync=False))
    assert snapshots.take(state)
    assert not snapshots.take(state)
    again = new_state()
    ProducerSnapshots(str(tmp_path), Files(sync=False)).load_newest(again, 0, 4, NOW)
    assert again.entries() == state.entries()
    assert again.open_txns == {3: 2}
    assert again.map_end_offset == 4
    assert again.find_duplicate(decode_header(data(0, 0, pid=1, count=3))) is not None
    append(again, data(4, 3, pid=1))


def test_snapshots_outside_the_log_and_broken_ones_are_removed(tmp_path: Path) -> None:
    state = new_state()
    append(state, data(0, 0, pid=1, count=5))
    whole = producer_snapshot.encode(state.entries())
    for offset in (2, 5, 6, 9):
        (tmp_path / f"{offset:020d}.snapshot").write_bytes(whole)
    (tmp_path / f"{6:020d}.snapshot").write_bytes(whole[:-1])
    assert newest_snapshot(str(tmp_path), 2, 8)[0] == 5
    snapshots = ProducerSnapshots(str(tmp_path), Files(sync=False))
    snapshots.load_newest(state, 2, 8, NOW)
    assert snapshots.offsets == [5]
    assert [path.name for path in tmp_path.iterdir()] == [f"{5:020d}.snapshot"]


def test_stray_snapshots_go_but_the_newest_past_the_last_segment(tmp_path: Path) -> None:
    for offset in (10, 15, 20, 25, 30):
        (tmp_path / f"{offset:020d}.snapshot").write_bytes(producer_snapshot.encode([]))
    snapshots = ProducerSnapshots(str(tmp_path), Files(sync=False))
    snapshots.remove_stray([0, 10, 20])
    assert snapshots.offsets == [10, 20, 30]
    snapshots.remove_stray([0, 10, 40])
    assert snapshots.offsets == [10]


@pytest.mark.parametrize("broker", [1, 2, 3])
def test_replaying_a_real_log_gives_its_real_snapshot(broker: int, golden: Path) -> None:
    compared = 0
    for path in sorted((golden / "clean" / f"broker-{broker}").glob("*/*.snapshot")):
        log = path.parent / f"{0:020d}.log"
        topic, partition = path.parent.name.rsplit("-", 1)
        reader = PartitionReader(str(path.parent), TopicPartition(topic, int(partition)))
        if not log.exists() or len(reader.segments) != 1 or int(path.stem) != reader.log_end_offset:
            continue
        state = new_state()
        with Window(str(log)) as window:
            for position, header in walk(window):
                state.replay(header, lambda: log.read_bytes()[position : position + header.size])  # noqa: B023
        assert sorted(state.entries()) == sorted(producer_snapshot.decode(path.read_bytes()))
        compared += len(state.entries())
    assert compared >= 4
