"""States of a transactional id: which follow which, and the records they are kept in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE, creation, partition_for
from kafkapy.coordinator.java_hash import java_hash
from kafkapy.coordinator.transaction_log import encode_state, fold
from kafkapy.coordinator.transaction_state import (
    LAST_USABLE_EPOCH,
    MAX_EPOCH,
    VALID_PREVIOUS_STATES,
    TransactionMetadata,
    TransactionState,
)
from kafkapy.errors import KafkaError
from kafkapy.formats.coordinator_record import TRANSACTION, CoordinatorRecord, encode_record
from kafkapy.formats.record_batch import BatchOptions, Record, decode_header, encode_batch
from kafkapy.log.batch import Batch
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition

LONGS = st.integers(0, (1 << 63) - 1)
STATES_3 = TopicPartition(TRANSACTION_STATE, 3)
PARTITIONS = st.frozensets(
    st.builds(TopicPartition, st.text("abc._-", min_size=1, max_size=5), st.integers(0, 99)), max_size=5
)


@st.composite
def metadata(draw: st.DrawFn) -> TransactionMetadata:
    state = draw(st.sampled_from(TransactionState))
    return TransactionMetadata(
        draw(st.text(min_size=1, max_size=20)),
        draw(LONGS),
        draw(st.integers(1, (1 << 31) - 1)),
        draw(LONGS),
        draw(st.integers(0, MAX_EPOCH)),
        state,
        frozenset() if state is TransactionState.EMPTY else draw(PARTITIONS),
        draw(st.integers(-1, (1 << 63) - 1)),
        draw(st.integers(-1, (1 << 63) - 1)),
        draw(st.integers(-1, (1 << 63) - 1)),
        draw(st.sampled_from([0, 2])),
    )


def batches(*data: bytes) -> Callable[[], Iterator[Batch]]:
    """A log, which may be read again."""
    return lambda: (Batch(decode_header(each), 0, each) for each in data)


def states(*data: bytes) -> dict[str, TransactionMetadata]:
    found, problems = fold(STATES_3, batches(*data))
    assert problems == []
    return found


@given(metadata())
def test_a_state_comes_back_from_its_record(state: TransactionMetadata) -> None:
    assert states(encode_state(state, 2)) == {state.transactional_id: state}


@given(metadata())
def test_version_0_keeps_all_but_the_producer_ids_before_and_after(state: TransactionMetadata) -> None:
    plain = state._replace(previous_producer_id=-1, next_producer_id=-1, client_transaction_version=0)
    assert states(encode_state(state, 0)) == {state.transactional_id: plain}


def test_the_newest_state_counts_and_a_tombstone_forgets() -> None:
    first = TransactionMetadata("a", 1, 60_000, 5).increment_epoch(60_000, 5)
    other = TransactionMetadata("b", 2, 60_000, 5).increment_epoch(60_000, 5)
    begun = first.add_partitions([TopicPartition("t", 1), TopicPartition("t", 0)], 6, 2)
    written = [encode_state(each, 2) for each in (first, other, begun)]
    assert states(*written) == {"a": begun, "b": other}
    key, _ = encode_record(TRANSACTION, CoordinatorRecord("TransactionLog", {"transactionalId": "b"}))
    assert states(*written, encode_batch([Record(0, 7, key, None)])) == {"a": begun}


def test_what_a_newer_kafka_wrote_is_told_and_stepped_over() -> None:
    known = TransactionMetadata("a", 1, 60_000, 5).increment_epoch(60_000, 5)
    key, value = encode_record(TRANSACTION, CoordinatorRecord("TransactionLog", {"transactionalId": "a"}))[0], b"\0\x09"
    newer = [Record(7, 7, b"\0\x07\0\x01x", b"?"), Record(8, 7, key, value)]
    data = encode_batch(newer, BatchOptions(base_offset=7))
    assert fold(STATES_3, batches(encode_state(known, 2), data)) == (
        {"a": known},
        [
            "__transaction_state-3 at offset 7: Found an unknown record type 7",
            "__transaction_state-3 at offset 8: Found an unknown record version 9 for 0 type",
        ],
    )


def test_damage_is_told_and_the_state_before_it_holds() -> None:
    first = TransactionMetadata("a", 1, 60_000, 5).increment_epoch(60_000, 5)
    second = first.add_partitions([TopicPartition("t", 0)], 6, 2)
    data = encode_state(second, 2)
    record = next(Batch(decode_header(data), 0, data).records())
    assert record.value is not None
    at = 2 + 8 + 2 + 4  # the status, after version, producer id, epoch and timeout
    bad = record.value[:at] + b"\x63" + record.value[at + 1 :]
    damaged = {
        "Unknown transaction state id 99": encode_batch([record._replace(value=bad)]),
        "key should not be null": encode_batch([record._replace(key=None)]),
        "Could not read record with version 1": encode_batch([record._replace(value=record.value[:12])]),
    }
    for reason, batch in damaged.items():
        found, problems = fold(STATES_3, batches(encode_state(first, 2), batch))
        assert found == {"a": first}
        assert len(problems) == 1
        assert problems[0].startswith("__transaction_state-3 at offset 0: ")
        assert reason in problems[0]
        assert fold(STATES_3, batches(batch, encode_state(second, 2)))[0] == {"a": second}, "what follows is read"


def test_real_states_are_read_and_written_again_to_the_byte(golden: Path) -> None:
    seen = 0
    for directory in sorted(golden.glob("*/broker-*/__transaction_state-*")):
        number = int(directory.name.rpartition("-")[2])
        reader = PartitionReader(str(directory), TopicPartition(TRANSACTION_STATE, number))
        for batch in reader.read(0):
            (found,) = states(batch.data).values()
            again = encode_state(found, 2)
            (record,) = batch.records()
            (written,) = Batch(decode_header(again), 0, again).records()
            assert (written.key, written.value) == (record.key, record.value)
            assert partition_for(found.transactional_id, 3) == number
            seen += 1
    assert seen > 0


MOVES: dict[TransactionState, Callable[[TransactionMetadata], TransactionMetadata]] = {
    TransactionState.EMPTY: lambda state: state.increment_epoch(1, 2),
    TransactionState.ONGOING: lambda state: state.add_partitions([], 2, 2),
    TransactionState.PREPARE_COMMIT: lambda state: state.prepare(True, 2, 2, -1),
    TransactionState.PREPARE_ABORT: lambda state: state.prepare(False, 2, 2, -1),
}


@pytest.mark.parametrize("target", MOVES)
@pytest.mark.parametrize("before", TransactionState)
def test_only_kafkas_transitions_are_made(before: TransactionState, target: TransactionState) -> None:
    state = TransactionMetadata("a", 1, 1, 1, 3, before)
    if before in VALID_PREVIOUS_STATES[target]:
        assert MOVES[target](state).state is target
    else:
        with pytest.raises(KafkaError, match=f"is not a valid previous state of the current state {before.name}"):
            MOVES[target](state)


@pytest.mark.parametrize("before", TransactionState)
def test_only_what_is_decided_is_completed(before: TransactionState) -> None:
    state = TransactionMetadata("a", 1, 1, 1, 3, before)
    if before.is_prepared:
        assert state.complete(2).state.name == before.name.replace("PREPARE", "COMPLETE")
    else:
        with pytest.raises(KafkaError, match="transition to COMPLETE_ABORT failed"):
            state.complete(2)


def test_an_end_raises_the_epoch_with_version_2_only() -> None:
    begun = TransactionMetadata("a", 1, 1, 1, 3).add_partitions([TopicPartition("t", 0)], 10, 2)
    ongoing = begun.add_partitions([TopicPartition("t", 1)], 11, 2)
    prepared = ongoing.prepare(True, 11, 2, -1)
    assert (prepared.producer_epoch, prepared.start_timestamp, prepared.client_transaction_version) == (4, 10, 2)
    completed = prepared.complete(12)
    assert (completed.producer_epoch, completed.partitions, completed.start_timestamp) == (4, frozenset(), 10)
    assert ongoing.prepare(True, 11, 0, -1).complete(12).producer_epoch == 3


def test_the_next_producer_id_is_used_from_complete_on() -> None:
    ongoing = TransactionMetadata("a", 1, 1, 1, LAST_USABLE_EPOCH).add_partitions([], 10, 2)
    assert ongoing.is_epoch_exhausted
    prepared = ongoing.prepare(False, 11, 2, 77)
    assert (prepared.identity, prepared.next_producer_id) == ((1, MAX_EPOCH), 77)
    completed = prepared.complete(12)
    assert (completed.identity, completed.previous_producer_id, completed.next_producer_id) == ((77, 0), 1, -1)


def test_names_of_states_are_kafkas() -> None:
    assert [state.label for state in TransactionState] == [
        "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead",
        "PrepareEpochFence",
    ]  # fmt: skip


def test_when_a_transaction_is_timed_out_and_an_id_expired() -> None:
    open_ = TransactionMetadata("a", 1, 100, 1, 3).add_partitions([], 10, 2)
    assert [open_.is_timed_out(now) for now in (110, 111)] == [False, True]
    assert not open_._replace(timeout_ms=(1 << 31) - 1).is_timed_out(1 << 40), "two-phase commits wait for ever"
    ended = open_.prepare(True, 20, 2, -1).complete(30)
    assert not ended.is_timed_out(1 << 40)
    assert [ended.is_expired(now, 7) for now in (36, 37)] == [False, True]
    assert not open_.is_expired(1 << 40, 7)


def test_hashes_are_javas() -> None:
    # what String.hashCode gives, the last two for a surrogate pair and for the text whose hash is the least int
    hashes = {"": 0, "a": 97, "hspec-cons": -712676709, "\U0001f600": 1772899, "polygenelubricants": -(1 << 31)}
    assert {text: java_hash(text) for text in hashes} == hashes
    assert [partition_for("hspec-cons", count) for count in (50, 4)] == [9, 1]
    assert partition_for("polygenelubricants", 50) == 0


def test_internal_topics_are_made_as_brokers_make_them() -> None:
    assert creation(TRANSACTION_STATE, 5) == (
        TRANSACTION_STATE, 50, 3, (),
        {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": "2",
            "segment.bytes": "104857600",
            "unclean.leader.election.enable": "false",
        },
    )  # fmt: skip
    assert creation(CONSUMER_OFFSETS, 2) == (
        CONSUMER_OFFSETS, 50, 2, (),
        {"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": "104857600"},
    )  # fmt: skip
    assert creation(TRANSACTION_STATE, 1).configs["min.insync.replicas"] == "1"
