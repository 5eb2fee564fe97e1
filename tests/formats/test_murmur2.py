"""The hash that decides a key's partition, against values that Kafka's own gave."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.formats.murmur2 import murmur2, partition_for_key


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 275646681),
        (b"k1", 1684045097),
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_kafka_gives_the_same(data: bytes, expected: int) -> None:
    assert murmur2(data) == expected


@pytest.mark.parametrize(("key", "partitions", "expected"), [(b"foobar", 1000, 166), (b"21", 7, 3), (b"k1", 3, 2)])
def test_the_sign_bit_is_dropped_not_negated(key: bytes, partitions: int, expected: int) -> None:
    assert partition_for_key(key, partitions) == expected


@given(st.binary(), st.integers(1, 1 << 16))
def test_every_key_has_a_partition(key: bytes, partitions: int) -> None:
    assert -(1 << 31) <= murmur2(key) < 1 << 31
    assert 0 <= partition_for_key(key, partitions) < partitions
