"""Orders that a JVM told: Java 17, Kafka 4.3.1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.coordinator.assignors.java_hash_map import (
    JavaHashMap,
    hash_set,
    hash_set_of,
    integer_hash,
    partition_hash,
    string_hash,
    string_order,
    timeline_order,
    uuid_hash,
)
from kafkapy.log.topic_partition import TopicPartition


def test_strings_go_by_bucket() -> None:
    names = [f"m{number}" for number in range(1, 13)]
    assert " ".join(hash_set(string_hash, names)) == "m1 m2 m3 m4 m5 m6 m7 m8 m9 m11 m10 m12"


def test_equal_hashes_stay_in_the_order_of_insertion() -> None:
    assert list(hash_set(string_hash, ["BBBB", "AaAa", "AaBB"])) == ["BBBB", "AaAa", "AaBB"]


def test_numbers_beyond_the_table_wrap_round() -> None:
    assert list(hash_set_of(integer_hash, [15, 16])) == [16, 15]
    assert list(hash_set_of(integer_hash, range(13))) == list(range(13))


def test_a_computed_key_goes_to_the_front_of_its_bucket() -> None:
    made: JavaHashMap[int, list[int]] = JavaHashMap(integer_hash)
    for number in (0, 16, 32):
        made.compute_if_absent(number, list).append(number)
    assert list(made.items()) == [(32, [32]), (16, [16]), (0, [0])]


def test_computing_grows_the_table_one_call_later() -> None:
    made: JavaHashMap[int, int] = JavaHashMap(integer_hash, 0)
    for number in (0, 1, 2, 7):
        made.compute_if_absent(number, int)
    assert list(made) == [0, 1, 2, 7]
    made[4] = 0
    assert list(made) == [0, 1, 2, 4, 7]


def test_a_crowded_bucket_grows_a_small_table() -> None:
    crowded = hash_set(integer_hash, [*range(0, 144, 16), 1])
    assert list(crowded) == [0, 32, 64, 96, 128, 1, 16, 48, 80, 112]


def test_keys_can_go_and_come_back() -> None:
    made = hash_set(integer_hash, [0, 16])
    del made[0]
    made[0] = None
    assert list(made) == [16, 0]
    assert 16 in made
    with pytest.raises(KeyError):
        del made[3]


def test_hashes() -> None:
    assert partition_hash(TopicPartition("topic", 3)) == 110547277
    assert uuid_hash("AAAAAAAAAAAAAAAAAAAAAQ") == 1
    assert string_order("\U00010000") < string_order("\uffff")


def test_timeline() -> None:
    names = [f"m{number}" for number in range(1, 9)]
    assert " ".join(timeline_order(names)) == "m5 m2 m7 m4 m1 m6 m3 m8"
    assert timeline_order(["Aa", "BB"]) == ["BB", "Aa"]


@given(st.lists(st.text(), unique=True))
def test_nothing_is_lost(keys: list[str]) -> None:
    assert sorted(hash_set(string_hash, keys)) == sorted(keys)
    assert sorted(timeline_order(keys)) == sorted(keys)
