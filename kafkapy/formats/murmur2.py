"""murmur2 with Kafka's seed: which partition a key goes to.

Words of four bytes are little-endian; the result is a signed 32-bit number, as Java has it. Every client of Kafka
agrees on this function, so the same key meets the same partition whoever produced it.
"""

from __future__ import annotations

from struct import unpack_from

SEED = 0x9747B28C
M = 0x5BD1E995
R = 24
MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """The hash of ``data``, signed."""
    size = len(data)
    words = size >> 2
    h = SEED ^ size
    for k in unpack_from(f"<{words}I", data):
        k = k * M & MASK  # noqa: PLW2901
        h = (h * M & MASK) ^ ((k ^ k >> R) * M & MASK)
    if size & 3:
        h = (h ^ int.from_bytes(data[words << 2 :], "little")) * M & MASK
    h = (h ^ h >> 13) * M & MASK
    h ^= h >> 15
    return h - (1 << 32) if h >> 31 else h


def partition_for_key(key: bytes, partitions: int) -> int:
    """The partition of a key: the hash without its sign bit, modulo the number of partitions."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
