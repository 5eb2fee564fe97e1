"""Groups and offsets folded from ``__consumer_offsets``: against a plain replay, with damage, and as they are written.

Invariants of the property tests, for any sequence of batches:

- whole batches of commits are taken in at once, and the outcome is that of a replay record by record;
- what cannot be read changes nothing, and neither what is before nor what is behind it;
- folding the batches that ``append`` wrote gives what the store says that it holds.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkapy.backends.directory import DirectoryCluster
from kafkapy.coordinator.commit_batch import FEW, cut
from kafkapy.coordinator.group import ClassicGroup
from kafkapy.coordinator.group_log import GroupLog, load
from kafkapy.coordinator.group_store import GroupStore
from kafkapy.coordinator.internal_topics import CONSUMER_OFFSETS
from kafkapy.coordinator.offset_and_metadata import OffsetAndMetadata
from kafkapy.coordinator.offset_records import decode_key, decode_value
from kafkapy.coordinator.transaction_state import ProducerIdAndEpoch
from kafkapy.errors import KafkaError, SchemaError
from kafkapy.formats.coordinator_record import GROUP, CoordinatorRecord, decode, encode_record
from kafkapy.formats.record_batch import NO_PRODUCER_ID, Record, decode_header, encode_batch
from kafkapy.formats.uuid import random_uuid
from kafkapy.kernel.kernel import Columns
from kafkapy.log.batch import Batch
from kafkapy.log.topic_partition import TopicPartition
from tests.coordinator.group_history import (
    T0,
    T1,
    Commit,
    Garbage,
    GroupRecord,
    Marker,
    Steps,
    Tombstone,
    batches,
    classic_value,
    commit_record,
    garbage,
    group_record,
    histories,
    pair,
    replayed,
    require_same,
    sound,
)


@settings(max_examples=200)
@given(histories(sound))
def test_folding_is_replaying(written: list[Steps | Marker]) -> None:
    replay, log = replayed(written), load(lambda: batches(written))
    require_same(log, replay)
    assert [problem.offset for problem in log.problems] == replay.damaged


@settings(max_examples=200)
@given(histories(sound | garbage))
def test_what_cannot_be_read_changes_nothing(written: list[Steps | Marker]) -> None:
    replay, log = replayed(written), load(lambda: batches(written))
    require_same(log, replay)
    told = [problem.offset for problem in log.problems if problem.offset is not None]
    assert told == sorted(set(told))
    assert len(told) == len(log.problems)
    assert set(told) <= set(replay.damaged)
    careful = GroupLog(careful=True)
    careful.replay(batches(written))
    require_same(careful, replay)
    assert [problem.offset for problem in careful.problems] == replay.damaged


def test_every_problem_is_told_when_a_value_that_is_left_is_damaged() -> None:
    written: list[Steps | Marker] = [
        Steps(NO_PRODUCER_ID, (Commit("g1", T0, 1), Commit("g1", T1, 1))),
        Steps(NO_PRODUCER_ID, (Garbage("value", "g1", T0), Commit("g1", T1, 2))),
        Steps(NO_PRODUCER_ID, (Garbage("version", "g1", T0), Garbage("type"), Garbage("no key"), Garbage("key"))),
    ]
    log = load(lambda: batches(written))
    assert {partition: found.offset for partition, found in log.offsets("g1").items()} == {T0: 1, T1: 2}
    assert [str(problem) for problem in log.problems] == [
        " at offset 2: Could not read record with version 4 from value's buffer due to: null.",
        " at offset 4: Found an unknown record version 99 for 1 type",
        " at offset 5: Found an unknown record type 99",
        " at offset 6: a record without a key",
        " at offset 7: Could not read record with version 1 from key's buffer due to: "
        "Error reading byte array of 2 byte(s): only 1 byte(s) available.",
    ]


@pytest.mark.parametrize(
    "written",
    [
        [Steps(NO_PRODUCER_ID, (Garbage("value"),)), Steps(NO_PRODUCER_ID, (Tombstone("g1", T0),))],
        [Steps(7, (Garbage("value"),)), Marker(7, False)],
        [Steps(7, (Garbage("value"),))],
    ],
)
def test_a_damaged_commit_makes_no_group(written: list[Steps | Marker]) -> None:
    log = load(lambda: batches(written))
    assert log.groups.ids() == []
    assert [problem.offset for problem in log.problems] == [0]


@pytest.mark.parametrize("count", [1, FEW + 1])
def test_batches_with_nulls_are_not_cut(count: int) -> None:
    steps = tuple(Commit("g1", TopicPartition("t", number), number) for number in range(count))
    for last, is_cut in ((Commit("g1", T0, 1), True), (Tombstone("g1", T0), False), (Garbage("no key"), False)):
        (batch,) = batches([Steps(NO_PRODUCER_ID, (*steps, last))])
        found = cut(batch, Columns())
        assert (found is not None) is is_cut
        if found is not None:
            assert list(found.keys) == [pair(step)[0] for step in (*steps, last)]
            assert list(found.values) == [pair(step)[1] for step in (*steps, last)]
            assert list(found.offsets) == list(range(count + 1))


@given(
    st.integers(0, 4), st.integers(-1, 1 << 62), st.integers(-1, 1 << 31 - 1), st.text(max_size=200),
    st.integers(-1, 1 << 62), st.booleans(),
)  # fmt: skip
def test_values_are_decoded_as_by_the_schema(
    version: int, offset: int, leader_epoch: int, metadata: str, timestamp: int, has_topic_id: bool
) -> None:
    value = {"offset": offset, "metadata": metadata, "commitTimestamp": timestamp}
    if version >= 3:
        value["leaderEpoch"] = leader_epoch
    if version == 1:
        value["expireTimestamp"] = timestamp
    if version == 4 and has_topic_id:
        value["topicId"] = random_uuid()
    key = commit_record(Commit("g1", T0, 0)).key
    data = encode_record(GROUP, CoordinatorRecord("OffsetCommit", key, version, value))
    message = decode(GROUP, data[0], data[1]).value
    assert message is not None
    assert data[1] is not None
    assert decode_value(data[1]) == OffsetAndMetadata(
        message["offset"], message["leaderEpoch"], message["metadata"], message["commitTimestamp"],
        message["expireTimestamp"], message["topicId"],
    )  # fmt: skip


@given(st.sampled_from((3, 4, 5)), st.integers(0, 3), st.integers(0, 45), st.binary(max_size=3))
def test_damaged_values_are_what_they_are_by_the_schema(version: int, size: int, at: int, other: bytes) -> None:
    """Cut off at a place, where other bytes may follow in the place of as many."""
    commit = Commit("g1", T0, 1, min(version, 4), "m" * size)
    key, value = pair(commit)
    assert value is not None
    data = b"\0" + bytes([version]) + value[2:at] + other + (value[at + len(other) :] if other else b"")
    assert key is not None
    try:
        message = decode(GROUP, key, data).value
    except SchemaError as error:
        with pytest.raises(SchemaError, match=re.escape(str(error))):
            decode_value(data)
    else:
        assert message is not None
        found = decode_value(data)
        assert (found.offset, found.metadata, found.topic_id) == (
            message["offset"], message["metadata"], message["topicId"],
        )  # fmt: skip


@given(st.text(max_size=30), st.text(max_size=30), st.integers(-(1 << 31), (1 << 31) - 1), st.binary(max_size=2))
def test_keys_are_decoded_as_by_the_schema(group: str, topic: str, partition: int, behind: bytes) -> None:
    fields = {"group": group, "topic": topic, "partition": partition}
    key = encode_record(GROUP, CoordinatorRecord("OffsetCommit", fields))[0]
    found = decode_key(key + behind)
    if behind or "\ufffd" in group + topic:
        assert found is None
    else:
        assert found == (group, (topic, partition))


@given(st.binary(max_size=40))
def test_any_bytes_are_a_key_or_not(key: bytes) -> None:
    found = decode_key(b"\0\1" + key)
    if found is not None:
        fields = {"group": found.group_id, "topic": found.partition.topic, "partition": found.partition.partition}
        assert encode_record(GROUP, CoordinatorRecord("OffsetCommit", fields))[0] == b"\0\1" + key


def test_malformed_names_that_read_the_same_are_the_same_group() -> None:
    good = pair(Commit("\ufffd", T0, 3))
    assert good[0] is not None
    bad = good[0].replace(b"\0\3" + "\ufffd".encode(), b"\0\1\xff")
    records = [Record(0, 1, bad, pair(Commit("", T0, 1))[1]), Record(1, 1, *good)]
    data = encode_batch(records)
    log = load(lambda: [Batch(decode_header(data), 0, data)])
    assert log.groups.ids() == ["\ufffd"]
    assert log.offsets("\ufffd")[T0].offset == 3


def again(cluster: DirectoryCluster) -> GroupStore:
    """What another process would read."""
    return GroupStore(cluster)


def test_a_cluster_without_groups(cluster: DirectoryCluster) -> None:
    store = GroupStore(cluster)
    assert (store.group("g"), store.groups(), store.offsets("g"), store.pending_offsets("g")) == (None, {}, {}, {})
    with pytest.raises(KafkaError, match="there is no topic __consumer_offsets"):
        store.partition("g")


def test_the_first_record_makes_the_topic(cluster: DirectoryCluster) -> None:
    store = GroupStore(cluster)
    store.append("console-consumer-90277", [commit_record(Commit("console-consumer-90277", T0, 5))])
    assert len(cluster.image().topics[CONSUMER_OFFSETS].partitions) == 50
    assert store.partition("console-consumer-90277") == (CONSUMER_OFFSETS, 26)
    assert store.partition("console-consumer-49366") == (CONSUMER_OFFSETS, 19)
    (batch,) = cluster.read(store.partition("console-consumer-90277"), 0)
    header = batch.header
    assert (header.producer_id, header.base_sequence, header.is_transactional) == (NO_PRODUCER_ID, 0, False)
    assert header.base_timestamp == header.max_timestamp == cluster.now
    assert list(again(cluster).groups()) == ["console-consumer-90277"]


def test_what_was_appended_is_what_is_read(cluster: DirectoryCluster) -> None:
    store = GroupStore(cluster)
    assert store.offsets("b") == {}
    store.append("b", [commit_record(Commit("b", T1, 2)), commit_record(Commit("b", T0, 1, metadata="m"))])
    store.append("a", [group_record(GroupRecord("GroupMetadata", "a", 1))])
    store.append("c", [CoordinatorRecord("GroupMetadata", {"group": "c"}, 3, classic_value(4, "range", ("m2", "m1")))])
    assert [found.offset for found in store.offsets("b").values()] == [1, 2]
    store.append("b", [CoordinatorRecord("OffsetCommit", commit_record(Commit("b", T1, 0)).key)])
    store.append("a", [])
    for each in (store, again(cluster)):
        assert list(each.groups()) == ["a", "b", "c"]
        assert {partition: found.offset for partition, found in each.offsets("b").items()} == {T0: 1}
        assert each.offsets("b")[T0].metadata == "m"
        group = each.group("c")
        assert isinstance(group, ClassicGroup)
        assert (group.leader, list(group.members), group.generation) == ("m2", ["m2", "m1"], 4)
        assert group.members["m1"].rebalance_timeout_ms == 30  # records without one mean the session's
        assert each.problems == []


@pytest.mark.parametrize("commit", [True, False])
def test_offsets_of_a_transaction_wait_for_its_marker(cluster: DirectoryCluster, commit: bool) -> None:
    transactions = cluster.transactions()
    store = cluster.groups().store
    store.append("g", [commit_record(Commit("g", T0, 1)), commit_record(Commit("g", T1, 1))])
    producer = transactions.init_producer_id("tx")
    transactions.add_partitions("tx", *producer, [store.partition("g")])
    store.append("g", [commit_record(Commit("g", T0, 7)), commit_record(Commit("g", T1, 7))], producer)
    store.append("g", [commit_record(Commit("g", T1, 3))])
    for each in (store, again(cluster)):
        assert [found.offset for found in each.offsets("g").values()] == [1, 3]
        assert [found.offset for found in each.pending_offsets("g")[producer.producer_id].values()] == [7, 7]
    transactions.end("tx", *producer, commit)
    store.end_transaction(store.partition("g"), producer.producer_id, commit)
    for each in (store, again(cluster)):
        # the commit behind the transaction's own record stands
        assert [found.offset for found in each.offsets("g").values()] == ([7, 3] if commit else [1, 3])
        assert each.pending_offsets("g") == {}


def test_two_batches_of_one_producer_are_no_duplicates(cluster: DirectoryCluster) -> None:
    store = GroupStore(cluster)
    producer = ProducerIdAndEpoch(4000, 0)
    store.append("g", [commit_record(Commit("g", T0, 1))], producer)
    store.append("g", [commit_record(Commit("g", T0, 2))], producer)
    assert again(cluster).pending_offsets("g")[4000][T0].offset == 2


def test_problems_name_the_partition(cluster: DirectoryCluster) -> None:
    store = GroupStore(cluster)
    store.append("g", [commit_record(Commit("g", T0, 1))])
    data = encode_batch([Record(0, cluster.now, *pair(Garbage("type", "g")))])
    cluster.append_as_coordinator(store.partition("g"), data, 2)
    read = again(cluster)
    assert read.offsets("g")[T0].offset == 1
    assert read.problems == [f"{store.partition('g')} at offset 1: Found an unknown record type 99"]


def test_a_group_that_lost_all_offsets_is_still_there_until_its_tombstone(cluster: DirectoryCluster) -> None:
    store = GroupStore(cluster)
    store.append("g", [commit_record(Commit("g", T0, 1))])
    store.append("g", [CoordinatorRecord("OffsetCommit", commit_record(Commit("g", T0, 0)).key)])
    assert store.group("g") == again(cluster).group("g") == ClassicGroup("g")
    store.append("g", [group_record(GroupRecord("GroupMetadata", "g", None))])
    assert store.group("g") is again(cluster).group("g") is None
