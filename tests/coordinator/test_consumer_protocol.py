"""What consumers tell each other: round trips, what real clients wrote, and bytes that are something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.coordinator.consumer_protocol import (
    Subscription,
    decode_assignment,
    decode_subscription,
    decode_topics,
    encode_assignment,
    encode_subscription,
)
from kafkapy.errors import SchemaError
from kafkapy.formats.coordinator_record import GROUP, decode
from kafkapy.log.partition_reader import PartitionReader
from kafkapy.log.topic_partition import TopicPartition

NAMES = st.text("abc.-_", min_size=1, max_size=5)
PARTITIONS = st.lists(st.builds(TopicPartition, NAMES, st.integers(0, 99)), unique=True).map(sorted).map(tuple)
SUBSCRIPTIONS = st.builds(
    Subscription,
    st.lists(NAMES, unique=True).map(sorted).map(tuple),
    st.none() | st.binary(max_size=9),
    PARTITIONS,
    st.integers(-1, 2**31 - 1),
    st.none() | NAMES,
)


@given(SUBSCRIPTIONS, st.integers(0, 3))
def test_a_subscription_comes_back_as_far_as_its_version_goes(subscription: Subscription, version: int) -> None:
    known = Subscription(*subscription[: 2 + version])
    assert decode_subscription(encode_subscription(subscription, version)) == known
    assert decode_topics(encode_subscription(subscription, version)) == subscription.topics


@given(PARTITIONS, st.none() | st.binary(max_size=9), st.integers(0, 3))
def test_an_assignment_comes_back(partitions: tuple[TopicPartition, ...], data: bytes | None, version: int) -> None:
    assert decode_assignment(encode_assignment(partitions, data, version)) == partitions


def test_clients_sort_what_they_say_and_leave_what_an_assignor_said() -> None:
    a, b0, b1 = TopicPartition("a", 0), TopicPartition("b", 0), TopicPartition("b", 1)
    said = decode_subscription(encode_subscription(Subscription(("b", "a"), owned_partitions=(b1, a, b0))))
    assert said.topics == ("a", "b")
    assert said.owned_partitions == (a, b0, b1)
    assert decode_assignment(encode_assignment([b1, a, b0])) == (b1, b0, a)


def test_a_newer_version_is_read_as_the_newest_known() -> None:
    newer = (9).to_bytes(2, "big") + encode_subscription(Subscription(("t",), rack_id="r"))[2:] + b"more"
    assert decode_subscription(newer) == Subscription(("t",), rack_id="r")


@given(st.binary(max_size=60))
def test_other_bytes_are_refused_or_read_and_nothing_else(data: bytes) -> None:
    for read in (decode_subscription, decode_assignment, decode_topics):
        try:
            read(data)
        except SchemaError:
            continue


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\0", "Buffer underflow while parsing consumer protocol's header"),
        (b"\xff\xff", "Unsupported subscription version: -1"),
        (b"\0\3\0", "Buffer underflow while parsing consumer protocol's subscription"),
    ],
)
def test_kafka_words_for_what_is_not_a_subscription(data: bytes, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason):
        decode_subscription(data)


def test_what_real_clients_wrote_is_encoded_to_the_same_bytes(golden: Path) -> None:
    seen = 0
    for number in range(5):
        directory = golden / "clean" / "broker-1" / f"__consumer_offsets-{number}"
        for batch in PartitionReader(str(directory), TopicPartition("__consumer_offsets", number)).read(0):
            for record in batch.records():
                found = decode(GROUP, record.key or b"", record.value)
                members = found.value["members"] if found.name == "GroupMetadata" and found.value else ()
                for member in members:
                    data = member["subscription"]
                    version = int.from_bytes(data[:2], "big")
                    said = decode_subscription(data)
                    # librdkafka writes an empty rack where Java's client writes none
                    rack = "" if data.endswith(b"\0\0") and version == 3 else None
                    assert encode_subscription(said._replace(rack_id=rack), version) == data
                    assert decode_assignment(member["assignment"])
                    seen += 1
    assert seen > 5
