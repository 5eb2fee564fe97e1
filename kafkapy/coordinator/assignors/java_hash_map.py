"""A map that iterates in the order of Java's HashMap.

Kafka's assignors walk through HashMaps of members, topics and partitions, so who comes first there decides who gets
the partition that does not divide. A HashMap is a table of 2^n buckets; a key goes to the end of bucket
``(h ^ h >>> 16) & (2^n - 1)``, and iteration goes bucket by bucket. The table doubles when it holds more than 3/4 of
its size, or when a bucket of a table with fewer than 64 gets a ninth key (or an eighth); it never shrinks.

Not followed: such a bucket in a table of 64 or more becomes a tree, whose root comes first. That takes nine keys that
are equal modulo the size of the table, as a member of a topic with more than 500 partitions may have; then the order of
its partitions in a record can differ, and with it which of them it gives up later. The sizes of tables are those of
Java 17; another Java may choose others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, MutableMapping
from functools import lru_cache
from typing import TypeVar

from kafkapy.coordinator.java_hash import java_hash
from kafkapy.formats.record_batch import wrap_int32
from kafkapy.formats.uuid import uuid_bytes
from kafkapy.log.topic_partition import TopicPartition

K = TypeVar("K")
V = TypeVar("V")

DEFAULT_CAPACITY = 16
_LOAD_FACTOR = 0.75
_TREEIFY_THRESHOLD = 8
_MIN_TREEIFY_CAPACITY = 64
_FIBONACCI = -7046029254386353131


class JavaHashMap(MutableMapping[K, V]):
    """A HashMap whose keys hash by ``hash_code``. A HashSet is one whose values do not matter."""

    def __init__(self, hash_code: Callable[[K], int], capacity: int = DEFAULT_CAPACITY) -> None:
        self._hash_code = hash_code
        self._values: dict[K, V] = {}
        self._table = 1 << max(0, capacity - 1).bit_length()
        self._in_bucket: dict[int, int] = {}
        self._ranks: dict[K, int] = {}
        self._next_rank = 0

    def __getitem__(self, key: K) -> V:
        return self._values[key]

    def __setitem__(self, key: K, value: V) -> None:
        if key in self._values:
            self._values[key] = value
            return
        self._insert(key, value, self._next_rank, _TREEIFY_THRESHOLD)
        if len(self._values) > self._threshold:
            self._grow()

    def compute_if_absent(self, key: K, make: Callable[[], V]) -> V:
        """The value of the key, made if there is none: unlike others such a key goes to the front of its bucket, and
        the table grows only with the next call, even if that brings no new key."""
        if len(self._values) > self._threshold:
            self._grow()
        if key not in self._values:
            self._insert(key, make(), -self._next_rank, _TREEIFY_THRESHOLD - 1)
        return self._values[key]

    def __delitem__(self, key: K) -> None:
        del self._values[key]
        del self._ranks[key]
        self._in_bucket[self._bucket(key)] -= 1

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[K]:
        return iter(sorted(self._values, key=lambda key: (self._bucket(key), self._ranks[key])))

    @property
    def _threshold(self) -> int:
        return int(self._table * _LOAD_FACTOR)

    def _insert(self, key: K, value: V, rank: int, most: int) -> None:
        bucket = self._bucket(key)
        before = self._in_bucket.get(bucket, 0)
        self._values[key] = value
        self._ranks[key] = rank
        self._next_rank += 1
        self._in_bucket[bucket] = before + 1
        if before >= most and self._table < _MIN_TREEIFY_CAPACITY:
            self._grow()

    def _bucket(self, key: K) -> int:
        unsigned = self._hash_code(key) & 0xFFFFFFFF
        return (unsigned ^ unsigned >> 16) & (self._table - 1)

    def _grow(self) -> None:
        self._table *= 2
        self._in_bucket = {}
        for key in self._values:
            bucket = self._bucket(key)
            self._in_bucket[bucket] = self._in_bucket.get(bucket, 0) + 1


def hash_set(hash_code: Callable[[K], int], keys: Iterable[K] = ()) -> JavaHashMap[K, None]:
    """``new HashSet<>()`` to which keys are added one by one."""
    made: JavaHashMap[K, None] = JavaHashMap(hash_code)
    for key in keys:
        made[key] = None
    return made


def hash_set_of(hash_code: Callable[[K], int], keys: Collection[K], size: int | None = None) -> JavaHashMap[K, None]:
    """``new HashSet<>(keys)``, which begins with a table that is large enough for the ``size`` that the keys claim."""
    count = len(keys) if size is None else size
    made: JavaHashMap[K, None] = JavaHashMap(hash_code, presized(count, DEFAULT_CAPACITY))
    for key in keys:
        made[key] = None
    return made


def presized(count: int, least: int = 0) -> int:
    """The capacity that Kafka and Java ask for where they know how many keys will come."""
    return max(int(count / _LOAD_FACTOR) + 1, least)


def timeline_order(keys: Iterable[str]) -> list[str]:
    """The order of Kafka's own TimelineHashMap, which holds the members of a group, for keys put in this order.

    Its bucket is the first bits of a product; iteration takes a bucket from its end. A table that has been larger than
    the keys need now is not known here; it changes the order of a few.
    """
    listed = list(keys)
    bits = 1
    for count in range(1, len(listed) + 1):
        if count * _LOAD_FACTOR > 1 << bits:
            bits += 1
    listed.reverse()
    return sorted(listed, key=lambda key: (string_hash(key) * _FIBONACCI & 0xFFFFFFFFFFFFFFFF) >> (64 - bits))


@lru_cache(maxsize=1 << 16)
def string_hash(text: str) -> int:
    """``String.hashCode()``, remembered as Java remembers it."""
    return java_hash(text)


def partition_hash(partition: TopicPartition) -> int:
    """``TopicPartition.hashCode()``."""
    return wrap_int32(31 * (31 + partition.partition) + string_hash(partition.topic) & 0xFFFFFFFF)


def integer_hash(number: int) -> int:
    """``Integer.hashCode()``."""
    return number


@lru_cache(maxsize=1 << 14)
def uuid_hash(text: str) -> int:
    """``Uuid.hashCode()`` of Kafka's Uuid."""
    data = uuid_bytes(text)
    both = int.from_bytes(data[:8]) ^ int.from_bytes(data[8:])
    return wrap_int32((both >> 32 ^ both) & 0xFFFFFFFF)


def string_order(text: str) -> bytes:
    """What sorts as ``String.compareTo`` does: by UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")
